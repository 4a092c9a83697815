package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"photon/internal/sample"
	"photon/telemetry"
	"photon/telemetry/admin"
	"photon/telemetry/client"
	"photon/telemetry/top"
	"photon/units"
)

// Two looks between which a node was restarted, or got other ports, cannot be compared: rates of zero would be a lie.
func TestTopOnceAcrossARestart(t *testing.T) {
	for name, second := range map[string]func(s *telemetry.Snapshot){
		"restarted":   func(s *telemetry.Snapshot) { s.Now = units.Millisecond },
		"other ports": func(s *telemetry.Snapshot) { s.Now += units.Second; s.Ports = []string{"sw7"} },
		"":            func(s *telemetry.Snapshot) { s.Now += units.Second },
	} {
		a, err := admin.Listen(filepath.Join(t.TempDir(), "a.sock"))
		if err != nil {
			t.Fatal(err)
		}
		of, looks := sample.Source(false), 0
		take := of.Snapshot
		of.Snapshot = func() telemetry.Snapshot {
			s := take()
			if looks++; looks > 1 {
				second(&s)
			}
			return s
		}
		a.Live(of)
		a.Serve()
		t.Cleanup(func() { a.Close() })
		c, err := client.Dial(a.Path(), "")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		command := &cobra.Command{}
		command.SetContext(context.Background())
		command.SetOut(&out)
		err = topOnce(command, c, time.Millisecond, top.Options{}, true)
		const want = "n1 was restarted, or got other ports, between the two looks: nothing can be compared (try again)"
		switch {
		case name == "" && (err != nil || !strings.Contains(out.String(), `"span_seconds": 1`)):
			t.Errorf("%v\n%s", err, &out)
		case name != "" && (err == nil || err.Error() != want || out.Len() > 0):
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}
