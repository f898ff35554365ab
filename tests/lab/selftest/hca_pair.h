// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers of the tests of the HCA stand-in: two adapters, two ends that exchange messages, and the calls that QEMU makes.
 * The ends are on adapters 0 and 1. */
#ifndef HCA_PAIR_H
#define HCA_PAIR_H

#include "../hca/hca.h"

#include <stdbool.h>
#include <stdio.h>

extern bool test_failed;
extern unsigned passed, failed;
extern struct ibv_context *contexts[2];

#define CHECK(condition)                                                               \
	do {                                                                           \
		if (!(condition)) {                                                    \
			printf("  %s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			test_failed = true;                                            \
		}                                                                      \
	} while (0)

#define RUN(test)                                                      \
	do {                                                           \
		test_failed = false;                                   \
		test();                                                \
		printf("%s hca: %s\n", test_failed ? "FAIL" : "ok", #test); \
		test_failed ? failed++ : passed++;                     \
	} while (0)

/* hca_queue_test.c */
void test_queues(void);

struct end {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char memory[4096];
};

struct pair {
	struct end end[2];
};

/* Writes a file of the stand-in's folder, as the host's side does. */
void write_file(const char *name, const void *data, size_t length);
union ibv_gid gid_of(unsigned adapter);
/* Both ports ACTIVE, each with its GID at index 1. */
void open_adapters(void);

/* Makes two ends with queues and memory of their own, not yet connected; `channel`, if any, is that of the second end. */
struct pair *make_pair(enum ibv_qp_type type, int cqe, struct ibv_comp_channel *channel);
void connect_qp(struct end *end, unsigned to_adapter, uint32_t to_qpn);
/* An RC pair, ready to send both ways. */
struct pair *connected(void);
void free_pair(struct pair *pair);

struct ibv_sge piece(const struct end *end, size_t offset, uint32_t length);
int post_recv(struct end *end, uint64_t id, struct ibv_sge *sge, int count);
int post_send(struct end *end, uint64_t id, struct ibv_sge *sge, int count);
int take(struct end *end, struct ibv_wc *wc, int count);
/* The next completion of this end is that of work request `id`, with this status. */
struct ibv_wc completes(struct end *end, uint64_t id, enum ibv_wc_status status);
void is_quiet(struct end *end);

#endif
