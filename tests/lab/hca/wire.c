// SPDX-License-Identifier: GPL-2.0-or-later
/* The socket to the lab that carries messages to and from other QEMU processes, and a thread for each direction.
 * Without PVRDMA_HCA_FABRIC, the socket's path, there are no other processes. */
#include "hca.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct hca_parcels outgoing = { NULL, &outgoing.first };
static pthread_cond_t something_to_send = PTHREAD_COND_INITIALIZER;
static int wire = -1;

void hca_append(struct hca_parcels *list, struct hca_parcel *parcel)
{
	parcel->next = NULL;
	*list->last = parcel;
	list->last = &parcel->next;
}

struct hca_parcel *hca_take(struct hca_parcels *list, struct hca_parcel **link)
{
	struct hca_parcel *parcel = *link;

	*link = parcel->next;
	if (!parcel->next)
		list->last = link;
	return parcel;
}

static bool transfer(ssize_t (*step)(void *at, size_t length), void *data, size_t length)
{
	for (char *at = data; length;) {
		ssize_t done = step(at, length);

		if (done <= 0)
			return false;
		at += done;
		length -= (size_t)done;
	}
	return true;
}

static ssize_t write_some(void *at, size_t length)
{
	return send(wire, at, length, MSG_NOSIGNAL);
}

static ssize_t read_some(void *at, size_t length)
{
	return recv(wire, at, length, 0);
}

static void *write_outgoing(void *unused)
{
	bool written = true;

	while (written) {
		struct hca_parcel *parcel;

		pthread_mutex_lock(&hca_lock);
		while (!outgoing.first)
			pthread_cond_wait(&something_to_send, &hca_lock);
		parcel = hca_take(&outgoing, &outgoing.first);
		pthread_mutex_unlock(&hca_lock);
		written = transfer(write_some, &parcel->message, sizeof parcel->message + parcel->message.length);
		free(parcel);
	}
	hca_log("the lab takes no more messages");
	return unused;
}

struct hca_parcel *hca_parcel(size_t length)
{
	struct hca_parcel *parcel = calloc(1, sizeof *parcel + length);

	if (parcel)
		parcel->message.length = (uint32_t)length;
	return parcel;
}

void hca_wire_send(struct hca_parcel *parcel)
{
	hca_append(&outgoing, parcel);
	pthread_cond_signal(&something_to_send);
}

bool hca_wire_is_up(void)
{
	return wire >= 0;
}

static void *read_incoming(void *unused)
{
	struct hca_message message;

	while (transfer(read_some, &message, sizeof message) && message.length <= HCA_LONGEST_MESSAGE) {
		struct hca_parcel *parcel = hca_parcel(message.length);

		if (!parcel || !transfer(read_some, parcel->payload, message.length)) {
			free(parcel);
			break;
		}
		parcel->message = message;
		pthread_mutex_lock(&hca_lock);
		hca_fabric_arrive(parcel);
		pthread_mutex_unlock(&hca_lock);
	}
	hca_log("nothing more comes from the lab");
	return unused;
}

void hca_wire_start(void)
{
	const char *path = getenv("PVRDMA_HCA_FABRIC");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t reader, writer;

	if (!path || strlen(path) >= sizeof address.sun_path)
		return;
	strcpy(address.sun_path, path);
	wire = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (wire < 0 || connect(wire, (const struct sockaddr *)&address, sizeof address) ||
	    pthread_create(&reader, NULL, read_incoming, NULL) || pthread_create(&writer, NULL, write_outgoing, NULL)) {
		hca_log("no way to %s: there are no other guests", path);
		wire = -1;
	}
}
