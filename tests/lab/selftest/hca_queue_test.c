// SPDX-License-Identifier: GPL-2.0-or-later
/* The HCA stand-in's queues and completions: their sizes, numbers and ends, and which threads are woken. */
#include "hca_pair.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static void queues_have_their_size(void)
{
	struct pair *pair = connected();
	struct end *end = &pair->end[0];
	struct ibv_sge source[HCA_MAX_SGE + 1] = { piece(end, 0, 8) };

	for (uint64_t i = 0; i < 4; i++) {
		CHECK(post_send(end, i, source, 1) == 0);
		CHECK(post_recv(end, i, source, 1) == 0);
	}
	CHECK(post_send(end, 4, source, 1) == ENOMEM);
	CHECK(post_recv(end, 4, source, 1) == ENOMEM);
	CHECK(post_recv(&pair->end[1], 4, source, HCA_MAX_SGE + 1) == EINVAL);
	free_pair(pair);
}

static void a_full_completion_queue_breaks(void)
{
	struct pair *pair = make_pair(IBV_QPT_RC, 2, NULL);
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8), target = piece(to, 0, 8);
	struct ibv_wc wc[4];

	connect_qp(from, 1, to->qp->qp_num);
	connect_qp(to, 0, from->qp->qp_num);
	for (uint64_t i = 0; i < 3; i++)
		CHECK(post_recv(to, i, &target, 1) == 0 && post_send(from, i, &source, 1) == 0);
	CHECK(take(from, wc, 4) == 2 && wc[1].wr_id == 1);
	CHECK(take(to, wc, 4) == 2 && wc[1].wr_id == 1);
	CHECK(from->qp->state == IBV_QPS_ERR && to->qp->state == IBV_QPS_ERR);
	is_quiet(from);
	free_pair(pair);
}

static bool readable(int fd)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };

	return poll(&poller, 1, 0) == 1;
}

static void a_channel_wakes_when_armed(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(contexts[1]);
	struct pair *pair = make_pair(IBV_QPT_RC, 16, channel);
	struct end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_sge source = piece(from, 0, 8), target = piece(to, 0, 8);
	struct ibv_cq *cq;
	void *context;

	connect_qp(from, 1, to->qp->qp_num);
	connect_qp(to, 0, from->qp->qp_num);
	CHECK(post_recv(to, 1, &target, 1) == 0 && post_send(from, 1, &source, 1) == 0);
	CHECK(!readable(channel->fd));
	to->cq->context->ops.req_notify_cq(to->cq, 0);
	CHECK(post_recv(to, 2, &target, 1) == 0 && post_send(from, 2, &source, 1) == 0);
	CHECK(post_recv(to, 3, &target, 1) == 0 && post_send(from, 3, &source, 1) == 0);
	CHECK(readable(channel->fd));
	CHECK(ibv_get_cq_event(channel, &cq, &context) == 0 && cq == to->cq);
	CHECK(!readable(channel->fd));
	/* QEMU may destroy the queue before it acknowledges the event; the memory must last until then. */
	CHECK(ibv_destroy_qp(to->qp) == 0 && ibv_destroy_cq(to->cq) == 0);
	CHECK(take(to, &(struct ibv_wc){ 0 }, 1) == 0);
	ibv_ack_cq_events(cq, 1);
	CHECK(ibv_destroy_comp_channel(channel) == 0);
	to->qp = NULL;
	to->cq = ibv_create_cq(contexts[1], 1, NULL, NULL, 0);
	free_pair(pair);
}

static void an_event_of_a_destroyed_queue_is_gone(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(contexts[1]);
	struct ibv_cq *cq = ibv_create_cq(contexts[1], 4, NULL, channel, 0), *found;
	struct ibv_wc wc = { 0 };
	void *context;

	cq->context->ops.req_notify_cq(cq, 0);
	pthread_mutex_lock(&hca_lock);
	CHECK(hca_complete(hca_cq_of(cq), &wc));
	pthread_mutex_unlock(&hca_lock);
	CHECK(ibv_destroy_comp_channel(channel) == EBUSY);
	CHECK(ibv_destroy_cq(cq) == 0);
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	CHECK(ibv_get_cq_event(channel, &found, &context) == -1 && errno == EAGAIN);
	CHECK(ibv_destroy_comp_channel(channel) == 0);
}

static void numbers_are_not_soon_reused(void)
{
	struct pair *first = connected(), *second;
	uint32_t qpn = first->end[0].qp->qp_num;

	free_pair(first);
	second = connected();
	CHECK(second->end[0].qp->qp_num != qpn && second->end[0].qp->qp_num < HCA_MAX_QP);
	free_pair(second);
}

static atomic_bool thread_is_to_run; /* QEMU ends the thread that waits for a device's completions by such a flag */

static void *wait_for_completions(void *fd)
{
	struct pollfd waiting = { .fd = *(const int *)fd, .events = POLLIN };

	while (poll(&waiting, 1, 5000) == 0 && atomic_load(&thread_is_to_run))
		;
	return NULL;
}

static void who_is_to_sleep_wakes_the_thread(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(contexts[0]);
	time_t before = time(NULL);
	pthread_t thread;

	atomic_store(&thread_is_to_run, true);
	CHECK(pthread_create(&thread, NULL, wait_for_completions, &channel->fd) == 0);
	atomic_store(&thread_is_to_run, false);
	CHECK(sleep(2) == 0);
	pthread_join(thread, NULL);
	CHECK(time(NULL) - before <= 2);
	CHECK(ibv_destroy_comp_channel(channel) == 0);
}

void test_queues(void)
{
	RUN(queues_have_their_size);
	RUN(a_full_completion_queue_breaks);
	RUN(a_channel_wakes_when_armed);
	RUN(an_event_of_a_destroyed_queue_is_gone);
	RUN(numbers_are_not_soon_reused);
	RUN(who_is_to_sleep_wakes_the_thread);
}
