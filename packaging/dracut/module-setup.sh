#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Puts vmw_pvrdma into the initramfs image of a machine that has an adapter. Each image with the driver, also one that another
# program put in, gets the modules that must be loaded before the driver, so that udev finds them; modprobe.d is in every image.
# The module is the last of dracut's, so that it sees the files of the others; only the configured drivers come later.
# shellcheck disable=SC2154  # dracut sets the variables.

# Whether the image is for saving a crash dump: kdump-utils and kexec-tools (mkdumprd, mkfadumprd) set a variable, kdump-utils and
# SUSE's kdump add modules, and Ubuntu's kdump-tools and all the others give the image such a name.
pvrdma_for_kdump() {
	[[ ${IN_KDUMP-} == 1 || ${outfile-} == *kdump* ||
		" ${dracutmodules-} ${add_dracutmodules-} ${force_add_dracutmodules-} " =~ " "(kdumpbase|kdump|kdump-tools)" " ]]
}

# After a crash the driver would wait ten seconds for each command to the device. dracut ends with an error if a module that the
# administrator has named is missing, so then this module is present, but puts nothing into the image.
check() {
	if pvrdma_for_kdump; then
		# An administrator who names the driver means the images of boots. dracut would put it in here although kdump.conf omits it.
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

# Whether the image has the driver, or dracut will still put it in.
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
		# Without a name, as where an administrator has masked the file of modprobe.d, instmods reads names from standard input.
		# shellcheck disable=SC2046  # Each word is a module.
		hostonly='' instmods $(pvrdma_predecessors) </dev/null
	fi
	return 0
}

install() {
	if pvrdma_for_kdump; then return 0; fi
	# shellcheck source=packaging/initramfs/functions
	. /usr/share/pvrdma-agent/initramfs-functions
	pvrdma_put "$initdir"
	pvrdma_stamp_now >"$initdir$pvrdma_stamp"
	if pvrdma_driver_comes; then
		pvrdma_put_beside_driver "$initdir"
		# dracut puts /etc/modprobe.d only into images that are for one machine (hostonly); templates often have the other kind.
		local file
		while IFS= read -r file; do inst_simple "$file"; done < <(pvrdma_files_in /etc/modprobe.d)
	fi
	inst_hook pre-pivot 50 "$moddir/leave-note.sh"
}
