package docs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// The test binary stands for a photon that takes its time before it serves.
const beServing = "DOCS_TEST_BE_SERVING"

func TestMain(m *testing.M) {
	if os.Getenv(beServing) != "" {
		time.Sleep(300 * time.Millisecond)
		if err := os.WriteFile("serves", nil, 0o644); err != nil {
			panic(err)
		}
		if _, err := daemon.SdNotify(false, daemon.SdNotifyReady); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

const page = "# Title\n\nText with `photon show\nports` and [a link](x.md).\n\n```sh\necho one\n```\n\n" +
	"1. A list\n\n   ```sh hardware\n   photon switch --port 0000:03:00.0\n   ```\n\n" +
	"```yaml\n# file: sub/a.yaml\na: 1\n```\n\n| a | b |\n|---|---|\n| `in a table` | ![p](p.png) |\n"

func TestRead(t *testing.T) {
	d, err := Read("x.md", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{7, "sh", "", "echo one\n"},
		{13, "sh", "hardware", "photon switch --port 0000:03:00.0\n"},
		{17, "yaml", "", "# file: sub/a.yaml\na: 1\n"},
	}
	if !slices.Equal(d.Blocks, want) {
		t.Errorf("blocks %+v", d.Blocks)
	}
	if want := []Span{{3, "photon show ports"}, {23, "in a table"}}; !slices.Equal(d.Spans, want) {
		t.Errorf("spans %+v", d.Spans)
	}
	if want := []Span{{3, "x.md"}, {23, "p.png"}}; !slices.Equal(d.Links, want) {
		t.Errorf("links %+v", d.Links)
	}
	if name, ok := d.Blocks[2].File(); !ok || name != "sub/a.yaml" {
		t.Errorf("file %q", name)
	}
	if !d.Blocks[0].Runs() || d.Blocks[1].Runs() || d.Blocks[2].Runs() {
		t.Error("what runs")
	}
}

// No command escapes by being written otherwise.
func TestBlocksSayWhatTheyAre(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\n    make test\n":               "x.md:3: a block without fence",
		"```\nmake test\n```\n":              "x.md:2: a fence says what is in it",
		"```bash\nmake test\n```\n":          "x.md:2: a fence says what is in it",
		"```sh slow\nmake test\n```\n":       "x.md:2: the marks of a block of sh are",
		"```sh long\nmake test\n```\n":       "x.md:2: the marks of a block of sh are",
		"```sh ci cluster\nmake test\n```\n": "x.md:2: the marks of a block of sh are",
		"```yaml hardware\na: 1\n```\n":      "x.md:2: the marks of a block of sh are",
	} {
		if _, err := Read("x.md", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestCommands(t *testing.T) {
	got, err := Commands(Block{Text: "for i in 1 2; do\n\tip netns exec \"h$i\" bin/photon agent -c 'a b.yaml' &\ndone\nx=$(photon list | grep $y) # photon fly\n"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range got {
		lines = append(lines, strings.Join(c, "|"))
	}
	if want := []string{"ip|netns|exec|h$i|bin/photon|agent|-c|a b.yaml", "photon|list", "grep|$y"}; !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	if _, err := Commands(Block{Text: "if true; then\n"}); err == nil {
		t.Error("half a sentence is no error")
	}
}

// A document fails where it fails, and only then.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ page, want, output string }{
		"right":               {"```sh\na=1\n```\n\n```text\nfalse\n```\n\n```sh\necho is $a\n```\n", "", "is 1"},
		"an unmarked failure": {"```sh\ntrue\n```\n\n```sh\necho here\nfalse\necho there\n```\n", "x.md:6: exit status 1", "here"},
		"an unknown command":  {"```sh\nphoton-that-nobody-has\n```\n", "x.md:2: exit status 127", "not found"},
		"a marked failure":    {"```sh hardware\nfalse\n```\n\n```sh cluster\nfalse\n```\n\n```sh ci\nfalse\n```\n", "", ""},
		"a syntax error":      {"```sh\nif true\n```\n", "x.md:2: ", ""},
		"a file":              {"```yaml\n# file: sub/b.yaml\nb: 2\n```\n\n```sh\ncat sub/b.yaml\n```\n", "", "b: 2"},
		"a terminal":          {"```sh terminal\nstty raw\ntest \"$(head -c 1)\" = q\n```\n", "", ""},
		"stopped":             {"```sh\nsleep 600 &\n```\n\n```sh\nkill $!\n```\n", "", ""},
		"of a loop, stopped":  {"```sh\nfor i in 1; do sleep 600 & done\nkill $!\n```\n", "", ""},
		"a bad background":    {"```sh\n(exit 2) &\n```\n", "x.md:end: exit status 1", "ended with exit code 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Read("x.md", []byte(c.page))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			out, err := Run(ctx, d, t.TempDir(), nil)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) || !strings.Contains(out, c.output) {
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
		})
	}
}

// What is not ended ends the document.
func TestRunEndsWhatDoesNotEnd(t *testing.T) {
	d, err := Read("x.md", []byte("```sh\ntrue\n```\n\n```sh\nsleep 600\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := Run(ctx, d, t.TempDir(), nil); err == nil || !strings.HasPrefix(err.Error(), "x.md:6: it was ended") {
		t.Error(err)
	}
}

// Serving photons are waited for: what a service manager hears, the next block may rely on.
func TestServing(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(beServing, "1")
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "bin", "photon")); err != nil {
		t.Fatal(err)
	}
	d, err := Read("x.md", []byte("```sh\nbin/photon switch &\n```\n\n```sh\ntest -e serves\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := Run(context.Background(), d, dir, nil); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is left to the script of continuous integration is in it.
func TestCheckCI(t *testing.T) {
	const script = "#!/bin/sh\n# what must pass\nset -eux\ncd \"$(dirname \"$0\")/..\"\nmake test   # every test\nmake bench BENCH='-a -b'\n"
	for _, c := range []struct{ script, block, want string }{
		{script, "make test\n", ""},
		{script, "make   test # all\n\n# and\nmake bench BENCH='-a -b'\n", ""},
		{script, "make test\nmake coffee\n", "the script does not run `make coffee`"},
		{script, "make\n", "the script does not run `make`"},
		{script, "make test race\n", "the script does not run `make test race`"},
		{script, "make bench BENCH=-a\n", "the script does not run `make bench BENCH=-a`"},
		{script, "false && make test\n", `"false && make test" is not a plain command`},
		{script, "for i in 1 2; do make test; done\n", "is not a plain command"},
		{script, "make test &\n", "is not a plain command"},
		{script, "make test >/dev/null\n", "is not a plain command"},
		{script, "# make test\n", "there is no command in it"},
		{script, "if true\n", "if"},
		{strings.Replace(script, "make test", "# make test", 1), "make test\n", "the script does not run `make test`"},
		{strings.Replace(script, "make test", "exit 0\nmake test", 1), "make test\n", "the script does not run `make test`"},
		{strings.Replace(script, "make test", "make test || true\n", 1), "make test\n", "the script: \"make test || true\" is not a plain command"},
		{strings.Replace(script, "set -eux\n", "", 1), "make test\n", "the script does not begin with set -e"},
		{script + "if\n", "make test\n", "the script: "},
	} {
		d, err := Read("x.md", []byte("```sh ci\n"+c.block+"```\n"))
		if err != nil || len(d.Blocks) != 1 || d.Blocks[0].Mark != "ci" || d.Blocks[0].Runs() {
			t.Fatal(d, err)
		}
		err = CheckCI(d.Blocks[0], c.script)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q in %q: %v, want %q", c.block, c.script, err, c.want)
		}
	}
}

// scripts are the two of CI, one after the other: for every change, and for every night.
func scripts(root string) (string, error) {
	change, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	night, err2 := os.ReadFile(filepath.Join(root, ".ci/nightly"))
	return string(change) + string(night), errors.Join(err, err2)
}

// Every document is right in itself, and what it leaves to .ci/run or .ci/nightly is there.
func TestDocumentsLeaveToCI(t *testing.T) {
	script, err := scripts("../..")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := Find("../..")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range paths {
		source, err := os.ReadFile(filepath.Join("../..", p))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Read(p, source)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, b := range d.Blocks {
			if b.Mark != "ci" {
				continue
			}
			n++
			if err := CheckCI(b, script); err != nil {
				t.Errorf("%s:%d: %v", p, b.Line, err)
			}
		}
	}
	if n == 0 {
		t.Error("no document has a block that is marked ci")
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"a.md", "docs/b.md", ".hidden/c.md", "out/d.md", "x/out/e.md", "f.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Find(dir); err != nil || !slices.Equal(got, []string{"a.md", "docs/b.md", "x/out/e.md"}) {
		t.Errorf("%q, %v", got, err)
	}
}
