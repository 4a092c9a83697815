//go:build slurm

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cluster is Slurm on this machine: munge, a controller and one node with two
// processors, with all their files in a folder of the test.
type cluster struct {
	t   *testing.T
	ctx context.Context
	env []string
	dir string
}

func newCluster(ctx context.Context, t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm") // short: there is a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &cluster{t: t, ctx: ctx, dir: dir, env: []string{"SLURM_CONF=" + filepath.Join(dir, "slurm.conf")}}
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // never fails
	c.write("munge.key", key)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.write("slurm.conf", fmt.Appendf(nil, `ClusterName=photon
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
SlurmUser=%[5]s
SlurmdUser=%[5]s
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.log
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=%[1]s Default=YES State=UP
`, host, dir, freePort(t), freePort(t), me.Username))
	in := func(name string) string { return "--" + name + "=" + filepath.Join(dir, name) }
	c.start("munged", "--foreground", "--force", "--num-threads=1", "--socket="+filepath.Join(dir, "munge.socket"),
		"--key-file="+filepath.Join(dir, "munge.key"), in("pid-file"), in("seed-file"), in("log-file"))
	until(ctx, t, filepath.Join(dir, "munge.socket"))
	c.start("slurmctld", "-D", "-i")
	c.start("slurmd", "-D")
	c.wait("the node is idle", func() bool { return strings.HasPrefix(c.try("sinfo", "-h", "-o", "%T"), "idle") })
	return c
}

func (c *cluster) write(name string, b []byte) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), b, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// freePort is a TCP port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a daemon in the foreground until the test ends.
func (c *cluster) start(name string, args ...string) {
	c.t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), append(c.env, "PATH="+os.Getenv("PATH")+":/usr/sbin")...)
	if cmd.Err != nil { // not on the path of users
		cmd.Path, cmd.Err = "/usr/sbin/"+name, nil
	}
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		timer := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if c.t.Failed() {
			c.t.Logf("%s: %v\n%s", name, err, said.String())
		}
	})
}

// try is what a command of Slurm prints, whether or not it succeeds.
func (c *cluster) try(name string, args ...string) string {
	cmd := exec.CommandContext(c.ctx, name, args...)
	cmd.Env = append(os.Environ(), c.env...)
	out, _ := cmd.CombinedOutput() // it says what is wrong
	return string(out)
}

func (c *cluster) wait(what string, ok func() bool) {
	c.t.Helper()
	for !ok() {
		select {
		case <-c.ctx.Done():
			c.t.Fatalf("it never came about that %s\n%s", what, c.try("squeue"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// A sweep on Slurm whose workers are killed goes on where it was when it is
// submitted again, does nothing twice, and makes the table that it makes here.
func TestSweepOnSlurm(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 8*time.Minute)
	defer stop()
	c := newCluster(ctx, t)
	spec := writeSweep(t, "1..60") // so many that workers are still at it when they are killed
	here, there := t.TempDir(), t.TempDir()
	sweep := func(args ...string) string {
		t.Helper()
		cmd, said := photon(ctx, c.env, append([]string{"sweep"}, args...)...)
		if err := cmd.Run(); err != nil {
			t.Fatalf("photon sweep %s: %v\n%s", strings.Join(args, " "), err, said)
		}
		return said.String()
	}
	sweep(spec, "--out", here)

	submit := func(todo int) {
		t.Helper()
		said := sweep(spec, "--out", there, "--slurm", "--workers", "4")
		what := fmt.Sprintf("%d of 120 tasks are to do", todo)
		if !strings.Contains(said, what) || !strings.Contains(said, "Submitted batch job") {
			t.Fatal(said)
		}
	}
	submit(120)
	done := filepath.Join(there, "sweeps", "many", "tasks", "*.json")
	until(ctx, t, done)
	for job := range strings.FieldsSeq(c.try("squeue", "-h", "-r", "-t", "R", "-o", "%i")) {
		t.Log(c.try("scancel", "--full", "--signal=KILL", job))
	}
	c.wait("the queue is empty", func() bool { return strings.TrimSpace(c.try("squeue", "-h")) == "" })
	before := until(ctx, t, done)
	if len(before) >= 120 {
		t.Fatalf("%d tasks are done: none was killed", len(before))
	}
	times := map[string]time.Time{}
	for _, f := range before {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		times[f] = info.ModTime()
	}

	submit(120 - len(before))
	c.wait("the queue is empty again", func() bool { return strings.TrimSpace(c.try("squeue", "-h")) == "" })
	for f, at := range times {
		if info, err := os.Stat(f); err != nil || !info.ModTime().Equal(at) {
			t.Errorf("%s was done, and was done again (%v)", f, err)
		}
	}
	if said := sweep(spec, "--out", there, "--slurm"); !strings.Contains(said, "120 tasks are done") {
		t.Error(said)
	}
	sweep("collect", filepath.Join(here, "sweeps", "many"))
	sweep("collect", filepath.Join(there, "sweeps", "many"))
	sameTables(t, filepath.Join(here, "sweeps", "many"), filepath.Join(there, "sweeps", "many"))
}
