package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// polling is the core of what is measured: the last, as photon has it. Whatever
// else there is to do, commands and scrapes, is done on the others.
func polling() int { return cores() - 1 }

// cores is how many the machine has; this process may use only some of them.
func cores() int {
	list, err := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*")
	if err != nil || len(list) == 0 {
		return runtime.NumCPU()
	}
	return len(list)
}

// onAll is a command that may use all cores.
func onAll(name string, args ...string) *exec.Cmd {
	return exec.Command("taskset", append([]string{"-c", fmt.Sprintf("0-%d", cores()-1), name}, args...)...)
}

func measureLoop(_ string, warmup, span time.Duration) (g gaps, err error) {
	self, err := os.Executable()
	if err != nil {
		return g, err
	}
	out, err := onAll(self, "-loop", "-core", fmt.Sprint(polling()), "-warmup", warmup.String(), "-span", span.String()).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return g, fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return g, err
	}
	return g, json.Unmarshal(out, &g)
}

const metrics = "127.0.0.1:9473"

// write makes the switch's file; two of them in turn are a change each time.
func write(file, socket string, turn int) error {
	text := fmt.Sprintf("name: stalls\nadmin: %s\nmetrics: %s\nports:\n- device: net_null0,size=64\n- device: net_null1,size=64\npfc: {xoff: %dKB}\ndpdk: {sleep: 0s, eal: [--file-prefix=stalls]}\n",
		socket, metrics, 100+turn%2)
	return os.WriteFile(file, []byte(text), 0o600)
}

// measurePhoton is a switch with its metrics scraped and its control plane busy.
func measurePhoton(gogc string) func(dir string, warmup, span time.Duration) (gaps, error) {
	return func(dir string, warmup, span time.Duration) (g gaps, err error) {
		file, socket := filepath.Join(dir, "switch.yaml"), filepath.Join(dir, "sock")
		if err := write(file, socket, 0); err != nil {
			return g, err
		}
		var log bytes.Buffer
		c := onAll("bin/photon", "switch", "-c", file)
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		c.Stdout, c.Stderr = &log, &log
		c.Env = os.Environ()
		if gogc != "" {
			c.Env = append(c.Env, "GOGC="+gogc)
		}
		if err := c.Start(); err != nil {
			return g, fmt.Errorf("%w (`make build` makes it)", err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		defer func() {
			c.Process.Signal(syscall.SIGTERM)
			if e := <-ended; e != nil {
				err = errors.Join(err, fmt.Errorf("%w: %s", e, log.String()))
			}
		}()
		for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			if _, err := scrape(); err == nil {
				break
			} else if time.Now().After(deadline) {
				return g, err
			}
		}
		ctx, quiet := context.WithCancel(context.Background())
		busy := make(chan error, 1)
		go func() { busy <- control(ctx, file, socket) }()
		time.Sleep(warmup)
		before, err := scrape()
		for begin := time.Now(); err == nil && time.Since(begin) < span; {
			time.Sleep(min(time.Second, span))
			g, err = scrape()
		}
		quiet()
		return g.since(before), errors.Join(err, <-busy)
	}
}

// control gives commands until it is told to stop.
func control(ctx context.Context, file, socket string) error {
	commands := []string{"pfc counters", "queues", "fdb", "marking", "buffer"}
	for i := 1; ctx.Err() == nil; i++ {
		args := append([]string{"show"}, strings.Fields(commands[i%len(commands)])...)
		if i%10 == 0 {
			if err := write(file, socket, i/10); err != nil {
				return err
			}
			args = []string{"reload"}
		}
		if out, err := exec.Command("bin/photon", append(args, "--socket", socket)...).CombinedOutput(); err != nil {
			return fmt.Errorf("photon %s: %w: %s", strings.Join(args, " "), err, out)
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil
}

func scrape() (g gaps, err error) {
	r, err := http.Get("http://" + metrics + "/metrics")
	if err != nil {
		return g, err
	}
	defer r.Body.Close()
	p := expfmt.NewTextParser(model.UTF8Validation)
	var families map[string]*dto.MetricFamily
	if families, err = p.TextToMetricFamilies(r.Body); err != nil {
		return g, err
	}
	return ofScrape(families)
}
