#!/bin/sh
# Makes the Debian package of photon from this clone, and prints its path:
#
#   make deb
#   make deb VERSION=1.0
#   DEBFULLNAME="A. Nother" DEBEMAIL=a.nother@example.org make deb
#
# The maintainer is who builds it, by DEBFULLNAME and DEBEMAIL as Debian's other
# tools have it. Without these nobody answers for what was built from a clone: the
# address is in .invalid, which never leads anywhere (RFC 2606), since policy wants one.
#
# The program, manual pages, completion for bash, zsh and fish, systemd's units,
# and examples of everything that deploy/ has. Which libraries it depends on,
# dpkg-shlibdeps finds out; DPDK's drivers, which are no libraries of the program,
# are named in control.
set -eu
cd "$(dirname "$0")/../.."

commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH # the same sources give the same package
maintainer="${DEBFULLNAME:-photon developers} <${DEBEMAIL:-photon@photon.invalid}>"
version=${VERSION:-0~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M).g$commit}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root share=$work/root/usr/share doc=$work/root/usr/share/doc/photon
mkdir -p "$work/debian" "$root/DEBIAN" "$root/etc/photon" "$root/usr/bin" "$root/lib/systemd/system" \
	"$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" \
	"$share/fish/vendor_completions.d" "$doc/examples" "$share/lintian/overrides"

go build -tags dpdk -trimpath -buildmode=pie -ldflags "-s -w -X main.version=$version -X main.commit=$commit -extldflags=-Wl,-z,relro,-z,now" -o "$root/usr/bin/photon" ./cmd/photon
photon=$root/usr/bin/photon

"$photon" man "$share/man/man1"
"$photon" completion bash >"$share/bash-completion/completions/photon"
"$photon" completion zsh >"$share/zsh/vendor-completions/_photon"
"$photon" completion fish >"$share/fish/vendor_completions.d/photon.fish"
for unit in deploy/systemd/*.service; do
	sed 's,/usr/local/bin/photon ,/usr/bin/photon ,; s,docs/operate.md tells.*,/usr/share/doc/photon/operate.md tells more.,' "$unit" >"$root/lib/systemd/system/$(basename "$unit")"
done

cp docs/*.md "$doc/"
for example in deploy/*.yaml deploy/netns.sh deploy/demo deploy/prometheus deploy/grafana deploy/testbed-82599 deploy/kubernetes; do
	[ "$example" = deploy/compose.yaml ] || cp -R "$example" "$doc/examples/"
done
cp -R docs/examples "$doc/examples/experiments"
# Outside a clone photon is on the path, and files are where they are.
grep -rlE 'bin/photon|deploy/' "$doc/examples" | xargs sed -i 's,bin/photon,photon,g; s,deploy/,,g'
cp deploy/debian/copyright "$doc/copyright"
go list -tags dpdk -deps -f '{{with .Module}}{{if .Version}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/photon | sort -u |
	while read -r module release dir; do
		echo "== $module $release"
		find "$dir" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' \) | sort | xargs cat
	done >"$doc/licenses"

cat >"$work/debian/changelog" <<END
photon ($version) unstable; urgency=medium

  * Built from the commit $commit.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
cp "$work/debian/changelog" "$doc/changelog"
cp deploy/debian/lintian-overrides "$share/lintian/overrides/photon"
gzip -9n "$doc/licenses" "$doc/changelog" "$share"/man/man1/*

sed "s,@MAINTAINER@,$maintainer," deploy/debian/control >"$work/debian/control"
for script in postinst postrm; do
	cat >"$root/DEBIAN/$script" <<'END'
#!/bin/sh
set -e
# The units may have changed. Nothing is started: there is no switch without its file.
if [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
fi
END
done
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod 644 {} +
find "$root" -name '*.sh' -exec chmod 755 {} +
chmod 755 "$photon" "$root/DEBIAN/postinst" "$root/DEBIAN/postrm"
(
	cd "$work"
	dpkg-shlibdeps "$photon"
	(cd root && find usr lib -type f -print0 | sort -z | xargs -0 md5sum) >root/DEBIAN/md5sums
	dpkg-gencontrol -P"$root"
)
package=bin/photon_${version}_$(dpkg --print-architecture).deb
mkdir -p bin
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
