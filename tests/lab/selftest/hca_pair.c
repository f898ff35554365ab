// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca_pair.h"

#include <stdio.h>
#include <stdlib.h>

bool test_failed;

void write_file(const char *name, const void *data, size_t length)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", getenv("PVRDMA_HCA_DIR"), name);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, length, file) != length || fclose(file))
		abort();
}

union ibv_gid gid_of(unsigned adapter)
{
	union ibv_gid gid = { .raw = { 0xfe, 0x80 } };

	gid.raw[15] = (uint8_t)(0x10 + adapter);
	return gid;
}

struct ibv_context *contexts[2];

void open_adapters(void)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	for (int i = 0; i < 2; i++) {
		union ibv_gid table[HCA_GID_ENTRIES] = { 0 };
		char name[32];

		table[1] = gid_of((unsigned)i);
		snprintf(name, sizeof name, "%d.gids", i);
		write_file(name, table, sizeof table);
		snprintf(name, sizeof name, "%d.port", i);
		write_file(name, "4 5\n", 4);
		contexts[i] = ibv_open_device(list[i]);
	}
	if (count != 2)
		abort();
	ibv_free_device_list(list);
}

static void init_qp(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 7 };

	CHECK(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | (type == IBV_QPT_UD ? IBV_QP_QKEY : 0)) == 0);
}

void connect_qp(struct end *end, unsigned to_adapter, uint32_t to_qpn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .dest_qp_num = to_qpn };

	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = gid_of(to_adapter);
	CHECK(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN) == 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE) == 0);
}

struct pair *make_pair(enum ibv_qp_type type, int cqe, struct ibv_comp_channel *channel)
{
	struct pair *pair = calloc(1, sizeof *pair);

	for (unsigned i = 0; i < 2; i++) {
		struct end *end = &pair->end[i];
		struct ibv_qp_init_attr init = { .qp_type = type, .sq_sig_all = 1,
						 .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 4, .max_recv_sge = 4 } };

		end->pd = ibv_alloc_pd(contexts[i]);
		end->cq = ibv_create_cq(contexts[i], cqe, NULL, i == 1 ? channel : NULL, 0);
		end->mr = ibv_reg_mr(end->pd, end->memory, sizeof end->memory, IBV_ACCESS_LOCAL_WRITE);
		init.send_cq = init.recv_cq = end->cq;
		end->qp = ibv_create_qp(end->pd, &init);
		init_qp(end, type);
	}
	return pair;
}

struct pair *connected(void)
{
	struct pair *pair = make_pair(IBV_QPT_RC, 16, NULL);

	connect_qp(&pair->end[0], 1, pair->end[1].qp->qp_num);
	connect_qp(&pair->end[1], 0, pair->end[0].qp->qp_num);
	return pair;
}

void free_pair(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		struct end *end = &pair->end[i];

		if (end->qp)
			CHECK(ibv_destroy_qp(end->qp) == 0);
		CHECK(ibv_destroy_cq(end->cq) == 0);
		CHECK(ibv_dereg_mr(end->mr) == 0);
		CHECK(ibv_dealloc_pd(end->pd) == 0);
	}
	free(pair);
}

struct ibv_sge piece(const struct end *end, size_t offset, uint32_t length)
{
	return (struct ibv_sge){ .addr = (uintptr_t)end->memory + offset, .length = length, .lkey = end->mr->lkey };
}

int post_recv(struct end *end, uint64_t id, struct ibv_sge *sge, int count)
{
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = count }, *bad;

	return end->qp->context->ops.post_recv(end->qp, &wr, &bad);
}

int post_send(struct end *end, uint64_t id, struct ibv_sge *sge, int count)
{
	struct ibv_send_wr wr = { .wr_id = id, .sg_list = sge, .num_sge = count, .opcode = IBV_WR_SEND }, *bad;

	return end->qp->context->ops.post_send(end->qp, &wr, &bad);
}

int take(struct end *end, struct ibv_wc *wc, int count)
{
	return end->cq->context->ops.poll_cq(end->cq, count, wc);
}

struct ibv_wc completes(struct end *end, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc = { 0 };

	CHECK(take(end, &wc, 1) == 1);
	if (wc.wr_id != id || wc.status != status)
		printf("  work request %lu ended with status %d, not %lu with %d\n", wc.wr_id, wc.status, id, status);
	CHECK(wc.wr_id == id && wc.status == status);
	return wc;
}

void is_quiet(struct end *end)
{
	struct ibv_wc wc;

	CHECK(take(end, &wc, 1) == 0);
}
