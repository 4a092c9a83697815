//go:build dpdk

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/internal/testnet"
)

// The last stage of the container recipe has all that photon needs: photon runs
// with nothing around it but what the packages named there, and those that they
// depend on, put into a file system. (`make test-container` builds the image.)
func TestContainerHasWhatPhotonNeeds(t *testing.T) {
	b, err := os.ReadFile("../../deploy/container/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := regexp.MustCompile(`(?m)^FROM `).Split(strings.ReplaceAll(string(b), "\\\n", " "), -1)
	installs := regexp.MustCompile(`apt-get install -y --no-install-recommends ([^&]*)`)
	var named []string
	for _, stage := range stages[1:] {
		m := installs.FindStringSubmatch(stage)
		if m == nil {
			t.Fatalf("a stage installs nothing:\n%s", stage)
		}
		named = strings.Fields(m[1]) // those of the last stage remain
		for _, p := range named {
			if out, err := exec.Command("dpkg-query", "-W", "-f", "${db:Status-Status}", p).Output(); err != nil || string(out) != "installed" {
				t.Errorf("package %s: %v, %s", p, err, out)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY ([^-\n]*) \S+$`).FindAllStringSubmatch(string(b), -1) {
		for _, f := range strings.Fields(m[1]) {
			if _, err := os.Stat(filepath.Join("../..", f)); err != nil {
				t.Error(err)
			}
		}
	}

	root := t.TempDir()
	for _, d := range []string{"proc", "sys", "dev", "run", "tmp", "var", "usr/local/bin", "usr/lib", "usr/lib64"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"lib": "usr/lib", "lib64": "usr/lib64", "var/run": "/run"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	library := regexp.MustCompile(`/lib(64)?/.*\.so(\.[0-9.]+)?$`)
	copying := []string{"-d", "--parents"}
	files, err := exec.Command("dpkg-query", append([]string{"-L"}, withDependencies(t, named)...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for f := range strings.FieldsSeq(string(files)) {
		if i, err := os.Lstat(f); err == nil && !i.IsDir() && library.MatchString(f) {
			copying = append(copying, f)
		}
	}
	if out, err := exec.Command("cp", append(copying, root)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Lstat(filepath.Join(root, "lib64/ld-linux-x86-64.so.2")); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", self, filepath.Join(root, "usr/local/bin/photon")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := testnet.New(t, "container")
	sw := startCommand(t, n, n.Command("sh", "-ec", `
		for d in proc sys dev; do mount --rbind /$d "$1/$d"; done
		exec chroot "$1" /usr/local/bin/photon switch --port net_null0 --port net_tap0,iface=t0 --port net_vhost0,iface=/tmp/vm0 --port net_memif0,role=server,socket-abstract=no,socket=/tmp/memif`, "sh", root))
	if m := sw.metrics(); len(m) == 0 {
		t.Error("no metrics")
	}
}

// withDependencies adds what packages depend on, as it is installed here.
func withDependencies(t *testing.T, packages []string) (all []string) {
	t.Helper()
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Package}\t${db:Status-Status}\t${Depends}, ${Pre-Depends}\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 && f[1] == "installed" {
			needs[f[0]] = f[2]
		}
	}
	for todo := slices.Clone(packages); len(todo) > 0; {
		p := todo[0]
		todo = todo[1:]
		list, ok := needs[p]
		if !ok || slices.Contains(all, p) {
			continue // an alternative that is not there, or a virtual package
		}
		all = append(all, p)
		for d := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == '|' }) {
			name, _, _ := strings.Cut(strings.TrimSpace(d), " ")
			name, _, _ = strings.Cut(name, ":")
			todo = append(todo, name)
		}
	}
	return all
}
