// SPDX-License-Identifier: GPL-2.0-or-later
/* The HCA stand-in without a guest: verbs calls as QEMU makes them, under the sanitizers. Prints a line per test; each test
 * has queues and memory of its own. This file tests messages and refused senders, hca_queue_test.c the queues. */
#include "hca_pair.h"

#include <errno.h>
#include <string.h>

unsigned passed, failed;

static void port_state_is_read_each_time(void)
{
	struct {
		char attr[48];
		char guard[16];
	} old = { .guard = "untouched" };
	struct ibv_port_attr attr = { 0 };

	CHECK(ibv_query_port(contexts[0], 1, (struct _compat_ibv_port_attr *)&old) == 0);
	CHECK(!strcmp(old.guard, "untouched"));
	write_file("0.port", "1 3\n", 4);
	CHECK(ibv_query_port(contexts[0], 1, (struct _compat_ibv_port_attr *)&attr) == 0);
	CHECK(attr.state == IBV_PORT_DOWN && attr.phys_state == 3 && attr.active_mtu == IBV_MTU_1024);
	write_file("0.port", "nonsense", 8);
	CHECK(ibv_query_port(contexts[0], 1, (struct _compat_ibv_port_attr *)&attr) == EIO);
	CHECK(ibv_query_port(contexts[0], 2, (struct _compat_ibv_port_attr *)&attr) == EINVAL);
	write_file("0.port", "4 5\n", 4);
}

static void gids_come_from_the_table(void)
{
	union ibv_gid gid, wanted = gid_of(1);

	CHECK(ibv_query_gid(contexts[1], 1, 1, &gid) == 0 && !memcmp(&gid, &wanted, sizeof gid));
	CHECK(ibv_query_gid(contexts[1], 1, HCA_GID_ENTRIES, &gid) == -1);
	CHECK(ibv_query_gid(contexts[1], 1, -1, &gid) == -1);
}

static void rc_carries_scattered_data(void)
{
	struct pair *pair = connected();
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source[] = { piece(from, 0, 100), piece(from, 500, 0), piece(from, 1000, 900) };
	struct ibv_sge target[] = { piece(to, 7, 1), piece(to, 100, 600), piece(to, 2000, 2000) };
	struct ibv_wc wc;

	for (size_t i = 0; i < sizeof from->memory; i++)
		from->memory[i] = (char)(i * 7);
	CHECK(post_recv(to, 11, target, 3) == 0);
	CHECK(post_send(from, 22, source, 3) == 0);
	completes(from, 22, IBV_WC_SUCCESS);
	wc = completes(to, 11, IBV_WC_SUCCESS);
	CHECK(wc.byte_len == 1000 && wc.qp_num == to->qp->qp_num && wc.src_qp == from->qp->qp_num);
	CHECK(to->memory[7] == from->memory[0]);
	CHECK(!memcmp(to->memory + 100, from->memory + 1, 99));
	CHECK(!memcmp(to->memory + 199, from->memory + 1000, 501));
	CHECK(!memcmp(to->memory + 2000, from->memory + 1501, 399));
	CHECK(to->memory[2399] == 0 && to->memory[700] == 0);
	free_pair(pair);
}

static void a_send_waits_for_its_receive(void)
{
	struct pair *pair = make_pair(IBV_QPT_RC, 16, NULL);
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8), target = piece(to, 0, 8);

	connect_qp(from, 1, to->qp->qp_num);
	CHECK(post_send(from, 1, &source, 1) == 0);
	is_quiet(from); /* the peer is not even ready to receive */
	connect_qp(to, 0, from->qp->qp_num);
	is_quiet(from);
	CHECK(post_recv(to, 2, &target, 1) == 0);
	completes(from, 1, IBV_WC_SUCCESS);
	completes(to, 2, IBV_WC_SUCCESS);
	free_pair(pair);
}

static void too_long_a_message_fails_both(void)
{
	struct pair *pair = connected();
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 9), target = piece(to, 0, 8);

	CHECK(post_recv(to, 1, &target, 1) == 0 && post_recv(to, 2, &target, 1) == 0);
	CHECK(post_send(from, 3, &source, 1) == 0);
	completes(from, 3, IBV_WC_REM_INV_REQ_ERR);
	completes(to, 1, IBV_WC_LOC_LEN_ERR);
	completes(to, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK(from->qp->state == IBV_QPS_ERR && to->qp->state == IBV_QPS_ERR);
	CHECK(post_send(from, 4, &source, 1) == 0);
	completes(from, 4, IBV_WC_WR_FLUSH_ERR);
	free_pair(pair);
}

static void memory_is_checked(void)
{
	struct pair *pair;
	struct ibv_sge bad[3], good;

	for (int i = 0; i < 3; i++) {
		pair = connected();
		bad[0] = piece(&pair->end[0], 4000, 97); /* past the end */
		bad[1] = piece(&pair->end[0], 0, 8);
		bad[1].addr -= 1; /* before the start */
		bad[2] = piece(&pair->end[0], 0, 8);
		bad[2].lkey ^= 0x10000; /* the key of an earlier region */
		good = piece(&pair->end[1], 0, 4096);
		CHECK(post_recv(&pair->end[1], 1, &good, 1) == 0);
		CHECK(post_send(&pair->end[0], 2, &bad[i], 1) == 0);
		completes(&pair->end[0], 2, IBV_WC_LOC_PROT_ERR);
		is_quiet(&pair->end[1]);
		free_pair(pair);
	}
	pair = connected();
	bad[0] = piece(&pair->end[1], 4095, 2);
	good = piece(&pair->end[0], 0, 2);
	CHECK(post_recv(&pair->end[1], 1, bad, 1) == 0);
	CHECK(post_send(&pair->end[0], 2, &good, 1) == 0);
	completes(&pair->end[0], 2, IBV_WC_REM_OP_ERR);
	completes(&pair->end[1], 1, IBV_WC_LOC_PROT_ERR);
	free_pair(pair);
}

static void iova_is_translated(void)
{
	struct pair *pair = connected();
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_mr *mr = ibv_reg_mr_iova2(from->pd, from->memory, 64, 0x10000, 0);
	struct ibv_sge source = { .addr = 0x10000 + 8, .length = 4, .lkey = mr->lkey }, target = piece(to, 0, 4);

	memcpy(from->memory + 8, "iova", 4);
	CHECK(post_recv(to, 1, &target, 1) == 0 && post_send(from, 2, &source, 1) == 0);
	completes(to, 1, IBV_WC_SUCCESS);
	CHECK(!memcmp(to->memory, "iova", 4));
	CHECK(ibv_dereg_mr(mr) == 0);
	free_pair(pair);
}

static void a_destroyed_peer_fails_the_sends(void)
{
	struct pair *pair = connected();
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8);

	CHECK(post_send(from, 1, &source, 1) == 0 && post_send(from, 2, &source, 1) == 0);
	is_quiet(from);
	CHECK(ibv_destroy_qp(to->qp) == 0);
	to->qp = NULL;
	completes(from, 1, IBV_WC_RETRY_EXC_ERR);
	completes(from, 2, IBV_WC_WR_FLUSH_ERR);
	free_pair(pair);
}

static void a_destroyed_pair_takes_its_completions_along(void)
{
	struct pair *pair = connected();
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8), target = piece(to, 0, 8);

	CHECK(post_recv(to, 1, &target, 1) == 0 && post_send(from, 2, &source, 1) == 0);
	CHECK(ibv_destroy_cq(to->cq) == EBUSY);
	CHECK(ibv_destroy_qp(to->qp) == 0);
	to->qp = NULL;
	is_quiet(to);
	completes(from, 2, IBV_WC_SUCCESS);
	free_pair(pair);
}

static void a_stranger_is_refused(void)
{
	struct pair *pair = make_pair(IBV_QPT_RC, 16, NULL);
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8), target = piece(to, 0, 8);

	connect_qp(to, 0, from->qp->qp_num + 1); /* it expects another queue pair */
	connect_qp(from, 1, to->qp->qp_num);
	CHECK(post_recv(to, 1, &target, 1) == 0 && post_send(from, 2, &source, 1) == 0);
	completes(from, 2, IBV_WC_RETRY_EXC_ERR);
	is_quiet(to);
	free_pair(pair);
}

static void an_unknown_gid_is_no_peer(void)
{
	struct pair *pair = make_pair(IBV_QPT_RC, 16, NULL);
	struct ibv_sge source = piece(&pair->end[0], 0, 8);

	connect_qp(&pair->end[0], 9, pair->end[1].qp->qp_num);
	CHECK(post_send(&pair->end[0], 1, &source, 1) == 0);
	completes(&pair->end[0], 1, IBV_WC_RETRY_EXC_ERR);
	free_pair(pair);
}

static void ud_has_a_header_and_may_drop(void)
{
	struct pair *pair = make_pair(IBV_QPT_UD, 16, NULL);
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8), target[] = { piece(to, 0, 40), piece(to, 100, 8) };
	struct ibv_ah_attr where = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid_of(1), .sgid_index = 1 } };
	struct ibv_send_wr wr = { .wr_id = 2, .sg_list = &source, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_grh *grh = (struct ibv_grh *)(void *)to->memory;
	union ibv_gid sender = gid_of(0);

	connect_qp(from, 0, 0);
	connect_qp(to, 0, 0);
	memcpy(from->memory, "datagram", 8);
	wr.wr.ud.ah = ibv_create_ah(from->pd, &where);
	wr.wr.ud.remote_qpn = to->qp->qp_num;
	wr.wr.ud.remote_qkey = 7;
	CHECK(from->qp->context->ops.post_send(from->qp, &wr, &bad) == 0);
	completes(from, 2, IBV_WC_SUCCESS); /* no queue pair received it */
	CHECK(post_recv(to, 1, target, 2) == 0);
	CHECK(from->qp->context->ops.post_send(from->qp, &wr, &bad) == 0);
	completes(from, 2, IBV_WC_SUCCESS);
	CHECK(completes(to, 1, IBV_WC_SUCCESS).byte_len == 48);
	CHECK(!memcmp(to->memory + 100, "datagram", 8));
	CHECK(!memcmp(&grh->sgid, &sender, sizeof sender));
	CHECK(be32toh(grh->version_tclass_flow) >> 28 == 6);
	ibv_destroy_ah(wr.wr.ud.ah);
	free_pair(pair);
}

static void a_pair_may_talk_to_itself(void)
{
	struct pair *pair = make_pair(IBV_QPT_RC, 16, NULL);
	struct end *end = &pair->end[0];
	struct ibv_sge source = piece(end, 0, 8), target = piece(end, 100, 4);

	connect_qp(end, 0, end->qp->qp_num);
	CHECK(post_recv(end, 1, &target, 1) == 0 && post_recv(end, 2, &target, 1) == 0);
	CHECK(post_send(end, 3, &source, 1) == 0);
	completes(end, 1, IBV_WC_LOC_LEN_ERR);
	completes(end, 3, IBV_WC_REM_INV_REQ_ERR);
	completes(end, 2, IBV_WC_WR_FLUSH_ERR);
	free_pair(pair);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_adapters();
	RUN(port_state_is_read_each_time);
	RUN(gids_come_from_the_table);
	RUN(rc_carries_scattered_data);
	RUN(a_send_waits_for_its_receive);
	RUN(too_long_a_message_fails_both);
	RUN(memory_is_checked);
	RUN(iova_is_translated);
	RUN(a_destroyed_peer_fails_the_sends);
	RUN(a_destroyed_pair_takes_its_completions_along);
	RUN(a_stranger_is_refused);
	RUN(an_unknown_gid_is_no_peer);
	RUN(ud_has_a_header_and_may_drop);
	RUN(a_pair_may_talk_to_itself);
	test_queues();
	printf("hca: %u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
