#!/bin/sh
# Writes what the program is made of, as CycloneDX: scripts/sbom.sh 1.0.0 FILE. It is the program with DPDK, which has
# all that the simulator has. The same commit gives the same bytes.
#
# The tool takes the version from git's tags. A release need not have one yet, so it works on a clone that has.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/photon"
git -C "$work/photon" -c advice.detachedHead=false checkout -q "$(git rev-parse HEAD)"
git -C "$work/photon" tag "v$1"
GOFLAGS=-tags=dpdk go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0 app -json -licenses -std -noserial -notimestamp -main cmd/photon -output "$work/parts.json" "$work/photon"
mv "$work/parts.json" "$2"
