// SPDX-License-Identifier: GPL-2.0-or-later
/* Completion queues and channels.
 *
 * A queue that overflows is broken for good, as on hardware: it keeps its completions and takes no more. Destroying a queue
 * does not wait for the acknowledgement of its events, because QEMU may destroy it in the thread for which the acknowledging
 * thread waits. Instead the memory lives until the last acknowledgement. */
#include "hca.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static struct hca_channel *channels; /* the list of all channels */

static struct hca_channel *channel_of(struct ibv_comp_channel *ibv)
{
	return HCA_CONTAINER(ibv, struct hca_channel, ibv);
}

HCA_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct hca_channel *channel = calloc(1, sizeof *channel);

	if (!channel)
		return NULL;
	channel->ibv.context = context;
	channel->ibv.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (channel->ibv.fd < 0) {
		free(channel);
		return NULL;
	}
	pthread_mutex_lock(&hca_lock);
	channel->next = channels;
	channels = channel;
	pthread_mutex_unlock(&hca_lock);
	return &channel->ibv;
}

HCA_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct hca_channel **link = &channels;

	if (ibv->refcnt)
		return EBUSY;
	pthread_mutex_lock(&hca_lock);
	while (*link != channel_of(ibv))
		link = &(*link)->next;
	*link = (*link)->next;
	pthread_mutex_unlock(&hca_lock);
	close(ibv->fd);
	free(channel_of(ibv));
	return 0;
}

/* To end a device's thread QEMU clears a flag and sleeps, two seconds at a time, until the thread has seen the flag. The
 * thread sees it after five seconds without an event, and the guest's CPU stands still meanwhile. So this function, called in
 * place of the sleep, wakes the threads; a thread that is not to end finds no event and goes on. */
HCA_EXPORT unsigned sleep(unsigned seconds)
{
	struct timespec pause = {.tv_nsec = 1000000};
	uint64_t one = 1;

	pthread_mutex_lock(&hca_lock);
	if (!channels)
		pause = (struct timespec){.tv_sec = seconds};
	for (struct hca_channel *channel = channels; channel; channel = channel->next) {
		struct pollfd waiting = {.fd = channel->ibv.fd, .events = POLLIN};

		if (poll(&waiting, 1, 0) == 0 && write(channel->ibv.fd, &one, sizeof one) != sizeof one)
			hca_log("waking a completion channel failed");
	}
	pthread_mutex_unlock(&hca_lock);
	nanosleep(&pause, NULL);
	return 0;
}

/* locked */
static void list_event(struct hca_cq *cq)
{
	struct hca_channel *channel;
	uint64_t one = 1;

	if (!cq->ibv.channel || cq->listed)
		return;
	channel = channel_of(cq->ibv.channel);
	cq->listed = true;
	cq->next = NULL;
	if (channel->last)
		channel->last->next = cq;
	else
		channel->first = cq;
	channel->last = cq;
	if (write(channel->ibv.fd, &one, sizeof one) != sizeof one)
		hca_log("signalling a completion channel failed");
}

/* locked */
static void unlist_event(struct hca_cq *cq)
{
	struct hca_channel *channel = channel_of(cq->ibv.channel);
	struct hca_cq **link = &channel->first, *previous = NULL;

	while (*link != cq) {
		previous = *link;
		link = &previous->next;
	}
	*link = cq->next;
	if (channel->last == cq)
		channel->last = previous;
	cq->listed = false;
}

HCA_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
	struct hca_channel *channel = channel_of(ibv);
	struct hca_cq *found;
	uint64_t one;

	if (read(ibv->fd, &one, sizeof one) != sizeof one)
		return -1;
	pthread_mutex_lock(&hca_lock);
	found = channel->first;
	if (found) {
		unlist_event(found);
		found->unacked++;
	}
	pthread_mutex_unlock(&hca_lock);
	if (!found) { /* the queue was destroyed after it had signalled */
		errno = EAGAIN;
		return -1;
	}
	*cq = &found->ibv;
	*cq_context = found->ibv.cq_context;
	return 0;
}

static void free_cq(struct hca_cq *cq)
{
	free(cq->ring);
	free(cq);
}

HCA_EXPORT void ibv_ack_cq_events(struct ibv_cq *ibv, unsigned count)
{
	struct hca_cq *cq = hca_cq_of(ibv);
	bool last;

	pthread_mutex_lock(&hca_lock);
	cq->unacked -= count < cq->unacked ? count : cq->unacked;
	last = cq->destroyed && !cq->unacked;
	pthread_mutex_unlock(&hca_lock);
	if (last)
		free_cq(cq);
}

HCA_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
					struct ibv_comp_channel *channel, int vector)
{
	struct hca_cq *cq;

	(void)vector;
	if (cqe < 1 || cqe > HCA_MAX_CQE) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof *cq);
	if (!cq)
		return NULL;
	cq->capacity = (unsigned)cqe;
	cq->ring = calloc(cq->capacity, sizeof *cq->ring);
	if (!cq->ring) {
		free(cq);
		return NULL;
	}
	cq->ibv.context = context;
	cq->ibv.channel = channel;
	cq->ibv.cq_context = cq_context;
	cq->ibv.cqe = cqe;
	pthread_mutex_lock(&hca_lock);
	if (channel)
		channel->refcnt++;
	pthread_mutex_unlock(&hca_lock);
	return &cq->ibv;
}

HCA_EXPORT int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct hca_cq *cq = hca_cq_of(ibv);
	bool unused;

	pthread_mutex_lock(&hca_lock);
	if (cq->queue_pairs) {
		pthread_mutex_unlock(&hca_lock);
		return EBUSY;
	}
	if (cq->listed)
		unlist_event(cq);
	if (cq->ibv.channel)
		cq->ibv.channel->refcnt--;
	cq->ibv.channel = NULL;
	cq->destroyed = true;
	cq->count = 0;
	unused = !cq->unacked;
	pthread_mutex_unlock(&hca_lock);
	if (unused)
		free_cq(cq);
	return 0;
}

int hca_poll_cq(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	struct hca_cq *cq = hca_cq_of(ibv);
	int taken = 0;

	pthread_mutex_lock(&hca_lock);
	while (taken < count && cq->count) {
		wc[taken++] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % cq->capacity;
		cq->count--;
	}
	pthread_mutex_unlock(&hca_lock);
	return taken;
}

int hca_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
	struct hca_cq *cq = hca_cq_of(ibv);

	(void)solicited_only; /* any completion wakes, also one that was not asked for */
	pthread_mutex_lock(&hca_lock);
	cq->armed = !cq->destroyed;
	pthread_mutex_unlock(&hca_lock);
	return 0;
}

bool hca_complete(struct hca_cq *cq, const struct ibv_wc *wc)
{
	if (cq->overrun)
		return false;
	if (cq->count == cq->capacity) {
		cq->overrun = true;
		hca_log("a completion queue of %u entries overflowed", cq->capacity);
	} else {
		cq->ring[(cq->head + cq->count++) % cq->capacity] = *wc;
	}
	if (cq->armed) {
		cq->armed = false;
		list_event(cq);
	}
	return !cq->overrun;
}

void hca_forget_completions(struct hca_cq *cq, uint32_t qpn)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < cq->count; i++) {
		const struct ibv_wc wc = cq->ring[(cq->head + i) % cq->capacity];

		if (wc.qp_num != qpn)
			cq->ring[(cq->head + kept++) % cq->capacity] = wc;
	}
	cq->count = kept;
}
