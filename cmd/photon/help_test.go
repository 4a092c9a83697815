package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"photon/internal/suggest"
	"photon/lab/experiment"
	labrun "photon/lab/run"
	"photon/telemetry/metrics"
)

// each calls do with every command of photon that has a help.
func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// The help of a flag is a sentence, and no value is called after a type of Go.
func TestHelpOfFlagsIsSentences(t *testing.T) {
	flags := 0
	each(newRoot(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kind := f.Value.Type(); kind == "bool" && strings.Contains(f.Usage, "`") {
				t.Errorf("%s: --%s takes no value, and its help names one: %s", c.CommandPath(), f.Name, f.Usage)
			}
			if f.Name == "help" { // cobra's own
				return
			}
			flags++
			first, _ := utf8.DecodeRuneInString(f.Usage)
			if !unicode.IsUpper(first) || len(strings.Fields(f.Usage)) < 2 {
				t.Errorf("%s --%s: %q is no sentence", c.CommandPath(), f.Name, f.Usage)
			}
			if value, _ := pflag.UnquoteUsage(f); value == "string" || value == "int" || value == "uint" || value == "strings" {
				t.Errorf("%s --%s: its value is called %q", c.CommandPath(), f.Name, value)
			}
		})
	})
	if flags < 100 {
		t.Errorf("%d flags", flags)
	}
}

// Lines of help fit the width of the documents, for every command.
func TestHelpIsNotTooWide(t *testing.T) {
	each(newRoot(), func(c *cobra.Command) {
		if c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			return
		}
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	})
}

// The help of run has two parts: experiments, and files of others with the flags that only these have.
func TestHelpOfRunHasTwoParts(t *testing.T) {
	c, _, err := newRoot().Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.SetOut(&out)
	if err := c.Help(); err != nil {
		t.Fatal(err)
	}
	flags, others, ok := strings.Cut(out.String(), "\nFlags for files of others:\n")
	if _, flags, _ = strings.Cut(flags, "\nFlags:\n"); !ok || !strings.Contains(flags, "--schemes") {
		t.Fatalf("%s", out.String())
	}
	for _, name := range hpccOnly {
		if has := "--" + name + " "; strings.Contains(flags, has) || !strings.Contains(others, has) {
			t.Errorf("--%s is not in the second part only", name)
		}
	}
}

// Every command that writes files takes --out.
func TestCommandsThatWriteTakeOut(t *testing.T) {
	root := newRoot()
	for _, name := range []string{"replay", "run", "sweep", "sweep collect", "report", "accept", "capture"} {
		c, _, err := root.Find(strings.Fields(name))
		if err != nil || c.Flags().Lookup("out") == nil {
			t.Errorf("photon %s has no --out (%v)", name, err)
		}
	}
}

// A name that was changed is one line that has the new one, which exists; the change log has both.
func TestCompatibilityOfRenamedNames(t *testing.T) {
	b, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(b), "\n### Renamed\n")
	list, _, _ = strings.Cut(list, "\n##")
	have := map[suggest.Kind]map[string]bool{suggest.Flag: {}, suggest.Metric: {}}
	each(newRoot(), func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { have[suggest.Flag][f.Name] = true })
	})
	for _, m := range metrics.All() {
		have[suggest.Metric][m.Name] = true
	}
	for kind, names := range suggest.Renamed {
		for old, now := range names {
			if !strings.Contains(list, old+"`") || !strings.Contains(list, now+"`") {
				t.Errorf("CHANGELOG.md does not have %s %s, which is now %s", kind, old, now)
			}
			if known := have[kind]; known != nil && (known[old] || !known[now]) {
				t.Errorf("%s %s, which is now %s: the old one exists, or the new one does not", kind, old, now)
			}
		}
	}
	for command, want := range map[string]string{
		"report out --output x.html": "unknown flag: --output (it is now --out)",
		"capture sw0 --write x":      "unknown flag: --write (it is now --out)",
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(command))
		if err := root.Execute(); err == nil || err.Error() != want {
			t.Errorf("photon %s: %v, want %s", command, err, want)
		}
	}
}

// A key that was renamed is one line, too.
func TestCompatibilityOfRenamedKeys(t *testing.T) {
	suggest.Renamed[suggest.Key]["time_of_run"] = "duration"
	defer delete(suggest.Renamed[suggest.Key], "time_of_run")
	_, err := experiment.Parse("x.yaml", []byte("id: a/b\ntime_of_run: 3s\n"))
	if err == nil || !strings.Contains(err.Error(), "x.yaml:2: ") || !strings.Contains(err.Error(), `it is now "duration"`) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// With --verbose each run that ends is a line, and in JSON an object that programs read.
func TestLogOfRuns(t *testing.T) {
	var said bytes.Buffer
	for _, l := range []logFlags{{format: "text"}, {verbose: true, format: "text"}, {verbose: true, format: "json"}} {
		said.Reset()
		p := newProgress(&said, l, 1)
		for i := range 3 {
			p.moved(0, "pcn", labrun.Progress{Done: float64(i+1) / 3, Ended: i + 1, Runs: 3, Last: true})
		}
		lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
		if want := map[bool]int{false: 1, true: 3}[l.verbose]; len(lines) != want {
			t.Errorf("%+v: %d lines, want %d: %q", l, len(lines), want, said.String())
		}
		if l.format != "json" {
			continue
		}
		var last struct {
			Level, Msg, Run string
			Ended, Runs     int
			Part            float64
		}
		if err := json.Unmarshal([]byte(lines[2]), &last); err != nil || last.Level != "INFO" || last.Run != "pcn" || last.Ended != 3 || last.Runs != 3 || last.Part != 1 {
			t.Errorf("%v, %+v: %s", err, last, lines[2])
		}
	}
}

// What a command that logs in JSON ends with is an object, too; a format that does not exist is one line.
func TestLogFormat(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"replay pcn/fig99 --log-format json", `"level":"ERROR"`},
		{"replay pcn/fig99", "photon: "},
		{"replay pcn/fig11 --log-format xml", `invalid argument "xml" for "--log-format" flag: text or json`},
	} {
		root := newRoot()
		root.SetArgs(strings.Fields(c.command))
		of, err := root.ExecuteC()
		var said bytes.Buffer
		complain(&said, of, err)
		if err == nil || !strings.Contains(said.String(), c.want) || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("photon %s: %q, want %s", c.command, said.String(), c.want)
		}
	}
}

// Tests run several commands at once, each made anew; what they say of themselves is the same.
func TestCommandsAreMadeAtOnce(t *testing.T) {
	var usages [8]string
	var all sync.WaitGroup
	for i := range usages {
		all.Go(func() {
			root := newRoot()
			root.SetArgs([]string{"replay", "--help"})
			var said bytes.Buffer
			root.SetOut(&said)
			if err := root.Execute(); err != nil {
				t.Error(err)
			}
			usages[i] = said.String()
		})
	}
	all.Wait()
	for _, u := range usages {
		if u != usages[0] || !strings.Contains(u, "--quick") {
			t.Errorf("%s\nand %s", usages[0], u)
		}
	}
}
