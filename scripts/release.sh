#!/bin/sh
# Makes what a release consists of, in out/release/VERSION:
#
#   make release VERSION=1.0.0
#   make release VERSION=1.0.0 CONTAINER=no    # where no registry is reached
#
#   photon_1.0.0_amd64.deb                  switch, agent and simulator, with man pages, units and examples
#   photon-sim-1.0.0-linux-amd64, -arm64    the simulator alone: static, without DPDK, for any Linux
#   photon-1.0.0.oci.tar                    the container's image
#   photon-1.0.0.cdx.json                   what the program is made of (CycloneDX, scripts/sbom.sh)
#   SHA256SUMS
#
# The version must be numbers with dots, the tree must have nothing that is not committed, and CHANGELOG.md must
# have a heading of this version. The same commit gives the same bytes of all but the image.
set -eu
cd "$(dirname "$0")/.."

refuse() {
	echo "release: $*" >&2
	exit 2
}
version=${VERSION:-}
echo "$version" | grep -qxE '[0-9]+(\.[0-9]+){1,2}' || refuse "VERSION=\"$version\": numbers with dots, as in make release VERSION=1.0.0"
[ -z "$(git status --porcelain)" ] || refuse "the tree has changes that are not committed (git status)"
grep -qx "## $version" CHANGELOG.md || refuse "CHANGELOG.md has no heading \"## $version\""

out=out/release/$version
rm -rf "$out"
mkdir -p "$out"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
commit=$(git rev-parse --short=12 HEAD)

for arch in amd64 arm64; do
	CGO_ENABLED=0 GOARCH=$arch go build -trimpath -ldflags "-s -w -X main.version=$version -X main.commit=$commit" -o "$out/photon-sim-$version-linux-$arch" ./cmd/photon
done
mv "$(VERSION=$version deploy/debian/build.sh | tail -n 1)" "$out/"
scripts/sbom.sh "$version" "$out/photon-$version.cdx.json"
if [ "${CONTAINER:-yes}" != no ]; then
	buildah bud --timestamp "$SOURCE_DATE_EPOCH" --build-arg "VERSION=$version" --build-arg "COMMIT=$commit" -t "photon:$version" -f deploy/container/Containerfile .
	buildah push "photon:$version" "oci-archive:$out/photon-$version.oci.tar:photon:$version"
fi
(cd "$out" && sha256sum -- * >SHA256SUMS)
ls -l "$out"
