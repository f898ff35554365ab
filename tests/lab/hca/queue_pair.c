// SPDX-License-Identifier: GPL-2.0-or-later
/* Queue pairs: their numbers, states and queues. data_path.c moves messages between two of them. */
#include "hca.h"

#include <errno.h>
#include <stdlib.h>

struct hca_qp *hca_qp_at(const struct hca_device *device, uint32_t qpn)
{
	return qpn < HCA_MAX_QP ? device->qps[qpn] : NULL;
}

/* locked */
static void renew(struct hca_qp *qp)
{
	static uint32_t last_serial;

	qp->serial = ++last_serial;
	qp->in_flight = 0;
}

static void free_qp(struct hca_qp *qp)
{
	free(qp->sends);
	free(qp->recvs);
	free(qp);
}

/* locked: a number not in use; numbers are given in turn, so that one is not used again soon. 0: all are taken. */
static uint32_t allocate_qpn(struct hca_device *device)
{
	for (unsigned tried = HCA_FIRST_QPN; tried < HCA_MAX_QP; tried++) {
		uint32_t qpn = device->next_qpn;

		device->next_qpn = qpn + 1 < HCA_MAX_QP ? qpn + 1 : HCA_FIRST_QPN;
		if (!device->qps[qpn])
			return qpn;
	}
	return 0;
}

static bool acceptable(const struct ibv_qp_init_attr *init)
{
	return (init->qp_type == IBV_QPT_RC || init->qp_type == IBV_QPT_UD) && init->send_cq && init->recv_cq &&
	       !init->srq && init->cap.max_send_wr <= HCA_MAX_WR && init->cap.max_recv_wr <= HCA_MAX_WR &&
	       init->cap.max_send_sge <= HCA_MAX_SGE && init->cap.max_recv_sge <= HCA_MAX_SGE;
}

HCA_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct hca_device *device = hca_device_of(pd->context);
	struct hca_qp *qp;

	if (!acceptable(init)) {
		errno = EINVAL;
		return NULL;
	}
	qp = calloc(1, sizeof *qp);
	if (!qp)
		return NULL;
	init->cap.max_inline_data = 0;
	qp->init = *init;
	qp->send_ring.capacity = init->cap.max_send_wr ? init->cap.max_send_wr : 1;
	qp->recv_ring.capacity = init->cap.max_recv_wr ? init->cap.max_recv_wr : 1;
	qp->sends = calloc(qp->send_ring.capacity, sizeof *qp->sends);
	qp->recvs = calloc(qp->recv_ring.capacity, sizeof *qp->recvs);
	qp->ibv.context = pd->context;
	qp->ibv.qp_context = init->qp_context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = init->send_cq;
	qp->ibv.recv_cq = init->recv_cq;
	qp->ibv.qp_type = init->qp_type;
	qp->ibv.state = qp->attr.qp_state = IBV_QPS_RESET;

	pthread_mutex_lock(&hca_lock);
	qp->ibv.qp_num = qp->sends && qp->recvs ? allocate_qpn(device) : 0;
	if (qp->ibv.qp_num) {
		renew(qp);
		device->qps[qp->ibv.qp_num] = qp;
		hca_cq_of(init->send_cq)->queue_pairs++;
		hca_cq_of(init->recv_cq)->queue_pairs++;
	}
	pthread_mutex_unlock(&hca_lock);
	if (!qp->ibv.qp_num) {
		free_qp(qp);
		errno = ENOMEM;
		return NULL;
	}
	return &qp->ibv;
}

/* Outstanding work of the queue pair is dropped, as verbs demand; sends of its peer fail instead of waiting for ever. */
HCA_EXPORT int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct hca_qp *qp = hca_qp_of(ibv);

	pthread_mutex_lock(&hca_lock);
	hca_device_of(ibv->context)->qps[ibv->qp_num] = NULL;
	hca_forget_completions(hca_cq_of(ibv->send_cq), ibv->qp_num);
	hca_forget_completions(hca_cq_of(ibv->recv_cq), ibv->qp_num);
	hca_cq_of(ibv->send_cq)->queue_pairs--;
	hca_cq_of(ibv->recv_cq)->queue_pairs--;
	hca_progress_peer(qp);
	pthread_mutex_unlock(&hca_lock);
	free_qp(qp);
	return 0;
}

static void set_state(struct hca_qp *qp, enum ibv_qp_state state)
{
	qp->ibv.state = qp->attr.qp_state = qp->attr.cur_qp_state = state;
}

void hca_qp_fail(struct hca_qp *qp)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR, .qp_num = qp->ibv.qp_num };

	set_state(qp, IBV_QPS_ERR);
	renew(qp);
	for (; qp->send_ring.count; hca_ring_drop(&qp->send_ring)) {
		wc.wr_id = qp->sends[qp->send_ring.head].wr.wr_id;
		wc.opcode = IBV_WC_SEND;
		hca_complete(hca_cq_of(qp->ibv.send_cq), &wc);
	}
	for (; qp->recv_ring.count; hca_ring_drop(&qp->recv_ring)) {
		wc.wr_id = qp->recvs[qp->recv_ring.head].wr_id;
		wc.opcode = IBV_WC_RECV;
		hca_complete(hca_cq_of(qp->ibv.recv_cq), &wc);
	}
	/* The loop ends, because each call finds a peer with sends left, and removes these. */
	hca_progress_peer(qp);
}

static bool may_become(enum ibv_qp_state from, enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_RESET:
	case IBV_QPS_ERR:
		return true;
	case IBV_QPS_INIT:
		return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
	case IBV_QPS_RTR:
		return from == IBV_QPS_INIT;
	case IBV_QPS_RTS:
		return from == IBV_QPS_RTR || from == IBV_QPS_RTS;
	default:
		return false;
	}
}

static void take_attributes(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		to->pkey_index = from->pkey_index;
	if (mask & IBV_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IBV_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IBV_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
}

HCA_EXPORT int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	struct hca_qp *qp = hca_qp_of(ibv);
	int error = 0;

	pthread_mutex_lock(&hca_lock);
	if ((mask & IBV_QP_STATE) && !may_become(qp->attr.qp_state, attr->qp_state)) {
		error = EINVAL;
	} else {
		take_attributes(&qp->attr, attr, mask);
		if (mask & IBV_QP_STATE) {
			if (attr->qp_state == IBV_QPS_RESET) {
				qp->send_ring.count = qp->recv_ring.count = 0;
				renew(qp);
			}
			set_state(qp, attr->qp_state);
			if (attr->qp_state == IBV_QPS_ERR)
				hca_qp_fail(qp);
			hca_progress_peer(qp); /* a peer may have waited for this queue pair to become ready, or to go */
		}
	}
	pthread_mutex_unlock(&hca_lock);
	return error;
}

HCA_EXPORT int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct hca_qp *qp = hca_qp_of(ibv);

	(void)mask;
	pthread_mutex_lock(&hca_lock);
	*attr = qp->attr;
	attr->cap = qp->init.cap;
	if (init)
		*init = qp->init;
	pthread_mutex_unlock(&hca_lock);
	return 0;
}

/* Shared receive queues are refused, although max_srq is 1 (see device.c). */
HCA_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	(void)pd;
	(void)init;
	errno = EOPNOTSUPP;
	return NULL;
}
