#!/bin/sh
# Makes a machine of the testbed ready for DPDK, once after each start: huge pages,
# and the ports of its 82599 cards (PCI 8086:10fb) with vfio-pci. As root:
#
#   prepare.sh              shows the cards and what would be bound
#   prepare.sh bind ADDR... binds these, as 0000:03:00.0 0000:03:00.1
#   prepare.sh unbind       gives all of them back to the kernel
set -eu

cards() { lspci -Dn -d 8086:10fb | cut -d' ' -f1; }

case "${1:-show}" in
show)
	for a in $(cards); do
		driver=$(basename "$(readlink "/sys/bus/pci/devices/$a/driver" 2>/dev/null || echo none)")
		echo "$a driver $driver numa $(cat "/sys/bus/pci/devices/$a/numa_node")"
	done
	;;
bind)
	shift
	[ $# -gt 0 ] || { echo "usage: prepare.sh bind ADDR..." >&2; exit 2; }
	echo 1024 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
	mountpoint -q /dev/hugepages || mount -t hugetlbfs nodev /dev/hugepages
	modprobe vfio-pci
	dpdk-devbind.py --bind=vfio-pci "$@"
	;;
unbind)
	for a in $(cards); do dpdk-devbind.py --bind=ixgbe "$a"; done
	;;
*)
	echo "usage: prepare.sh [show | bind ADDR... | unbind]" >&2
	exit 2
	;;
esac
