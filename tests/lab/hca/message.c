// SPDX-License-Identifier: GPL-2.0-or-later
/* Delivers a message of this or another process into a receive: finds the guest's memory, copies, and completes. */
#include "hca.h"

#include <endian.h>
#include <string.h>

int64_t hca_resolve(const struct ibv_pd *pd, const struct ibv_sge *sge, int count, int access, struct hca_piece *pieces)
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

/* Both sides were resolved, and `to` has room for all of `from` after `skip` bytes. The two may overlap if the guest wants it. */
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

static void write_grh(const struct hca_piece *to, const struct hca_incoming *message)
{
	/* libibverbs makes no address handle for an answer unless the header has the version of IP. */
	struct ibv_grh grh = { .version_tclass_flow = htobe32(6U << 28), .paylen = htobe16((uint16_t)message->length),
			       .next_hdr = 0x1b, .sgid = message->from, .dgid = message->to };
	const struct hca_piece from = { (char *)&grh, sizeof grh };

	copy(to, 0, &from, 1);
}

/* Completes the receive at the head with `wc`. False: the queue pair cannot go on, because of this status or of a full
 * completion queue. */
static bool complete_recv(struct hca_qp *qp, struct ibv_wc wc)
{
	wc.wr_id = qp->recvs[qp->recv_ring.head].wr_id;
	wc.opcode = IBV_WC_RECV;
	wc.qp_num = qp->ibv.qp_num;
	hca_ring_drop(&qp->recv_ring);
	return hca_complete(hca_cq_of(qp->ibv.recv_cq), &wc) && wc.status == IBV_WC_SUCCESS;
}

enum ibv_wc_status hca_receive(struct hca_qp *to, const struct hca_incoming *message, bool *lives)
{
	const struct hca_recv *recv = &to->recvs[to->recv_ring.head];
	const size_t header = message->ud ? HCA_GRH_BYTES : 0;
	struct hca_piece target[HCA_MAX_SGE];
	int64_t room = hca_resolve(to->ibv.pd, recv->sge, recv->num_sge, IBV_ACCESS_LOCAL_WRITE, target);
	struct ibv_wc received = { .status = IBV_WC_SUCCESS, .src_qp = message->from_qpn };
	enum ibv_wc_status sent = IBV_WC_SUCCESS;

	if (room < 0) {
		received.status = IBV_WC_LOC_PROT_ERR;
		sent = IBV_WC_REM_OP_ERR;
	} else if ((int64_t)(message->length + header) > room) {
		received.status = IBV_WC_LOC_LEN_ERR;
		sent = IBV_WC_REM_INV_REQ_ERR;
	} else {
		if (message->ud) {
			write_grh(target, message);
			received.wc_flags |= IBV_WC_GRH;
		}
		copy(target, header, message->pieces, message->count);
		received.byte_len = (uint32_t)(message->length + header);
		if (message->with_imm) {
			received.wc_flags |= IBV_WC_WITH_IMM;
			received.imm_data = message->imm_data;
		}
	}
	*lives = complete_recv(to, received);
	return message->ud ? IBV_WC_SUCCESS : sent;
}

bool hca_takes_ud(const struct hca_qp *qp, uint32_t qkey)
{
	return qp->ibv.qp_type == IBV_QPT_UD && qp->attr.qp_state >= IBV_QPS_RTR && qp->attr.qp_state <= IBV_QPS_RTS &&
	       qp->attr.qkey == qkey && qp->recv_ring.count;
}
