// SPDX-License-Identifier: GPL-2.0-or-later
/* The HCA stand-in: a library preloaded into the QEMU process, where it takes the place of libibverbs behind QEMU's
 * pvrdma device. There is no hardware: a "queue pair" is memory of this process, and so is the guest's memory.
 *
 * Invariants:
 *  - one lock, hca_lock, guards everything that is shared; functions marked "locked" are called with it held;
 *  - a peer is addressed by (destination GID, destination QPN) only, never by a pointer kept across calls: hca_route()
 *    finds a peer in this process, and fabric.c reaches all others;
 *  - an error reaches the guest as a completion or an errno, never as a crash of QEMU.
 *
 * Environment: PVRDMA_HCA_DIR, with the files N.port (`STATE PHYS`, as numbers of enum ibv_port_state and of the
 * InfiniBand PortPhysicalState) and N.gids (16 bytes an entry); PVRDMA_HCA_ADAPTERS, how many devices there are;
 * PVRDMA_HCA_FABRIC, the socket to other guests, if there are any.
 */
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* verbs.h wraps these in macros; this library defines the symbols themselves. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define HCA_EXPORT __attribute__((visibility("default")))
#define HCA_CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

enum {
	HCA_MAX_DEVICES = 4,
	HCA_GID_ENTRIES = 64,
	HCA_FIRST_QPN = 2, /* 0 and 1 are the management queue pairs of InfiniBand */
	HCA_MAX_QP = 1024, /* the guest's driver indexes by QPN modulo this, so QPNs stay below it */
	HCA_MAX_WR = 16384,
	HCA_MAX_SGE = 8,
	HCA_MAX_CQE = 65536,
	HCA_MAX_MR = 65536,
	HCA_GRH_BYTES = 40, /* bytes before the message in a UD receive */
};

struct hca_qp;

struct hca_device {
	struct ibv_device ibv;
	struct ibv_context context;
	unsigned index;
	struct hca_qp *qps[HCA_MAX_QP];
	uint32_t next_qpn;
};

struct hca_cq;

struct hca_channel {
	struct ibv_comp_channel ibv; /* its fd is an eventfd that counts the CQs in the list */
	struct hca_cq *first, *last;
	struct hca_channel *next;
};

struct hca_cq {
	struct ibv_cq ibv;
	struct ibv_wc *ring;
	unsigned capacity, head, count;
	unsigned queue_pairs; /* number of queue pairs that complete here */
	unsigned unacked;     /* events handed out and not acknowledged */
	bool armed, overrun, destroyed;
	bool listed;          /* in its channel's list */
	struct hca_cq *next;
};

struct hca_mr {
	struct ibv_mr ibv;
	uint64_t iova; /* the address that work requests use for ibv.addr */
	int access;
};

struct hca_ah {
	struct ibv_ah ibv;
	struct ibv_ah_attr attr;
};

struct hca_send {
	struct ibv_send_wr wr; /* its pointers next and sg_list must not be followed */
	struct ibv_sge sge[HCA_MAX_SGE];
	union ibv_gid dgid; /* UD: these two from the address handle, which may be gone by now */
	uint8_t sgid_index;
};

struct hca_recv {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[HCA_MAX_SGE];
};

struct hca_ring { /* a ring of `capacity` entries in an array of its owner */
	unsigned capacity, head, count;
};

struct hca_qp {
	struct ibv_qp ibv;
	struct ibv_qp_attr attr; /* qp_state, dest_qp_num, ah_attr … as last modified */
	struct ibv_qp_init_attr init;
	struct hca_ring send_ring, recv_ring;
	struct hca_send *sends;
	struct hca_recv *recvs;
	unsigned in_flight; /* sends at the ring's head that are under way to another process */
	uint32_t serial;    /* unique for each queue pair, and anew after each reset */
};

struct hca_piece { /* a piece of a message, in this process */
	char *at;
	size_t length;
};

struct hca_incoming { /* a message from a queue pair, here or in another process */
	const struct hca_piece *pieces;
	int count;
	size_t length; /* of all pieces */
	bool ud, with_imm;
	__be32 imm_data;
	union ibv_gid from, to; /* UD only */
	uint32_t from_qpn;
};

enum { HCA_LONGEST_MESSAGE = 8 << 20 }; /* bytes; a longer message is an error of the sender */

enum hca_kind { HCA_RC, HCA_UD, HCA_ANSWER };

struct hca_message { /* between processes of one machine: its byte order, no gaps; labkit/fabric.py reads it too */
	uint32_t kind;
	uint32_t length; /* of the payload, which follows */
	union ibv_gid from, to;
	uint32_t from_qpn, to_qpn;
	uint32_t serial;  /* of the queue pair that sent the message; an answer repeats it */
	uint32_t status;  /* of an answer: enum ibv_wc_status, for the send */
	uint32_t with_imm;
	__be32 imm_data;
	uint32_t qkey;
	uint32_t reserved;
};

extern pthread_mutex_t hca_lock;

/* device.c */
struct hca_device *hca_device_of(struct ibv_context *context);
struct hca_device *hca_device_at(unsigned index); /* NULL past the last */
void hca_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* port.c */
bool hca_port_has_gid(const struct hca_device *device, const union ibv_gid *gid);
bool hca_port_gid(const struct hca_device *device, int index, union ibv_gid *gid);

/* memory.c; locked: the address of `sge` in this process, or NULL unless all of it is within a region of `pd` that allows
 * `access` (0, or IBV_ACCESS_LOCAL_WRITE) */
void *hca_translate(const struct ibv_pd *pd, const struct ibv_sge *sge, int access);

/* completion.c */
int hca_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int hca_req_notify_cq(struct ibv_cq *cq, int solicited_only);
/* locked. False: the queue was full, the completion is lost, and the queue is broken. */
bool hca_complete(struct hca_cq *cq, const struct ibv_wc *wc);
void hca_forget_completions(struct hca_cq *cq, uint32_t qpn);

/* queue_pair.c; locked */
struct hca_qp *hca_qp_at(const struct hca_device *device, uint32_t qpn);
void hca_qp_fail(struct hca_qp *qp); /* puts it into the error state, and flushes all outstanding work */

/* data_path.c */
int hca_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int hca_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct hca_qp *hca_route(const union ibv_gid *gid, uint32_t qpn);   /* locked */
void hca_progress(struct hca_qp *sender);                           /* locked */
void hca_progress_peer(const struct hca_qp *receiver);              /* locked */
void hca_sent(struct hca_qp *qp, enum ibv_wc_status status);        /* locked: the send at the head has ended */

/* message.c; locked. The sum of the pieces, or -1 if one is not within a registered region. */
int64_t hca_resolve(const struct ibv_pd *pd, const struct ibv_sge *sge, int count, int access, struct hca_piece *pieces);
/* Whether a UD message with this key finds a receive. */
bool hca_takes_ud(const struct hca_qp *qp, uint32_t qkey);
/* Copies the message into the receive at the head and completes that; returns the status of an RC send. *lives: whether the
 * queue pair can go on; if not, the caller must fail it. */
enum ibv_wc_status hca_receive(struct hca_qp *to, const struct hca_incoming *message, bool *lives);

struct hca_parcel { /* a message in a list, with its payload behind it */
	struct hca_parcel *next;
	struct hca_message message;
	char payload[];
};

struct hca_parcels {
	struct hca_parcel *first, **last;
};

/* wire.c; the last four locked */
void hca_wire_start(void);
bool hca_wire_is_up(void); /* there are other processes */
struct hca_parcel *hca_parcel(size_t length); /* NULL: no memory is left */
void hca_append(struct hca_parcels *list, struct hca_parcel *parcel);
struct hca_parcel *hca_take(struct hca_parcels *list, struct hca_parcel **link); /* removes and returns *link */
void hca_wire_send(struct hca_parcel *parcel); /* frees the parcel later */

/* fabric.c; locked */
void hca_fabric_arrive(struct hca_parcel *parcel); /* frees the parcel later */
/* False: the send at the head cannot be read. */
bool hca_fabric_send_ud(struct hca_qp *qp);
bool hca_fabric_send_rc(struct hca_qp *qp);
void hca_fabric_retry(uint32_t qpn); /* the queue pair of this number may now take messages held for it, or has gone */

static inline struct hca_qp *hca_qp_of(struct ibv_qp *ibv)
{
	return HCA_CONTAINER(ibv, struct hca_qp, ibv);
}

static inline struct hca_cq *hca_cq_of(struct ibv_cq *ibv)
{
	return HCA_CONTAINER(ibv, struct hca_cq, ibv);
}

/* The n-th entry from the head, or the first free one at n == count. */
static inline unsigned hca_ring_slot(const struct hca_ring *ring, unsigned n)
{
	return (ring->head + n) % ring->capacity;
}

static inline void hca_ring_drop(struct hca_ring *ring)
{
	ring->head = (ring->head + 1) % ring->capacity;
	ring->count--;
}
