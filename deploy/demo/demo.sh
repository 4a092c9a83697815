#!/bin/sh
# A switch, two hosts that send and one that receives, on this machine, until
# Ctrl-C: what Prometheus, Grafana and `photon top` have something to show of.
# Needs root, ip and ethtool. PHOTON says where photon is.
#
#   deploy/demo/demo.sh &
#   bin/photon top --name demo-sw
#   curl -s 127.0.0.1:9464/metrics | grep photon_
#
# Hosts and switch are joined by pairs of the kernel's interfaces, h0-sw0 and so
# on. None has an address: all that goes over them is photon's.
set -eu

photon=${PHOTON:-bin/photon}
here=$(dirname "$0")

pids="" status=0
down() {
	trap - EXIT INT TERM
	for pid in $pids; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $pids; do
		wait "$pid" || status=1 # it says what went wrong: a frame was lost
	done
	for i in 0 1 2; do
		ip link del "sw$i" 2>/dev/null || true
	done
}
trap down EXIT
trap 'down; exit $status' INT TERM

for i in 0 1 2; do
	ip link add "h$i" type veth peer name "sw$i"
	for end in "h$i" "sw$i"; do
		ip link set "$end" addrgenmode none 2>/dev/null || true # a kernel without IPv6 has none
		ip link set "$end" up
		# Frames are to be what a wire would carry.
		ethtool -K "$end" tx off tso off gso off gro off >/dev/null
	done
done

for node in switch h2 h0 h1; do
	command=agent
	[ "$node" = switch ] && command=switch
	"$photon" "$command" -c "$here/$node.yaml" &
	pids="$pids $!"
done

# If one of them ends, so does the demo.
while sleep 1; do
	for pid in $pids; do
		kill -0 "$pid" 2>/dev/null || { echo "demo: a photon has ended" >&2; exit 1; }
	done
done
