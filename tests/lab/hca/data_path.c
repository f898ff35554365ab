// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches sends with receives: RC and UD messages between queue pairs, copied in the guest's memory.
 *
 * RC is lossless: a send waits until its peer is ready to receive and has a receive posted (an endless RNR retry), and fails
 * with RETRY_EXC_ERR when the peer is gone, in error, or connected to another queue pair. UD is lossy: a message that finds no
 * receive is dropped and counts as sent. The state of the port stops no message. */
#include "hca.h"

#include <errno.h>

/* The queue pair with this GID and number in this process, or NULL. */
struct hca_qp *hca_route(const union ibv_gid *gid, uint32_t qpn)
{
	struct hca_device *device;

	for (unsigned i = 0; (device = hca_device_at(i)); i++) {
		struct hca_qp *qp = hca_qp_at(device, qpn);

		/* The number is compared first: it is in memory, the GID table in a file. */
		if (qp && hca_port_has_gid(device, gid))
			return qp;
	}
	return NULL;
}

static struct hca_qp *rc_peer(const struct hca_qp *qp)
{
	if (qp->ibv.qp_type != IBV_QPT_RC || qp->attr.qp_state < IBV_QPS_RTR)
		return NULL;
	return hca_route(&qp->attr.ah_attr.grh.dgid, qp->attr.dest_qp_num);
}

/* Removes the send at the head, and adds its completion if one was asked for. False: the queue pair cannot go on, because of
 * this status or of a full completion queue. */
static bool complete_send(struct hca_qp *qp, enum ibv_wc_status status)
{
	const struct hca_send *send = &qp->sends[qp->send_ring.head];
	struct ibv_wc wc = { .wr_id = send->wr.wr_id, .status = status, .opcode = IBV_WC_SEND, .qp_num = qp->ibv.qp_num };
	bool wanted = qp->init.sq_sig_all || (send->wr.send_flags & IBV_SEND_SIGNALED) || status != IBV_WC_SUCCESS;

	hca_ring_drop(&qp->send_ring);
	return (!wanted || hca_complete(hca_cq_of(qp->ibv.send_cq), &wc)) && status == IBV_WC_SUCCESS;
}

static void fail_send(struct hca_qp *qp, enum ibv_wc_status status)
{
	complete_send(qp, status);
	hca_qp_fail(qp);
}

/* Copies the send at the head of `from` into the receive at the head of `to`, and completes both. */
static void deliver(struct hca_qp *from, struct hca_qp *to)
{
	const struct hca_send *send = &from->sends[from->send_ring.head];
	struct hca_piece source[HCA_MAX_SGE];
	int64_t length = hca_resolve(from->ibv.pd, send->sge, send->wr.num_sge, 0, source);
	struct hca_incoming message = { .pieces = source, .count = send->wr.num_sge, .length = (size_t)length,
				    .ud = from->ibv.qp_type == IBV_QPT_UD, .to = send->dgid, .from_qpn = from->ibv.qp_num,
				    .with_imm = send->wr.opcode == IBV_WR_SEND_WITH_IMM, .imm_data = send->wr.imm_data };
	enum ibv_wc_status sent;
	bool from_lives, to_lives;

	if (length < 0) {
		fail_send(from, IBV_WC_LOC_PROT_ERR);
		return;
	}
	if (message.ud)
		hca_port_gid(hca_device_of(from->ibv.context), send->sgid_index, &message.from);
	/* Failures come after both completions: a failure flushes all other work, and may reach the other side. */
	sent = hca_receive(to, &message, &to_lives);
	from_lives = complete_send(from, sent);
	if (!to_lives)
		hca_qp_fail(to);
	if (!from_lives)
		hca_qp_fail(from);
}

void hca_sent(struct hca_qp *qp, enum ibv_wc_status status)
{
	if (!complete_send(qp, status))
		hca_qp_fail(qp);
}

static void progress_ud(struct hca_qp *sender)
{
	while (sender->send_ring.count) {
		const struct hca_send *send = &sender->sends[sender->send_ring.head];
		struct hca_qp *to = hca_route(&send->dgid, send->wr.wr.ud.remote_qpn);

		if (to && hca_takes_ud(to, send->wr.wr.ud.remote_qkey))
			deliver(sender, to);
		else if (!to && hca_wire_is_up() && !hca_fabric_send_ud(sender))
			fail_send(sender, IBV_WC_LOC_PROT_ERR);
		else if (!complete_send(sender, IBV_WC_SUCCESS))
			hca_qp_fail(sender);
	}
}

static bool is_elsewhere(const struct hca_qp *sender)
{
	const union ibv_gid *gid = &sender->attr.ah_attr.grh.dgid;
	struct hca_device *device;

	if (!hca_wire_is_up())
		return false;
	for (unsigned i = 0; (device = hca_device_at(i)); i++)
		if (hca_port_has_gid(device, gid))
			return false;
	return true;
}

static void progress_rc(struct hca_qp *sender)
{
	if (sender->in_flight || (sender->send_ring.count && is_elsewhere(sender))) {
		if (!hca_fabric_send_rc(sender))
			fail_send(sender, IBV_WC_LOC_PROT_ERR);
		return;
	}
	while (sender->send_ring.count) {
		struct hca_qp *peer = rc_peer(sender);

		if (peer && peer->attr.qp_state == IBV_QPS_INIT)
			return;
		if (!peer || peer->attr.qp_state < IBV_QPS_RTR || peer->attr.qp_state > IBV_QPS_RTS || rc_peer(peer) != sender) {
			fail_send(sender, IBV_WC_RETRY_EXC_ERR);
			return;
		}
		if (!peer->recv_ring.count)
			return;
		deliver(sender, peer);
	}
}

void hca_progress(struct hca_qp *sender)
{
	if (sender->attr.qp_state != IBV_QPS_RTS)
		return;
	if (sender->ibv.qp_type == IBV_QPT_UD)
		progress_ud(sender);
	else
		progress_rc(sender);
}

void hca_progress_peer(const struct hca_qp *receiver)
{
	struct hca_device *device;

	/* The senders are found by their own addresses, as the receiver's address of its peer may be gone, or not yet set. */
	for (unsigned i = 0; (device = hca_device_at(i)); i++)
		for (uint32_t qpn = HCA_FIRST_QPN; qpn < HCA_MAX_QP; qpn++) {
			struct hca_qp *qp = device->qps[qpn];

			if (qp && qp->send_ring.count && qp->attr.dest_qp_num == receiver->ibv.qp_num)
				hca_progress(qp);
		}
	hca_fabric_retry(receiver->ibv.qp_num);
}

static int queue_send(struct hca_qp *qp, const struct ibv_send_wr *wr)
{
	struct hca_send *send;

	if (qp->attr.qp_state != IBV_QPS_RTS && qp->attr.qp_state != IBV_QPS_ERR)
		return EINVAL;
	if (wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM)
		return EINVAL;
	if (wr->num_sge < 0 || wr->num_sge > HCA_MAX_SGE || (wr->send_flags & IBV_SEND_INLINE))
		return EINVAL;
	if (qp->ibv.qp_type == IBV_QPT_UD && !wr->wr.ud.ah)
		return EINVAL;
	if (qp->send_ring.count == qp->send_ring.capacity)
		return ENOMEM;
	send = &qp->sends[hca_ring_slot(&qp->send_ring, qp->send_ring.count)];
	send->wr = *wr;
	send->wr.next = NULL;
	send->wr.sg_list = NULL;
	for (int i = 0; i < wr->num_sge; i++)
		send->sge[i] = wr->sg_list[i];
	if (qp->ibv.qp_type == IBV_QPT_UD) {
		const struct ibv_global_route *grh = &HCA_CONTAINER(wr->wr.ud.ah, struct hca_ah, ibv)->attr.grh;

		send->dgid = grh->dgid;
		send->sgid_index = grh->sgid_index;
	}
	qp->send_ring.count++;
	return 0;
}

int hca_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct hca_qp *qp = hca_qp_of(ibv);
	int error = 0;

	pthread_mutex_lock(&hca_lock);
	for (; wr && !error; wr = error ? wr : wr->next)
		error = queue_send(qp, wr);
	if (qp->attr.qp_state == IBV_QPS_ERR)
		hca_qp_fail(qp);
	else
		hca_progress(qp);
	pthread_mutex_unlock(&hca_lock);
	if (error)
		*bad = wr;
	return error;
}

static int queue_recv(struct hca_qp *qp, const struct ibv_recv_wr *wr)
{
	struct hca_recv *recv;

	if (qp->attr.qp_state == IBV_QPS_RESET || wr->num_sge < 0 || wr->num_sge > HCA_MAX_SGE)
		return EINVAL;
	if (qp->recv_ring.count == qp->recv_ring.capacity)
		return ENOMEM;
	recv = &qp->recvs[hca_ring_slot(&qp->recv_ring, qp->recv_ring.count)];
	recv->wr_id = wr->wr_id;
	recv->num_sge = wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++)
		recv->sge[i] = wr->sg_list[i];
	qp->recv_ring.count++;
	return 0;
}

int hca_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct hca_qp *qp = hca_qp_of(ibv);
	int error = 0;

	pthread_mutex_lock(&hca_lock);
	for (; wr && !error; wr = error ? wr : wr->next)
		error = queue_recv(qp, wr);
	if (qp->attr.qp_state == IBV_QPS_ERR)
		hca_qp_fail(qp);
	else
		hca_progress_peer(qp);
	pthread_mutex_unlock(&hca_lock);
	if (error)
		*bad = wr;
	return error;
}
