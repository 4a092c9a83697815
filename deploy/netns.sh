#!/bin/sh
# Four hosts and a switch on this machine: namespaces h0..h3 with eth0, joined
# to sw0..sw3 in the namespace sw. Offloads are off, so that frames are what a
# wire would carry.
#
#   deploy/netns.sh up
#   ip netns exec sw bin/photon switch -c deploy/switch.yaml
#   ip netns exec h2 bin/photon agent -c deploy/agent-h2.yaml     (each in a terminal of its own)
#   ip netns exec h0 bin/photon agent -c deploy/agent-h0.yaml
#   ip netns exec h1 bin/photon agent -c deploy/agent-h1.yaml
#   ip netns exec sw curl -s 127.0.0.1:9464/metrics | grep photon_
#   deploy/netns.sh down       (ends what runs in them, too)
set -eu

up() {
	for tool in ip ethtool; do
		command -v $tool >/dev/null || { echo "deploy/netns.sh needs $tool: apt-get install iproute2 ethtool" >&2; exit 2; }
	done
	ip netns add sw
	ip -n sw link set lo up
	for i in 0 1 2 3; do
		ip netns add h$i
		ip -n h$i link set lo up
		ip link add eth0 netns h$i type veth peer name sw$i netns sw
		for end in "h$i eth0" "sw sw$i"; do
			set -- $end
			ip -n "$1" link set "$2" up
			ip netns exec "$1" ethtool -K "$2" tx off tso off gso off gro off >/dev/null
		done
	done
}

running() {
	for n in h0 h1 h2 h3 sw; do
		ip netns pids $n 2>/dev/null || true
	done
}

down() {
	# A switch may take a second to run empty.
	pids=$(running)
	# shellcheck disable=SC2086 # words on purpose
	[ -z "$pids" ] || kill $pids 2>/dev/null || true
	for _ in $(seq 100); do
		[ -n "$(running)" ] || break
		sleep 0.1
	done
	pids=$(running | tr '\n' ' ')
	[ -z "$pids" ] || echo "deploy/netns.sh: these still run:" $pids >&2
	for n in h0 h1 h2 h3 sw; do
		ip netns del $n 2>/dev/null || true
	done
}

case "${1:-}" in
up) up ;;
down) down ;;
*) echo "usage: deploy/netns.sh up|down" >&2; exit 2 ;;
esac
