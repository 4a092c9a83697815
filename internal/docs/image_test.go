//go:build container

package docs

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sys/unix"

	"photon/internal/testnet"
)

// box builds images and runs what is in them, with buildah in a store of its own. Nothing
// is pulled: the two images on which photon's rests are made here, of Debian's packages.
type box struct {
	t     *testing.T
	root  string // of the repository
	store string
}

func newBox(t *testing.T) *box {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t, root, t.TempDir()}
	t.Cleanup(b.unmount)
	return b
}

// unmount undoes what a buildah that was killed left behind, or its store cannot be removed.
func (b *box) unmount() {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		b.t.Error(err)
		return
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range slices.Backward(lines) {
		if at := strings.Fields(line)[4]; strings.HasPrefix(at, b.store+"/") {
			if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
				b.t.Errorf("%s: %v", at, err)
			}
		}
	}
}

// container makes one of photon's image; what runs at the same time needs one each.
func (b *box) container() string {
	b.t.Helper()
	return strings.TrimSpace(b.do("from", "--pull-never", "localhost/photon"))
}

// command is one of buildah. Containers are a file system and capabilities of their own
// here, and no more: that needs neither a daemon nor control groups.
func (b *box) command(args ...string) *exec.Cmd {
	c := exec.Command("buildah", append([]string{"--root", filepath.Join(b.store, "images"), "--runroot", filepath.Join(b.store, "run")}, args...)...)
	c.Dir = b.root
	c.Env = append(os.Environ(), "BUILDAH_ISOLATION=chroot", "STORAGE_DRIVER=vfs")
	return c
}

func (b *box) do(args ...string) string {
	b.t.Helper()
	return b.output(b.command(args...))
}

func (b *box) output(c *exec.Cmd) string {
	b.t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, out)
	}
	return string(out)
}

// image makes an image of a recipe, with what lies in a folder.
func (b *box) image(name, recipe, folder string) {
	b.t.Helper()
	c := b.command("bud", "--pull-never", "--layers=false", "-t", name, "-f", "-", folder)
	c.Stdin = strings.NewReader(recipe)
	b.output(c)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// bases makes the images that the recipe begins with, of the release that it names. Go is
// this machine's, mounted, as are the modules and what was compiled before.
func (b *box) bases() (mounts []string) {
	dir := filepath.Join(b.root, "bin", "container")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "base.tar")); err != nil {
		made := filepath.Join(b.store, "base.tar")
		args := []string{"--variant=minbase"}
		for _, none := range []string{"doc", "man", "locale"} { // nor has the original
			args = append(args, "--dpkgopt=path-exclude=/usr/share/"+none+"/*")
		}
		for _, from := range []string{"debian bookworm", "debian bookworm-updates", "debian-security bookworm-security"} {
			args = append(args, "deb http://deb.debian.org/"+from+" main")
		}
		b.output(exec.Command("mmdebstrap", append([]string{args[0], args[1], args[2], args[3], "bookworm", made}, args[4:]...)...))
		b.output(exec.Command("mv", made, filepath.Join(dir, "base.tar")))
	}
	b.image("docker.io/library/debian:bookworm-slim", "FROM scratch\nADD base.tar /\n", dir)
	b.image("docker.io/library/golang:1.26-bookworm", `FROM docker.io/library/debian:bookworm-slim
ENV PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin GOPATH=/go GOTOOLCHAIN=local GOPROXY=`+goEnv(b.t, "GOPROXY")+`
WORKDIR /go
`, b.t.TempDir())
	for from, to := range map[string]string{
		goEnv(b.t, "GOROOT"): "/usr/local/go:ro", goEnv(b.t, "GOMODCACHE"): "/go/pkg/mod", goEnv(b.t, "GOCACHE"): "/root/.cache/go-build",
		"/etc/ssl/certs": "/etc/ssl/certs:ro", // of the machine's way to the modules
	} {
		mounts = append(mounts, "-v", from+":"+to)
	}
	return mounts
}

// running is a program in a container, in a network namespace.
type running struct {
	t    *testing.T
	n    *testnet.Namespace
	cmd  *exec.Cmd
	log  bytes.Buffer
	run  string // its /run/photon
	done chan error
}

// start runs a script in a container of its own; options for buildah come first.
func (b *box) start(n *testnet.Namespace, options []string, script string) *running {
	b.t.Helper()
	r := &running{t: b.t, n: n, run: b.t.TempDir(), done: make(chan error, 1)}
	args := append([]string{"run", "-v", r.run + ":/run/photon"}, options...)
	inside := b.command(append(args, b.container(), "--", "sh", "-ec", "echo $$ >/run/photon/pid\n"+script)...)
	r.cmd = n.Command(inside.Args[0], inside.Args[1:]...)
	r.cmd.Dir, r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = inside.Dir, inside.Env, &r.log, &r.log
	if err := r.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() { r.done <- r.cmd.Wait() }()
	b.t.Cleanup(func() {
		if b.t.Failed() {
			b.t.Logf("%s", r.log.String())
		}
	})
	return r
}

// answers waits until what runs is healthy at an address of its namespace.
func (r *running) answers(address string) {
	r.t.Helper()
	for last := error(nil); ; {
		select {
		case err := <-r.done:
			r.t.Fatalf("it has ended: %v\n%s", err, r.log.String())
		case <-time.After(100 * time.Millisecond):
		}
		client := r.n.Client()
		client.Timeout = 5 * time.Second
		answer, err := client.Get("http://" + address + "/healthz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("%s", answer.Status)
		}
		if fmt.Sprint(err) != fmt.Sprint(last) {
			r.t.Logf("%s: %v", address, err)
			last = err
		}
	}
}

// end asks it to stop, as Kubernetes and podman do; it must agree.
func (r *running) end() {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.run, "pid"))
	if err != nil {
		r.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	if err := <-r.done; err != nil {
		r.t.Errorf("%v\n%s", err, r.log.String())
	}
}

// The recipe makes an image, and photon runs in it: by itself, as a switch of the
// kernel's interfaces, as the pod of deploy/kubernetes starts it (with virtual devices in
// the place of cards), and as the demo of deploy/compose.yaml.
func TestImage(t *testing.T) {
	b := newBox(t)
	mounts := b.bases()
	b.do(append(append([]string{"bud", "--pull-never", "--layers=false"}, mounts...), "-t", "photon", "-f", "deploy/container/Containerfile", ".")...)
	c := b.container()

	if entry := strings.TrimSpace(b.do("inspect", "--format", "{{.OCIv1.Config.Entrypoint}}", c)); entry != "[/usr/local/bin/photon]" {
		t.Errorf("entry point %s", entry)
	}
	if out := b.do("run", c, "--", "photon", "list", "schemes"); !strings.Contains(out, "\npcn ") {
		t.Error(out)
	}
	if out := b.do("run", c, "--", "photon", "check", "/usr/share/photon/deploy/switch.yaml"); !strings.Contains(out, "switch.yaml: ok\n") {
		t.Error(out)
	}
	// What docs/artefact.md has its readers run, in short.
	if out := b.do("run", c, "--", "photon", "replay", "pcn/fig11", "--quick", "--out", "/out"); !strings.Contains(out, "\npcn-rate ") || !strings.Contains(out, "report: /out/pcn-fig11/report.html") {
		t.Error(out)
	}
	for _, none := range []string{"gcc", "go"} {
		if out, err := b.command("run", c, "--", "sh", "-c", "command -v "+none).CombinedOutput(); err == nil {
			t.Errorf("the image has what photon was built with: %s", out)
		}
	}

	t.Run("switch", func(t *testing.T) {
		b := &box{t, b.root, b.store}
		sw := testnet.New(t, "image")
		var hosts []*testnet.Namespace
		for i := range 2 {
			h := testnet.New(t, fmt.Sprintf("h%d", i))
			testnet.Veth(t, h, "eth0", sw, fmt.Sprintf("eth%d", i+1))
			h.Run(t, "ip", "addr", "add", fmt.Sprintf("10.9.0.%d/24", i+1), "dev", "eth0")
			hosts = append(hosts, h)
		}
		r := b.start(sw, withCapabilities("NET_RAW", "NET_ADMIN", "IPC_LOCK"), "exec photon switch --port net_af_packet0,iface=eth1 --port net_af_packet1,iface=eth2")
		r.answers("127.0.0.1:9464")
		if missing := hosts[0].Ping(t, 3, "10.9.0.2"); missing != "" {
			t.Error(missing)
		}
		if out := b.do("run", "-v", r.run+":/run/photon", c, "--", "photon", "show", "ports"); strings.Count(out, "net_af_packet") != 2 {
			t.Error(out)
		}
		r.end()
	})

	t.Run("pod", func(t *testing.T) {
		b := &box{t, b.root, b.store}
		config, script := podOf(t, filepath.Join(b.root, "deploy/kubernetes/switch.yaml"))
		dir := t.TempDir()
		config = strings.Replace(config, "hugepages: true", "hugepages: false", 1)
		if err := os.WriteFile(filepath.Join(dir, "switch.yaml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		options := append(onlyCapabilities("IPC_LOCK"), "-v", dir+":/etc/photon:ro", "-e", "PCIDEVICE_INTEL_COM_PHOTON=net_null0,net_null1")
		r := b.start(testnet.New(t, "pod"), options, script)
		r.answers("127.0.0.1:9464")
		r.end()
		if log := r.log.String(); !strings.Contains(log, "port 1 is net_null1") || !strings.Contains(log, "drained") {
			t.Error(log)
		}
	})

	t.Run("demo", func(t *testing.T) {
		b := &box{t, b.root, b.store}
		var file struct {
			Services map[string]struct {
				Entrypoint  []string
				CapAdd      []string `yaml:"cap_add"`
				Environment map[string]string
			}
		}
		read(t, filepath.Join(b.root, "deploy/compose.yaml"), &file)
		photon := file.Services["photon"]
		options := withCapabilities(photon.CapAdd...)
		for name, value := range photon.Environment {
			options = append(options, "-e", name+"="+value)
		}
		r := b.start(testnet.New(t, "demo"), options, "exec "+strings.Join(photon.Entrypoint, " "))
		for port := 9464; port <= 9467; port++ {
			r.answers(fmt.Sprintf("127.0.0.1:%d", port))
		}
		r.end()
	})
}

// withCapabilities are those that a container has besides the usual ones.
func withCapabilities(names ...string) (options []string) {
	for _, name := range names {
		options = append(options, "--cap-add", "CAP_"+name)
	}
	return options
}

// onlyCapabilities are all that a container has. (To drop ALL drops what is added, too.)
func onlyCapabilities(names ...string) (options []string) {
	for _, usual := range []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"} {
		options = append(options, "--cap-drop", "CAP_"+usual)
	}
	return append(options, withCapabilities(names...)...)
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Load(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// podOf is the file of the config map of a manifest, and the script of its pod.
func podOf(t *testing.T, path string) (config, script string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for object := range strings.SplitSeq(string(text), "---\n") {
		var o struct {
			Data map[string]string
			Spec struct {
				Template struct {
					Spec struct{ Containers []struct{ Args []string } }
				}
			}
		}
		if err := yaml.Load([]byte(object), &o); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		config += o.Data["switch.yaml"]
		for _, c := range o.Spec.Template.Spec.Containers {
			script += c.Args[0]
		}
	}
	if config == "" || script == "" {
		t.Fatalf("%s: no config map, or no pod", path)
	}
	return config, script
}
