#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Puts vmw_pvrdma into the initramfs image of a machine that has an adapter. An image that has the driver, by whomever,
# gets what must be loaded before it as well, so that udev finds it there; modprobe.d is in every image.
# Last of dracut's modules, so that what the others put in is there; only the configured drivers come later.
# shellcheck disable=SC2154  # the variables are dracut's

# Whether the image is to save the dump of a crashed kernel: by the variable of kdump-utils and kexec-tools (mkdumprd, mkfadumprd),
# by the modules of kdump-utils and of SUSE's kdump, or by a name as Ubuntu's kdump-tools and all the others give it.
pvrdma_for_kdump() {
	[[ ${IN_KDUMP-} == 1 || ${outfile-} == *kdump* ||
		" ${dracutmodules-} ${add_dracutmodules-} ${force_add_dracutmodules-} " =~ " "(kdumpbase|kdump|kdump-tools)" " ]]
}

# A crash leaves the device as it was, and the driver would wait ten seconds for each command to it. Where an administrator has
# named the module, dracut would end with an error: there it is, and puts nothing in.
check() {
	if pvrdma_for_kdump; then
		# An administrator who names the driver does so for the images of boots; here dracut would take it although kdump.conf omits it.
		local list
		for list in drivers add_drivers force_drivers; do
			printf -v "$list" ' %s ' "${!list-}"
			printf -v "$list" %s "${!list// vmw_pvrdma / }"
		done
	fi
	[[ " ${dracutmodules-} ${add_dracutmodules-} ${force_add_dracutmodules-} " == *" pvrdma-agent "* ]] || ! pvrdma_for_kdump
}

depends() {
	return 0
}

# Whether the image has the driver, or will.
pvrdma_driver_comes() {
	[[ " $drivers $add_drivers $force_drivers " == *" vmw_pvrdma "* ]] || pvrdma_driver_in "$initdir" "$kernel" ||
		{ pvrdma_here && modinfo -k "$kernel" vmw_pvrdma &>/dev/null; }
}

installkernel() {
	if pvrdma_for_kdump; then return 0; fi
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
	if pvrdma_for_kdump; then return 0; fi
	# shellcheck source=packaging/initramfs/functions
	. /usr/share/pvrdma-agent/initramfs-functions
	pvrdma_put "$initdir"
	pvrdma_stamp_now >"$initdir$pvrdma_stamp"
	if pvrdma_driver_comes; then pvrdma_put_beside_driver "$initdir"; fi
	inst_hook pre-pivot 50 "$moddir/leave-note.sh"
}
