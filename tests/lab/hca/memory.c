// SPDX-License-Identifier: GPL-2.0-or-later
/* Protection domains, memory regions and address handles. A key names a slot of the region table and how often that
 * slot was used, so that an old key is refused and never reaches the memory of another region. */
#include "hca.h"

#include <errno.h>
#include <stdlib.h>

static struct hca_mr *regions[HCA_MAX_MR];
static uint16_t generations[HCA_MAX_MR];
static unsigned next_region;

HCA_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof *pd);

	if (pd)
		pd->context = context;
	return pd;
}

HCA_EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int busy = 0;

	pthread_mutex_lock(&hca_lock);
	for (unsigned i = 0; i < HCA_MAX_MR && !busy; i++)
		busy = regions[i] && regions[i]->ibv.pd == pd;
	for (unsigned i = 0; i < HCA_MAX_QP && !busy; i++) {
		struct hca_qp *qp = hca_device_of(pd->context)->qps[i];

		busy = qp && qp->ibv.pd == pd;
	}
	pthread_mutex_unlock(&hca_lock);
	if (busy)
		return EBUSY;
	free(pd);
	return 0;
}

static struct ibv_mr *register_region(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	struct hca_mr *mr = calloc(1, sizeof *mr);
	unsigned slot = 0, tried = 0;

	if (!mr)
		return NULL;
	pthread_mutex_lock(&hca_lock);
	for (; tried < HCA_MAX_MR; tried++) {
		slot = (next_region + tried) % HCA_MAX_MR;
		if (!regions[slot])
			break;
	}
	if (tried == HCA_MAX_MR) {
		pthread_mutex_unlock(&hca_lock);
		free(mr);
		errno = ENOMEM;
		return NULL;
	}
	next_region = (slot + 1) % HCA_MAX_MR;
	regions[slot] = mr;
	mr->iova = iova;
	mr->access = access;
	/* The generation begins at 1, so that no key is 0, the key of a caller that has not set one. */
	if (++generations[slot] == 0)
		generations[slot] = 1;
	mr->ibv = (struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
	mr->ibv.lkey = mr->ibv.rkey = (uint32_t)generations[slot] << 16 | slot;
	pthread_mutex_unlock(&hca_lock);
	return &mr->ibv;
}

HCA_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return register_region(pd, addr, length, (uintptr_t)addr, access);
}

HCA_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return register_region(pd, addr, length, iova, access);
}

HCA_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
					   unsigned access)
{
	return register_region(pd, addr, length, iova, (int)access);
}

HCA_EXPORT int ibv_dereg_mr(struct ibv_mr *ibv)
{
	pthread_mutex_lock(&hca_lock);
	regions[ibv->lkey & 0xffff] = NULL;
	pthread_mutex_unlock(&hca_lock);
	free(HCA_CONTAINER(ibv, struct hca_mr, ibv));
	return 0;
}

void *hca_translate(const struct ibv_pd *pd, const struct ibv_sge *sge, int access)
{
	const struct hca_mr *mr = regions[sge->lkey & 0xffff];
	uint64_t offset;

	if (!mr || mr->ibv.lkey != sge->lkey || mr->ibv.pd != pd || (mr->access & access) != access)
		return NULL;
	offset = sge->addr - mr->iova; /* for an address below the region the offset wraps to one beyond it */
	if (offset > mr->ibv.length || sge->length > mr->ibv.length - offset)
		return NULL;
	return (char *)mr->ibv.addr + offset;
}

HCA_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct hca_ah *ah = calloc(1, sizeof *ah);

	if (!ah)
		return NULL;
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->attr = *attr;
	return &ah->ibv;
}

HCA_EXPORT int ibv_destroy_ah(struct ibv_ah *ibv)
{
	free(HCA_CONTAINER(ibv, struct hca_ah, ibv));
	return 0;
}
