#!/bin/sh
# Installs from Debian what building (and, with the argument `test`, `browser`, `slurm`
# or `bench`, testing and measuring) photon needs and this machine lacks. Does nothing,
# quickly, if all is there.
set -eu

packages="gcc libc6-dev pkg-config libdpdk-dev"
case ${1:-build} in
build) ;;
test) packages="$packages ethtool iproute2 iputils-ping iperf3 tshark openssh-client openssh-server" ;;
browser) packages="$packages chromium" ;;
slurm) packages="$packages slurmctld slurmd slurm-client munge" ;;
bench) packages="$packages dpdk-dev openvswitch-switch-dpdk" ;; # dpdk-dev has dpdk-testpmd
*)
	echo "$0: no group of packages is called '$1': build, test, browser, slurm or bench" >&2
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
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
	echo "not root, and these packages are missing:$missing (apt-get install$missing)" >&2
	exit 2
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # words on purpose
apt-get install -y -qq --no-install-recommends $missing >/dev/null
