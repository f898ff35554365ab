// SPDX-License-Identifier: GPL-2.0-or-later
/* Peers behind adapters of another QEMU process. The lab knows which process owns which GID, and forwards each message with
 * the delay, rate and loss that a test sets.
 *
 * RC stays lossless and in order: a send is a message; it completes when the other side answers that the message lies in a
 * receive, and fails when that side, or the lab in its place, answers with an error. */
#include "hca.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64 }; /* sends of a queue pair that are under way at a time */

static struct hca_parcels held = { NULL, &held.first }; /* RC messages that found no receive yet, oldest first */

/* locked */
static void answer(const struct hca_message *message, enum ibv_wc_status status)
{
	struct hca_parcel *parcel = message->kind == HCA_RC ? hca_parcel(0) : NULL;

	if (!parcel)
		return;
	parcel->message.kind = HCA_ANSWER;
	parcel->message.from = message->to;
	parcel->message.to = message->from;
	parcel->message.from_qpn = message->to_qpn;
	parcel->message.to_qpn = message->from_qpn;
	parcel->message.serial = message->serial;
	parcel->message.status = status;
	hca_wire_send(parcel);
}

/* locked: sends the send number `n` of the queue as a message to the queue pair `qpn` behind `to` */
static bool send_to(struct hca_qp *qp, unsigned n, enum hca_kind kind, const union ibv_gid *to, uint32_t qpn,
		    uint8_t sgid_index)
{
	const struct hca_send *send = &qp->sends[hca_ring_slot(&qp->send_ring, n)];
	struct hca_piece pieces[HCA_MAX_SGE];
	int64_t length = hca_resolve(qp->ibv.pd, send->sge, send->wr.num_sge, 0, pieces);
	struct hca_parcel *parcel = length < 0 || length > HCA_LONGEST_MESSAGE ? NULL : hca_parcel((size_t)length);
	struct hca_message *message;
	size_t done = 0;

	if (!parcel)
		return false;
	message = &parcel->message;
	message->kind = kind;
	message->to = *to;
	message->to_qpn = qpn;
	message->from_qpn = qp->ibv.qp_num;
	message->serial = qp->serial;
	message->with_imm = send->wr.opcode == IBV_WR_SEND_WITH_IMM;
	message->imm_data = send->wr.imm_data;
	message->qkey = kind == HCA_UD ? send->wr.wr.ud.remote_qkey : 0;
	hca_port_gid(hca_device_of(qp->ibv.context), sgid_index, &message->from);
	for (int i = 0; i < send->wr.num_sge; i++) {
		if (pieces[i].length)
			memcpy(parcel->payload + done, pieces[i].at, pieces[i].length);
		done += pieces[i].length;
	}
	hca_wire_send(parcel);
	return true;
}

bool hca_fabric_send_ud(struct hca_qp *qp)
{
	const struct hca_send *send = &qp->sends[qp->send_ring.head];

	return send_to(qp, 0, HCA_UD, &send->dgid, send->wr.wr.ud.remote_qpn, send->sgid_index);
}

bool hca_fabric_send_rc(struct hca_qp *qp)
{
	const struct ibv_global_route *grh = &qp->attr.ah_attr.grh;

	for (; qp->in_flight < qp->send_ring.count && qp->in_flight < WINDOW; qp->in_flight++)
		if (!send_to(qp, qp->in_flight, HCA_RC, &grh->dgid, qp->attr.dest_qp_num, grh->sgid_index))
			return qp->in_flight; /* the sends before it go first */
	return true;
}

/* locked: the status of its send */
static enum ibv_wc_status receive(struct hca_qp *qp, struct hca_parcel *parcel)
{
	const struct hca_message *message = &parcel->message;
	const struct hca_piece piece = { parcel->payload, message->length };
	const struct hca_incoming incoming = { .pieces = &piece, .count = 1, .length = message->length,
					       .ud = message->kind == HCA_UD, .with_imm = message->with_imm,
					       .imm_data = message->imm_data, .from = message->from, .to = message->to,
					       .from_qpn = message->from_qpn };
	bool lives;
	enum ibv_wc_status sent = hca_receive(qp, &incoming, &lives);

	if (!lives)
		hca_qp_fail(qp);
	return sent;
}

/* locked */
static struct hca_qp *owner(const struct hca_message *message)
{
	return hca_route(&message->to, message->to_qpn);
}

static bool is_connected(const struct hca_qp *qp, const struct hca_message *message)
{
	return qp->ibv.qp_type == IBV_QPT_RC && qp->attr.qp_state <= IBV_QPS_RTS &&
	       (qp->attr.qp_state < IBV_QPS_RTR || (qp->attr.dest_qp_num == message->from_qpn &&
	       !memcmp(&qp->attr.ah_attr.grh.dgid, &message->from, sizeof message->from)));
}

/* locked: whether the parcel was delivered or refused, and is no longer needed */
static bool accept_rc(struct hca_parcel *parcel)
{
	struct hca_qp *qp = owner(&parcel->message);

	if (!qp || qp->attr.qp_state == IBV_QPS_RESET || !is_connected(qp, &parcel->message)) {
		answer(&parcel->message, IBV_WC_RETRY_EXC_ERR);
		return true;
	}
	if (qp->attr.qp_state < IBV_QPS_RTR || !qp->recv_ring.count)
		return false;
	answer(&parcel->message, receive(qp, parcel));
	return true;
}

/* locked */
static void accept_ud(struct hca_parcel *parcel)
{
	struct hca_qp *qp = owner(&parcel->message);

	if (qp && hca_takes_ud(qp, parcel->message.qkey))
		(void)receive(qp, parcel);
}

/* locked */
static void accept_answer(const struct hca_message *message)
{
	struct hca_qp *qp = owner(message);

	if (!qp || qp->serial != message->serial || !qp->in_flight)
		return;
	qp->in_flight--;
	hca_sent(qp, (enum ibv_wc_status)message->status);
	hca_progress(qp);
}

/* locked */
static bool is_behind_another(const struct hca_message *message)
{
	for (const struct hca_parcel *other = held.first; other; other = other->next)
		if (other->message.to_qpn == message->to_qpn && !memcmp(&other->message.to, &message->to, sizeof message->to))
			return true;
	return false;
}

void hca_fabric_retry(uint32_t qpn)
{
	static bool busy; /* a completion here may call this function again */

	if (busy)
		return;
	busy = true;
	for (struct hca_parcel **link = &held.first; *link;)
		if ((*link)->message.to_qpn == qpn && accept_rc(*link))
			free(hca_take(&held, link));
		else
			link = &(*link)->next;
	busy = false;
}

void hca_fabric_arrive(struct hca_parcel *parcel)
{
	if (parcel->message.kind == HCA_ANSWER)
		accept_answer(&parcel->message);
	else if (parcel->message.kind == HCA_UD)
		accept_ud(parcel);
	else if (is_behind_another(&parcel->message) || !accept_rc(parcel)) {
		hca_append(&held, parcel);
		return;
	}
	free(parcel);
}
