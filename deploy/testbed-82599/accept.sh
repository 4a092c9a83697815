#!/bin/sh
# An acceptance run of network cards, for photon: docs/operate.md says who, how and what comes of it. As root:
#
#   accept.sh FILE         runs it on ports that DPDK has already, and packs what came of it
#   accept.sh --bind FILE  gives ports that the kernel has to vfio-pci before, and back to their drivers afterwards
#
# With --only STEP, once or more often, it does that stage or step alone: accept.sh FILE --only pacing.
# It says what it will do to the cards before it does it. Exit code 0: nothing failed; 1: something did; 2: bad input,
# nothing was started. PHOTON names the program, if it is not bin/photon of this clone or in the PATH.
set -u

here=$(dirname "$0")
photon=${PHOTON:-}
if [ -z "$photon" ]; then
	photon=photon
	if [ -x "$here/../../bin/photon" ]; then photon=$here/../../bin/photon; fi
fi
pci=/sys/bus/pci

refuse() { echo "accept.sh: $*" >&2; exit 2; }

bind=no
if [ "${1:-}" = --bind ]; then bind=yes; shift; fi
usage='usage: accept.sh [--bind] FILE [--only STEP]... (accept.yaml beside it is an example)'
file=
next=file
for word; do
	case $next:$word in
	step:*) next=file ;;
	file:--only) next=step ;;
	file:-*) refuse "$usage" ;;
	*)
		[ -z "$file" ] || refuse "$usage: one file"
		file=$word
		;;
	esac
done
if [ -z "$file" ] || [ $next = step ]; then refuse "$usage"; fi
command -v "$photon" >/dev/null || refuse "there is no photon: make build, or PHOTON=/path/to/photon"
plan=$("$photon" check "$file") || exit 2
ports=$("$photon" accept --ports "$@") || exit 2

driver() { basename "$(readlink "$pci/devices/$1/driver" 2>/dev/null || echo none)"; }

# Cards that DPDK cannot have yet, with the drivers that have them.
held=
for port in $ports; do
	case $port in
	net_* | virtio_user*) continue ;;
	esac
	[ -e "$pci/devices/$port" ] || refuse "$file: there is no card $port (lspci -D lists them)"
	with=$(driver "$port")
	case $with in
	vfio-pci | igb_uio | uio_pci_generic | mlx*) continue ;;
	esac
	for net in "$pci/devices/$port/net/"*; do
		[ -e "$net/flags" ] || continue
		[ $(($(cat "$net/flags") & 1)) -eq 0 ] || refuse "$port is the interface ${net##*/}, which is up: ip link set ${net##*/} down, if nobody needs it"
	done
	[ $bind = yes ] || refuse "$port is with $with: accept.sh --bind has vfio-pci take it for the run, or dpdk-devbind.py --bind=vfio-pci $port for longer"
	held="$held $port=$with"
done

# give has a driver take a card; none: nobody.
give() {
	if [ "$(driver "$1")" != none ]; then echo "$1" >"$pci/devices/$1/driver/unbind"; fi
	if [ "$2" = vfio-pci ]; then echo vfio-pci >"$pci/devices/$1/driver_override"; else echo >"$pci/devices/$1/driver_override"; fi
	if [ "$2" = none ]; then return; fi
	echo "$1" >"$pci/drivers/$2/bind" 2>/dev/null || [ "$(driver "$1")" = "$2" ]
}

taken=
give_back() {
	for pair in $taken; do
		echo "accept.sh: ${pair%%=*} goes back to ${pair#*=}"
		give "${pair%%=*}" "${pair#*=}" || echo "accept.sh: ${pair#*=} did not take ${pair%%=*}" >&2
	done
}

child=
interrupted() {
	[ -z "$child" ] || { kill -TERM "$child" 2>/dev/null; wait "$child"; }
	give_back
	[ ! -d "$name" ] || echo "accept.sh: interrupted; $name has what there is so far" >&2
	exit 1
}
name=photon-accept-$(uname -n | tr -dc A-Za-z0-9.-)-$(date -u +%Y%m%d-%H%M%S)
trap interrupted INT TERM HUP

echo "$plan"
if [ -n "$held" ]; then modprobe vfio-pci || refuse "the kernel has no vfio-pci"; fi
for pair in $held; do
	echo "accept.sh: ${pair%%=*} is with ${pair#*=}; vfio-pci takes it now, and ${pair#*=} has it back at the end"
	taken="$taken $pair"
	give "${pair%%=*}" vfio-pci || { give_back; refuse "vfio-pci does not take ${pair%%=*}: is the IOMMU on (intel_iommu=on)?"; }
done
if [ -z "$held" ]; then echo "accept.sh: the ports stay with the drivers that have them"; fi

mkdir "$name" || { give_back; refuse "the archive is made in the working folder, which cannot be written"; }

# What the machine is.
about() { # about NAME COMMAND...: what it prints, if it is here
	to=$name/$1
	shift
	"$@" >"$to" 2>&1 || echo "($* failed)" >>"$to"
}
cp "$file" "$name/accept.yaml"
about version.txt "$photon" version
about kernel.txt uname -a
about cmdline.txt cat /proc/cmdline
about cpu.txt cat /proc/cpuinfo
about memory.txt cat /proc/meminfo
about hugepages.txt grep -r . /sys/kernel/mm/hugepages
about lspci.txt lspci -Dnn
for port in $ports; do
	[ -e "$pci/devices/$port" ] || continue
	{
		echo "driver $(driver "$port")"
		for what in vendor device subsystem_vendor subsystem_device revision numa_node current_link_speed current_link_width; do
			[ ! -r "$pci/devices/$port/$what" ] || echo "$what $(cat "$pci/devices/$port/$what")"
		done
		lspci -vvv -D -s "$port" 2>&1
	} >"$name/card-$port.txt"
done

"$photon" accept "$@" --out "$name/run" 2>"$name/accept.stderr" &
child=$!
wait "$child"
code=$?
child=
cat "$name/accept.stderr" >&2
give_back
if [ $code -eq 2 ]; then
	rm -r "$name"
	exit 2
fi
tar czf "$name.tar.gz" "$name" && rm -r "$name"
echo "accept.sh: $name.tar.gz is what to send back"
exit $code
