// SPDX-License-Identifier: GPL-2.0-or-later
/* Port state and GID table are read from files at each query, so that a test controls the host's side of the port.
 * A file that cannot be read fails the query, like a device that does not answer. */
#include "hca.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Callers whose context is not "extended", like that of this library, pass the structure without these last fields. */
enum { COMPAT_PORT_ATTR_BYTES = offsetof(struct ibv_port_attr, port_cap_flags2) };
_Static_assert(COMPAT_PORT_ATTR_BYTES == 48, "the old ibv_port_attr ends before port_cap_flags2");

static FILE *open_port_file(const struct hca_device *device, const char *kind)
{
	const char *directory = getenv("PVRDMA_HCA_DIR");
	char path[4096];
	int length = snprintf(path, sizeof path, "%s/%u.%s", directory ? directory : ".", device->index, kind);

	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

HCA_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr attr = {
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_1024,
		.gid_tbl_len = HCA_GID_ENTRIES,
		.max_msg_sz = 1u << 30,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = 2, /* 4X */
		.active_speed = 32, /* EDR */
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
	unsigned state, phys;
	FILE *file;
	int fields;

	if (port != 1)
		return EINVAL;
	file = open_port_file(hca_device_of(context), "port");
	if (!file)
		return EIO;
	fields = fscanf(file, "%u %u", &state, &phys);
	fclose(file);
	if (fields != 2 || state > IBV_PORT_ACTIVE_DEFER || phys > 7)
		return EIO;
	attr.state = (enum ibv_port_state)state;
	attr.phys_state = (uint8_t)phys;
	memcpy(compat, &attr, COMPAT_PORT_ATTR_BYTES);
	return 0;
}

bool hca_port_gid(const struct hca_device *device, int index, union ibv_gid *gid)
{
	FILE *file;
	bool found;

	if (index < 0 || index >= HCA_GID_ENTRIES)
		return false;
	file = open_port_file(device, "gids");
	if (!file)
		return false;
	found = fseek(file, (long)index * (long)sizeof *gid, SEEK_SET) == 0 && fread(gid, sizeof *gid, 1, file) == 1;
	fclose(file);
	return found;
}

bool hca_port_has_gid(const struct hca_device *device, const union ibv_gid *gid)
{
	static const union ibv_gid none;
	union ibv_gid entries[HCA_GID_ENTRIES];
	FILE *file;
	size_t count;

	if (!memcmp(gid, &none, sizeof none))
		return false;
	file = open_port_file(device, "gids");
	if (!file)
		return false;
	count = fread(entries, sizeof entries[0], HCA_GID_ENTRIES, file);
	fclose(file);
	for (size_t i = 0; i < count; i++)
		if (!memcmp(&entries[i], gid, sizeof *gid))
			return true;
	return false;
}

HCA_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	if (port != 1 || !hca_port_gid(hca_device_of(context), index, gid)) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}
