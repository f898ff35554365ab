#!/bin/bash
# Puts vmw_pvrdma into the initramfs image of a machine that has an adapter. An image that has the driver, by whomever,
# gets what must be loaded before it as well, so that udev finds it there; modprobe.d is in every image.
# Last of dracut's modules, so that what the others put in is there; only the configured drivers come later.

check() {
	return 0
}

depends() {
	return 0
}

# Whether the image has the driver, or will.
pvrdma_driver_comes() {
	# shellcheck disable=SC2154  # dracut's
	[[ " $drivers $add_drivers $force_drivers " == *" vmw_pvrdma "* ]] || pvrdma_driver_in "$initdir" "$kernel" ||
		{ pvrdma_here && modinfo -k "$kernel" vmw_pvrdma &>/dev/null; }
}

installkernel() {
	# shellcheck source=packaging/initramfs/functions
	. /usr/share/pvrdma-agent/initramfs-functions
	if pvrdma_here; then hostonly='' instmods vmw_pvrdma; fi
	if pvrdma_driver_comes; then
		# shellcheck disable=SC2046  # one word a module
		hostonly='' instmods $(pvrdma_predecessors)
	fi
	return 0
}

install() {
	# shellcheck source=packaging/initramfs/functions
	. /usr/share/pvrdma-agent/initramfs-functions
	mkdir -p "$initdir${pvrdma_note%/*}"
	: >"$initdir$pvrdma_note"
	if pvrdma_driver_comes; then pvrdma_configuration >"$initdir$pvrdma_note"; fi
	# shellcheck disable=SC2154  # dracut's
	inst_hook pre-pivot 50 "$moddir/leave-note.sh"
}
