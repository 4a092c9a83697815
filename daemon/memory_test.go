package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/agent"
	"photon/config"
)

// The file of an agent's memory gets it when the agent ends; a start that fails leaves what an earlier run wrote.
func TestMemoryOfAnAgentThatNeverRan(t *testing.T) {
	dir := t.TempDir()
	memory, before := filepath.Join(dir, "memory.bin"), []byte(strings.Repeat("of an earlier run\n", 1000))
	if err := os.WriteFile(memory, before, 0o600); err != nil {
		t.Fatal(err)
	}
	conf := agentFile(t, dir, "scheme: {name: none}\npayload: 1024B\n"+
		"memory: {address: 0, rkey: 7, size: 4KiB, file: memory.bin}\n")
	n, err := conf.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Config.Memory = agent.NewMemory(0, 7, 4096)
	for _, runs := range []bool{false, true} {
		started, want := make(chan struct{}), before
		save, err := saveMemory(conf, n, started)
		if err != nil {
			t.Fatal(err)
		}
		if runs {
			close(started)
			want = n.Config.Memory.Bytes
		}
		save(&daemon{})
		if got, err := os.ReadFile(memory); err != nil || !bytes.Equal(got, want) {
			t.Errorf("it ran: %v; %d bytes: %v", runs, len(got), err)
		}
	}
}

// What a file of traffic asks for that the agent's flows cannot be is found before the start, with the file's name.
func TestTrafficOfAnotherFamily(t *testing.T) {
	for ip, to := range map[string]string{"10.9.0.1": "fd00::2", "fd00::1": "10.9.0.2"} {
		dir := t.TempDir()
		file, traffic := filepath.Join(dir, "agent.yaml"), filepath.Join(dir, "traffic.yaml")
		for path, text := range map[string]string{
			file:    "ip: \"" + ip + "\"\nport: {device: net_null0, rate: 10Gbps}\ntraffic: traffic.yaml\n",
			traffic: "flows: [{to: \"" + to + "\", size: 1KB}]\n",
		} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		conf, err := config.ReadAgent(file)
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(CheckFiles(conf))
		if !strings.HasPrefix(said, traffic) || !strings.Contains(said, "mixes IPv4 and IPv6") {
			t.Errorf("from %s to %s: %s", ip, to, said)
		}
	}
}
