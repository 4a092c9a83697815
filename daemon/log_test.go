package daemon

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// A log has what happens; a verbose one what is asked for, too. In JSON each line is an object.
func TestLog(t *testing.T) {
	for _, o := range []Options{{}, {Verbose: true}, {JSON: true}, {Verbose: true, JSON: true}} {
		var b bytes.Buffer
		o.Log = &b
		log := newLog(o)
		log.Infof("port %d is up", 3)
		log.Debugf("a request")
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if want := map[bool]int{false: 1, true: 2}[o.Verbose]; len(lines) != want {
			t.Errorf("%+v: %q", o, b.String())
		}
		if !o.JSON {
			if !strings.HasSuffix(lines[0], "INFO\tport 3 is up") {
				t.Errorf("%q", lines[0])
			}
			continue
		}
		var line struct{ Level, Ts, Msg string }
		if err := json.Unmarshal([]byte(lines[0]), &line); err != nil || line.Level != "INFO" || line.Ts == "" || line.Msg != "port 3 is up" {
			t.Errorf("%v: %q", err, lines[0])
		}
	}
}
