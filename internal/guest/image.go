//go:build e1000e || rxe

package guest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Image is what a guest boots.
type Image struct {
	Kernel string // vmlinux: unpacking vmlinuz takes a guest longer than all else
	Initrd string // initramfs, unpacked too
}

// kernelDir is where `scripts/setup.sh e1000e` (or `rxe`) puts Debian's kernel package.
const kernelDir = "../../bin/guest"

// Contents is what an image has, in addition to busybox.
type Contents struct {
	Modules  []string            // of the kernel, and what they depend on
	Programs []string            // of this machine, and the libraries they load
	Sources  map[string][]string // programs that the guest only has, by their names: C files in testdata, and what these are linked with
	Files    []string            // the same, by their paths: libraries that programs look for while they run, with what these load
	Drivers  []string            // DPDK's plugins; with any, photon is there, too
}

// shellModules are what the shell of a guest needs.
var shellModules = []string{"virtio_pci", "virtio_console"}

// initScript is the first program of a guest. A shell on a virtio port does what
// the test says. (A serial line would do, were it not for interrupts lost now and
// then behind QEMU's IOMMU.)
const initScript = `#!/usr/bin/busybox sh
/usr/bin/busybox mkdir -p /proc /sys /dev /tmp /run /etc /var
/usr/bin/busybox --install -s /usr/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/hugepages
mount -t hugetlbfs none /dev/hugepages
ip link set lo up
modprobe virtio_pci
modprobe virtio_console
until [ -c /dev/vport0p1 ] && ( : 3<>/dev/vport0p1 ) 2>/dev/null; do sleep 0.1; done
exec 3<>/dev/vport0p1
echo ready >&3
cat <&3 | sh >&3 2>/dev/console # of a pipe: it does not talk
`

// Build makes an image.
func Build(t testing.TB, what Contents) Image {
	t.Helper()
	kernels, _ := filepath.Glob(filepath.Join(kernelDir, "boot", "vmlinux-*"))
	if len(kernels) != 1 {
		t.Fatalf("%d kernels in %s: run scripts/setup.sh with the name of the test", len(kernels), kernelDir)
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	for _, d := range []string{"usr/bin", "usr/sbin", "usr/lib", "usr/lib64"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	b := builder{t: t, root: root}
	b.program("busybox")
	for _, p := range what.Programs {
		b.program(p)
	}
	for name, from := range what.Sources {
		to := filepath.Join(root, "usr/bin", name)
		b.command("gcc", append([]string{"-Wall", "-Werror", "-O2", "-o", to}, from...)...)
		b.libraries(to)
	}
	for _, f := range what.Files {
		b.same(f)
		b.libraries(f)
	}
	if len(what.Drivers) > 0 {
		b.command("go", "build", "-tags", "dpdk", "-ldflags=-s -w", "-o", filepath.Join(root, "usr/bin/photon"), "../../cmd/photon")
		b.libraries(filepath.Join(root, "usr/bin/photon"))
		b.plugins(what.Drivers)
	}
	b.modules(strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinux-"), append(what.Modules, shellModules...))
	if err := os.WriteFile(filepath.Join(root, "init"), []byte(initScript), 0o755); err != nil {
		t.Fatal(err)
	}
	initrd := filepath.Join(dir, "initrd")
	b.command("sh", "-c", fmt.Sprintf("cd %s && find . | cpio --quiet -o -H newc -R 0:0 >%s", root, initrd))
	return Image{Kernel: kernels[0], Initrd: initrd}
}

// builder fills the root directory of a guest.
type builder struct {
	t    testing.TB
	root string
}

func (b builder) command(name string, args ...string) string {
	b.t.Helper()
	c := exec.Command(name, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		b.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// same puts a file of this machine at the same place in the guest. A link stays
// one: DPDK would load a driver twice that it finds in two files.
func (b builder) same(path string) {
	b.t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		b.t.Fatal(err)
	}
	path = filepath.Join(dir, filepath.Base(path))
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.copy(real, real)
	if to := filepath.Join(b.root, path); path != real {
		err := os.MkdirAll(filepath.Dir(to), 0o755)
		if err == nil {
			err = os.Symlink(real, to)
		}
		if err != nil && !os.IsExist(err) {
			b.t.Fatal(err)
		}
	}
}

// copy puts a file of this machine at a place in the guest, once.
func (b builder) copy(from, to string) {
	b.t.Helper()
	to = filepath.Join(b.root, to)
	if _, err := os.Stat(to); err == nil {
		return
	}
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, content, 0o755)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b builder) program(name string) {
	b.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		b.t.Fatalf("%v: run scripts/setup.sh with the name of the test", err)
	}
	b.same(path)
	b.libraries(path)
}

// libraries copies what the dynamic linker loads for a program.
func (b builder) libraries(path string) {
	b.t.Helper()
	out, err := exec.Command("ldd", path).CombinedOutput()
	if err != nil {
		if bytes.Contains(out, []byte("not a dynamic executable")) {
			return
		}
		b.t.Fatalf("ldd %s: %v\n%s", path, err, out)
	}
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "/") {
				b.same(word)
			}
		}
	}
}

// plugins copies drivers to where DPDK looks for them.
func (b builder) plugins(drivers []string) {
	b.t.Helper()
	for _, d := range drivers {
		found, _ := filepath.Glob("/usr/lib/*/dpdk/pmds-*/librte_" + d + ".so.*")
		if len(found) == 0 {
			b.t.Fatalf("DPDK's driver %s is not here", d)
		}
		for _, f := range found {
			b.same(f)
		}
		b.libraries(found[0])
	}
}

// modules copies the kernel's modules, and says what depends on what.
func (b builder) modules(version string, modules []string) {
	b.t.Helper()
	b.command("depmod", "-b", kernelDir, version)
	from := filepath.Join(kernelDir, "lib/modules", version)
	list, err := os.ReadFile(filepath.Join(from, "modules.dep"))
	if err != nil {
		b.t.Fatal(err)
	}
	found := 0
	for s := bufio.NewScanner(bytes.NewReader(list)); s.Scan(); {
		file, needs, _ := strings.Cut(s.Text(), ":")
		if !slices.Contains(modules, strings.TrimSuffix(filepath.Base(file), ".ko")) {
			continue
		}
		found++
		for _, f := range append(strings.Fields(needs), file) {
			b.copy(filepath.Join(from, f), filepath.Join("usr/lib/modules", version, f))
		}
	}
	if found != len(modules) {
		b.t.Fatalf("kernel %s has %d of the modules %v", version, found, modules)
	}
	b.copy(filepath.Join(from, "modules.dep"), filepath.Join("usr/lib/modules", version, "modules.dep"))
}
