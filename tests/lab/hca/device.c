// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices hca0 …, one for each adapter of the guest; each pvrdma device opens one, once. */
#include "hca.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

pthread_mutex_t hca_lock = PTHREAD_MUTEX_INITIALIZER;

static struct hca_device devices[HCA_MAX_DEVICES];
static unsigned device_count;
static pthread_once_t devices_once = PTHREAD_ONCE_INIT;

void hca_log(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("hca: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

static void make_devices(void)
{
	const char *wanted = getenv("PVRDMA_HCA_ADAPTERS");
	unsigned long count = wanted ? strtoul(wanted, NULL, 10) : 1;

	device_count = count > HCA_MAX_DEVICES ? HCA_MAX_DEVICES : (unsigned)count;
	for (unsigned i = 0; i < device_count; i++) {
		struct hca_device *device = &devices[i];

		device->index = i;
		device->next_qpn = HCA_FIRST_QPN;
		device->ibv.node_type = IBV_NODE_CA;
		device->ibv.transport_type = IBV_TRANSPORT_IB;
		snprintf(device->ibv.name, sizeof device->ibv.name, "hca%u", i);
		snprintf(device->ibv.dev_name, sizeof device->ibv.dev_name, "hca%u", i);
	}
	hca_wire_start();
}

struct hca_device *hca_device_of(struct ibv_context *context)
{
	return HCA_CONTAINER(context, struct hca_device, context);
}

struct hca_device *hca_device_at(unsigned index)
{
	return index < device_count ? &devices[index] : NULL;
}

HCA_EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list;

	pthread_once(&devices_once, make_devices);
	list = calloc(device_count + 1, sizeof *list);
	if (!list)
		return NULL;
	for (unsigned i = 0; i < device_count; i++)
		list[i] = &devices[i].ibv;
	if (count)
		*count = (int)device_count;
	return list;
}

HCA_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

HCA_EXPORT const char *ibv_get_device_name(struct ibv_device *ibv)
{
	return ibv->name;
}

HCA_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *ibv)
{
	struct hca_device *device = HCA_CONTAINER(ibv, struct hca_device, ibv);
	struct ibv_context *context = &device->context;

	context->device = ibv;
	context->cmd_fd = -1;
	context->async_fd = -1;
	context->num_comp_vectors = 1;
	context->ops.poll_cq = hca_poll_cq;
	context->ops.req_notify_cq = hca_req_notify_cq;
	context->ops.post_send = hca_post_send;
	context->ops.post_recv = hca_post_recv;
	return context;
}

HCA_EXPORT int ibv_close_device(struct ibv_context *context)
{
	(void)context; /* static, like its device */
	return 0;
}

HCA_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr){
		.fw_ver = "1.0.0",
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 4096,
		.max_qp = HCA_MAX_QP,
		.max_qp_wr = HCA_MAX_WR,
		.max_sge = HCA_MAX_SGE,
		.max_sge_rd = HCA_MAX_SGE,
		.max_cq = 4096,
		.max_cqe = HCA_MAX_CQE,
		.max_mr = HCA_MAX_MR,
		.max_pd = 65536,
		.max_qp_rd_atom = 16,
		.max_qp_init_rd_atom = 16,
		.max_ah = 65536,
		.max_srq = 1, /* QEMU crashes without any; ibv_create_srq refuses even that one */
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};
	return 0;
}
