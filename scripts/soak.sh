#!/bin/sh
# Runs every fuzz target, the comparison of the switch with its reference, random experiments and networks, each on
# other seeds, and the tests on real frames and both worlds again and again, each for the given time (Go's notation: 10m).
set -eu
unset RAPID_SEED
span=${1:-1m}
here=$PWD

for package in $(go list ./...); do
	dir=$(go list -f '{{.Dir}}' "$package")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$dir"/*_test.go 2>/dev/null); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$span" -fuzzminimizetime 100x "$package"
	done
done
seconds=$(echo "$span" | sed 's/h/*3600/;s/m$/*60/;s/s$//')
# drawn runs tests that draw what they do, again and again: drawn PACKAGE TESTS CHECKS.
drawn() {
	echo "== $2"
	go test -c -o bin/drawn.test "./$1"
	end=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt "$end" ]; do
		seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
		echo "seed $seed"
		(cd "$1" && "$here"/bin/drawn.test -test.run "$2" -rapid.seed="$seed" -rapid.checks="$3" -rapid.nofailfile)
	done
}
drawn dataplane '^TestDifferential' 3000
drawn dataplane '^TestSpan$' 3000
drawn lab/build '^TestNetworksLoseNothing' 300
drawn lab/run '^TestRandom' 300
drawn lab/experiment '^TestDamaged' 5000
echo "== worlds and real frames"
go test -tags dpdk -c -o bin/photon.test ./cmd/photon
go test -tags dpdk -c -o bin/lab.test ./lab
end=$(($(date +%s) + seconds))
while [ "$(date +%s)" -lt "$end" ]; do
	(cd cmd/photon && ../../bin/photon.test)
	(cd lab && ../bin/lab.test -test.run TestWorldsAgree)
done
