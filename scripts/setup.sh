#!/bin/sh
# Installs from Debian what building (and, with the argument `test`, `browser`,
# `slurm`, `bench`, `deb`, `container`, `arm64`, `e1000e` or `rxe`, testing and measuring) photon needs and this machine
# lacks. Does nothing, quickly, if all is there.
set -eu

packages="gcc libc6-dev pkg-config libdpdk-dev"
case ${1:-build} in
build) ;;
test) packages="$packages curl ethtool iproute2 iputils-ping iputils-tracepath traceroute iperf3 lldpad lldpd nfdump nfdump-sflow procps tshark dpdk-dev systemd prometheus openssh-client openssh-server" ;; # dpdk-dev has dpdk-testpmd
browser) packages="$packages chromium ethtool iproute2" ;;
slurm) packages="$packages slurmctld slurmd slurm-client munge" ;;
bench) packages="$packages dpdk-dev openvswitch-switch-dpdk" ;;
deb) packages="$packages binutils dpkg-dev lintian mandoc man-db ethtool iproute2" ;;
container) packages="$packages buildah mmdebstrap curl ethtool iproute2 iputils-ping" ;;
arm64) packages="$packages qemu-user-static" ;;
e1000e) packages="$packages iputils-ping qemu-system-x86 busybox-static cpio kmod xz-utils" ;;
rxe) packages="$packages dpdk-dev iproute2 iputils-ping tshark qemu-system-x86 busybox-static cpio kmod xz-utils rdma-core ibverbs-providers ibverbs-utils libibverbs-dev rdmacm-utils perftest" ;;
*)
	echo "$0: no group of packages is called '$1': build, test, browser, slurm, bench, deb, container, arm64, e1000e or rxe" >&2
	exit 2
	;;
esac

missing=""
for p in $packages; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $p"
done
if ! command -v go >/dev/null; then
	echo "photon needs Go $(sed -n 's/^go //p' go.mod) or later: https://go.dev/dl" >&2
	exit 2
fi
if [ -n "$missing" ]; then
	if [ "$(id -u)" -ne 0 ]; then
		echo "not root, and these packages are missing:$missing (apt-get install$missing)" >&2
		exit 2
	fi
	echo "installing$missing"
	export DEBIAN_FRONTEND=noninteractive
	# Nothing is started: tests and documents start what they need, where they need it.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		trap 'rm -f $policy' EXIT
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	apt-get update -qq
	# shellcheck disable=SC2086 # words on purpose
	apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

# The kernel of the guests, unpacked and not installed: bin/guest has it.
case ${1:-build} in
e1000e | rxe)
	guest=$(dirname "$0")/../bin/guest
	ls "$guest"/boot/vmlinux-* >/dev/null 2>&1 && exit 0
	echo "fetching Debian's kernel"
	rm -rf "$guest"
	mkdir -p "$guest"
	cd "$guest"
	package=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	apt-get download -qq -o APT::Sandbox::User=root "$package"
	dpkg-deb -x "$package"_*.deb .
	rm "$package"_*.deb
	# vmlinuz is a small program, and the kernel packed by xz somewhere in it.
	at=$(LC_ALL=C grep -obUaP '\xfd7zXZ\x00' boot/vmlinuz-* | head -n 1 | cut -d: -f1)
	tail -c "+$((at + 1))" boot/vmlinuz-* | xz -dc --single-stream >vmlinux
	mv vmlinux "boot/vmlinux-${package#linux-image-}"
;;
esac
