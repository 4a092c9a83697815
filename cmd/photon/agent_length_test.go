//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Packets with telemetry are longer than a queue pair's, and their ports take them.
func TestLongPacketsWithTelemetry(t *testing.T) {
	for _, scheme := range []string{"hpcc", "powertcp"} {
		t.Run(scheme, func(t *testing.T) {
			o := operate(t, "rate: 100Mbps\nmtu: 5000\nscheme: {name: "+scheme+"}\n")
			a := &agents{t: t}
			for _, i := range []int{0, 3} { // the receiver first
				dir := t.TempDir()
				a.socket[0] = filepath.Join(dir, "a.sock")
				text := fmt.Sprintf("name: h%d\nip: 10.9.0.%d\nadmin: %s\npayload: 4000B\nscheme: {name: %s}\n"+
					"port: {device: \"net_af_packet0,iface=eth0\", rate: 100Mbps}\n", i, i+1, a.socket[0], scheme)
				if i == 3 {
					text += "flows: [{to: 10.9.0.1, size: 200KB}]\n"
				}
				file := filepath.Join(dir, "agent.yaml")
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				a.process[0] = start(t, o.fourHosts.hosts[i], "agent", "-c", file)
			}
			a.until("the flow is done", inState(1, "done"))
		})
	}
}
