//go:build deb

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The Debian package: lintian finds no error in it, manual pages are right, it
// depends on the drivers of the container's image too, and it can be installed,
// used, and removed without a trace. Nothing is installed on this machine: dpkg runs in
// a view of it, what is written there is in memory.
func TestPackage(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	command := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = root
		c.Env = append(os.Environ(), "VERSION=0~test", "DEBFULLNAME=A. Nother", "DEBEMAIL=a.nother@photon.invalid")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	lines := strings.Fields(command("deploy/debian/build.sh"))
	deb := filepath.Join(root, lines[len(lines)-1])
	defer os.Remove(deb)

	t.Log(command("lintian", "--allow-root", "--fail-on", "error", deb))
	content := command("dpkg-deb", "-c", deb)
	for _, want := range []string{
		"./usr/bin/photon", "./etc/photon/", "./lib/systemd/system/photon-switch@.service", "./lib/systemd/system/photon-agent@.service",
		"./usr/share/bash-completion/completions/photon", "./usr/share/zsh/vendor-completions/_photon", "./usr/share/fish/vendor_completions.d/photon.fish",
		"./usr/share/man/man1/photon.1.gz", "./usr/share/man/man1/photon-switch.1.gz", "./usr/share/doc/photon/copyright", "./usr/share/doc/photon/licenses.gz",
		"./usr/share/doc/photon/examples/switch.yaml", "./usr/share/doc/photon/examples/netns.sh", "./usr/share/doc/photon/operate.md",
	} {
		if !strings.Contains(content, " "+want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}

	fields := command("dpkg-deb", "-f", deb, "Depends", "Recommends")
	image, err := os.ReadFile(filepath.Join(root, "deploy/container/Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range regexp.MustCompile(`librte-[\w-]+`).FindAllString(string(image), -1) {
		if !regexp.MustCompile(p + `[ ,\n]`).MatchString(fields) {
			t.Errorf("%s is in the container's image and no dependency:\n%s", p, fields)
		}
	}
	if !regexp.MustCompile(`libc6 \(>= [0-9.]+\), librte-eal23 \(>= 22`).MatchString(fields) {
		t.Errorf("dependencies on libraries: %s", fields)
	}

	if m := command("dpkg-deb", "-f", deb, "Maintainer"); m != "A. Nother <a.nother@photon.invalid>\n" {
		t.Errorf("maintainer %q", m)
	}

	dir := t.TempDir()
	command("dpkg-deb", "-x", deb, dir)
	pages, err := filepath.Glob(filepath.Join(dir, "usr/share/man/man1/*.gz"))
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	command("gunzip", pages...)
	for i := range pages {
		pages[i] = strings.TrimSuffix(pages[i], ".gz")
	}
	command("mandoc", append([]string{"-T", "lint", "-W", "error"}, pages...)...)
	if out := command("man", "-l", filepath.Join(dir, "usr/share/man/man1/photon-switch.1")); !strings.Contains(strings.Join(strings.Fields(out), " "), "Be a lossless switch. A port is a network card") {
		t.Errorf("man says\n%s", out)
	}

	out := command("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-ec", inView, "sh", deb, t.TempDir())
	for _, want := range []string{"photon 0~test", "\npcn ", "status=install ok installed", "gone\n", "sw runs"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
	if !strings.HasSuffix(out, "\nleft:\nend\n") {
		t.Errorf("something is left after removal:\n%s", out)
	}
}

// $1 is the package, $2 a folder for the view.
const inView = `exec 2>&1
mount -t tmpfs view "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o lowerdir=/,upperdir="$2/upper",workdir="$2/work" overlay "$2/root"
cp "$1" "$2/root/photon.deb"
mount -t proc proc "$2/root/proc"
mount -t tmpfs run "$2/root/run"
mount --bind /dev "$2/root/dev"
chroot "$2/root" sh -ec '
apt-get install -y /photon.deb
cd /
echo "status=$(dpkg-query -W -f "\${Status}" photon)"
photon version
photon list schemes
photon replay pcn/fig11 --schemes pcn --quick --out /tmp/photon-out
systemd-analyze verify --man=no /lib/systemd/system/photon-switch@.service 2>&1 | if grep photon; then exit 1; fi
cd /usr/share/doc/photon/examples
photon check *.yaml demo/*.yaml experiments/*.yaml
./netns.sh up
install -m 600 /usr/share/doc/photon/examples/switch.yaml /etc/photon/sw.yaml
ip netns exec sw photon switch -c /etc/photon/sw.yaml >/tmp/photon.log 2>&1 &
turns=0
until photon show ports --name sw; do
	turns=$((turns + 1))
	[ $turns -lt 600 ] || { cat /tmp/photon.log; exit 1; }
	sleep 0.1
done
photon top --once --name sw
./netns.sh down
wait
cat /tmp/photon.log
rm /etc/photon/sw.yaml
dpkg --purge photon
test -e /usr/bin/photon || echo gone
'
echo left:
find "$2/upper" -type f -path "*photon*" ! -path "$2/upper/tmp/*" ! -path "$2/upper/photon.deb"
echo end
`
