//go:build dpdk

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Five packets of a flow between two agents are lost at a switch's port. With selective repeat five are sent again;
// without it more are: those that followed the lost ones, too.
func TestAgentsRepeatWhatIsLost(t *testing.T) {
	for _, c := range []struct {
		lines string
		exact bool
	}{{"recovery: selective\nwindow: 256\n", true}, {"recovery: go_back_n\n", false}} {
		t.Run(c.lines, func(t *testing.T) {
			o := operate(t, `  impair:
    rules:
    - {do: lose, frames: data, priority: 3, packets: [10, 500, 501, 502, 1700]}
scheme: {name: none}
`)
			a := &agents{t: t}
			for _, i := range []int{0, 3} { // the receiver first
				dir := t.TempDir()
				a.socket[0] = filepath.Join(dir, "a.sock")
				text := fmt.Sprintf("name: h%d\nip: 10.9.0.%d\nport: {device: \"net_af_packet0,iface=eth0\", rate: 100Mbps}\nadmin: %s\nack_timeout: 5s\n%s", i, i+1, a.socket[0], c.lines)
				if i == 3 {
					text += "flows: [{to: 10.9.0.1, size: 2MB}]\n"
				}
				file := filepath.Join(dir, "agent.yaml")
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				a.process[0] = start(t, o.fourHosts.hosts[i], "agent", "-c", file)
			}
			a.until("the flow is done", inState(1, "done"))
			if n := a.list().Flows[0].Packets; (n == 2005) != c.exact || n < 2005 {
				t.Errorf("%d packets were sent: 2000 and what was lost are 2005", n)
			}
		})
	}
}
