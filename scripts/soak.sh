#!/bin/sh
# Runs every fuzz target, and the tests on real frames and both worlds again and
# again, each for the given time (Go's notation: 10m).
set -eu
span=${1:-1m}

for package in $(go list ./...); do
	dir=$(go list -f '{{.Dir}}' "$package")
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$dir"/*_test.go 2>/dev/null); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$span" -fuzzminimizetime 100x "$package"
	done
done
echo "== worlds and real frames"
go test -tags dpdk -c -o bin/photon.test ./cmd/photon
go test -tags dpdk -c -o bin/lab.test ./lab
end=$(($(date +%s) + $(echo "$span" | sed 's/h/*3600/;s/m$/*60/;s/s$//')))
while [ "$(date +%s)" -lt "$end" ]; do
	(cd cmd/photon && ../../bin/photon.test)
	(cd lab && ../bin/lab.test -test.run TestWorldsAgree)
done
