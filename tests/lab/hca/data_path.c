/* Sends meet receives: RC and UD messages between queue pairs, copied in the guest's memory.
 *
 * RC is lossless: a send waits until its peer has a receive posted (an endless RNR retry) or is ready to receive at all,
 * and fails with RETRY_EXC_ERR when the peer is gone, in error, or connected to somebody else. UD is lossy: a message
 * that finds no receive is dropped and counts as sent. The state of the port stops no message. */
#include "hca.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* The one place that knows where a peer lives: today, behind some adapter of this process. */
struct hca_qp *hca_route(const union ibv_gid *gid, uint32_t qpn)
{
	struct hca_device *device;

	for (unsigned i = 0; (device = hca_device_at(i)); i++) {
		struct hca_qp *qp = hca_qp_at(device, qpn);

		/* The number first: it is a look into memory, the GID table one into a file. */
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

struct hca_piece { /* of a message, in this process */
	char *at;
	size_t length;
};

/* Sum of the pieces, or -1 if one is not within a registered region. */
static int64_t resolve(const struct ibv_pd *pd, const struct ibv_sge *sge, int count, int access,
		       struct hca_piece *pieces)
{
	int64_t total = 0;

	for (int i = 0; i < count; i++) {
		pieces[i].at = sge[i].length ? hca_translate(pd, &sge[i], access) : NULL;
		pieces[i].length = sge[i].length;
		if (sge[i].length && !pieces[i].at)
			return -1;
		total += sge[i].length;
	}
	return total;
}

/* Both sides were resolved, and `to` has room for all of `from` after `skip` bytes. Overlap is the guest's business. */
static void copy(const struct hca_piece *to, size_t skip, const struct hca_piece *from, int from_count)
{
	while (skip >= to->length && skip) {
		skip -= to->length;
		to++;
	}
	for (int i = 0; i < from_count; i++) {
		for (size_t done = 0; done < from[i].length;) {
			size_t room, length = from[i].length - done;

			while ((room = to->length - skip) == 0) {
				to++;
				skip = 0;
			}
			length = length < room ? length : room;
			memmove(to->at + skip, from[i].at + done, length);
			skip += length;
			done += length;
		}
	}
}

/* The send at the head, done with: its completion, unless it is one that nobody asked for. False: the queue pair cannot
 * go on, because of this status or of a full completion queue. */
static bool complete_send(struct hca_qp *qp, enum ibv_wc_status status)
{
	const struct hca_send *send = &qp->sends[qp->send_ring.head];
	struct ibv_wc wc = { .wr_id = send->wr.wr_id, .status = status, .opcode = IBV_WC_SEND, .qp_num = qp->ibv.qp_num };
	bool wanted = qp->init.sq_sig_all || (send->wr.send_flags & IBV_SEND_SIGNALED) || status != IBV_WC_SUCCESS;

	hca_ring_drop(&qp->send_ring);
	return (!wanted || hca_complete(hca_cq_of(qp->ibv.send_cq), &wc)) && status == IBV_WC_SUCCESS;
}

/* The receive at the head, with what `wc` says of the message. False: as above. */
static bool complete_recv(struct hca_qp *qp, struct ibv_wc wc)
{
	wc.wr_id = qp->recvs[qp->recv_ring.head].wr_id;
	wc.opcode = IBV_WC_RECV;
	wc.qp_num = qp->ibv.qp_num;
	hca_ring_drop(&qp->recv_ring);
	return hca_complete(hca_cq_of(qp->ibv.recv_cq), &wc) && wc.status == IBV_WC_SUCCESS;
}

static void fail_send(struct hca_qp *qp, enum ibv_wc_status status)
{
	complete_send(qp, status);
	hca_qp_fail(qp);
}

static void write_grh(const struct hca_piece *to, const struct hca_qp *sender, const struct hca_send *send, size_t length)
{
	struct ibv_grh grh = { .paylen = htobe16((uint16_t)length), .next_hdr = 0x1b, .dgid = send->dgid };
	const struct hca_piece from = { (char *)&grh, sizeof grh };

	hca_port_gid(hca_device_of(sender->ibv.context), send->sgid_index, &grh.sgid);
	copy(to, 0, &from, 1);
}

/* The send at the head of `from` into the receive at the head of `to`: both are completed. */
static void deliver(struct hca_qp *from, struct hca_qp *to)
{
	const struct hca_send *send = &from->sends[from->send_ring.head];
	const struct hca_recv *recv = &to->recvs[to->recv_ring.head];
	const bool ud = from->ibv.qp_type == IBV_QPT_UD;
	const size_t header = ud ? HCA_GRH_BYTES : 0;
	struct hca_piece source[HCA_MAX_SGE], target[HCA_MAX_SGE];
	int64_t length = resolve(from->ibv.pd, send->sge, send->wr.num_sge, 0, source);
	int64_t room = resolve(to->ibv.pd, recv->sge, recv->num_sge, IBV_ACCESS_LOCAL_WRITE, target);
	struct ibv_wc received = { .status = IBV_WC_SUCCESS, .src_qp = from->ibv.qp_num };
	enum ibv_wc_status sent = IBV_WC_SUCCESS;
	bool from_lives, to_lives;

	if (length < 0) {
		fail_send(from, IBV_WC_LOC_PROT_ERR);
		return;
	}
	if (room < 0) {
		received.status = IBV_WC_LOC_PROT_ERR;
		sent = IBV_WC_REM_OP_ERR;
	} else if (length + (int64_t)header > room) {
		received.status = IBV_WC_LOC_LEN_ERR;
		sent = IBV_WC_REM_INV_REQ_ERR;
	} else {
		if (ud) {
			write_grh(target, from, send, (size_t)length);
			received.wc_flags |= IBV_WC_GRH;
		}
		copy(target, header, source, send->wr.num_sge);
		received.byte_len = (uint32_t)((size_t)length + header);
		if (send->wr.opcode == IBV_WR_SEND_WITH_IMM) {
			received.wc_flags |= IBV_WC_WITH_IMM;
			received.imm_data = send->wr.imm_data;
		}
	}
	/* Both completions first, then the failures: these flush what is left, and may reach the other side. */
	to_lives = complete_recv(to, received);
	from_lives = complete_send(from, ud ? IBV_WC_SUCCESS : sent);
	if (!to_lives)
		hca_qp_fail(to);
	if (!from_lives)
		hca_qp_fail(from);
}

static void progress_ud(struct hca_qp *sender)
{
	while (sender->send_ring.count) {
		const struct hca_send *send = &sender->sends[sender->send_ring.head];
		struct hca_qp *to = hca_route(&send->dgid, send->wr.wr.ud.remote_qpn);

		if (to && to->ibv.qp_type == IBV_QPT_UD && to->attr.qp_state >= IBV_QPS_RTR &&
		    to->attr.qp_state <= IBV_QPS_RTS && to->attr.qkey == send->wr.wr.ud.remote_qkey && to->recv_ring.count)
			deliver(sender, to);
		else if (!complete_send(sender, IBV_WC_SUCCESS))
			hca_qp_fail(sender);
	}
}

static void progress_rc(struct hca_qp *sender)
{
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

	/* Whoever sends to it: found from the senders' side, as its own address of the peer may be gone, or not yet set. */
	for (unsigned i = 0; (device = hca_device_at(i)); i++)
		for (uint32_t qpn = HCA_FIRST_QPN; qpn < HCA_MAX_QP; qpn++) {
			struct hca_qp *qp = device->qps[qpn];

			if (qp && qp->send_ring.count && qp->attr.dest_qp_num == receiver->ibv.qp_num)
				hca_progress(qp);
		}
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
