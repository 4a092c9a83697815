package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"photon/internal/docs"
	"photon/lab/experiment"
	"photon/scheme"
)

const repository = "../.."

// What documents say can be said: every photon command in a block or in a line of
// text exists with its flags, every make target does, every block of sh is one that
// a shell can read, marked or not, every link leads to a
// file, every source file and test that is named is there. `make test-docs` runs the blocks.
func TestDocumentsSayWhatExists(t *testing.T) {
	paths, err := docs.Find(repository)
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	tests, err := testNames()
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, path := range paths {
		source, err := os.ReadFile(filepath.Join(repository, path))
		if err != nil {
			t.Fatal(err)
		}
		d, err := docs.Read(path, source)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, b := range d.Blocks {
			if b.Language != "sh" {
				continue
			}
			n, err := inBlock(b)
			commands += n
			if err != nil {
				t.Errorf("%s:%d: %v", path, b.Line, err)
			}
		}
		for _, s := range d.Spans {
			n, err := inSpan(s.Text)
			commands += n
			if err != nil {
				t.Errorf("%s:%d: `%s`: %v", path, s.Line, s.Text, err)
			}
			if sourcePath.MatchString(s.Text) {
				if _, err := os.Stat(filepath.Join(repository, s.Text)); err != nil {
					t.Errorf("%s:%d: %v", path, s.Line, err)
				}
			}
			if aTest.MatchString(s.Text) && !slices.Contains(tests, s.Text) {
				t.Errorf("%s:%d: there is no %s", path, s.Line, s.Text)
			}
		}
		for _, l := range d.Links {
			file, _, _ := strings.Cut(l.Text, "#")
			if file == "" || strings.Contains(file, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(repository, filepath.Dir(path), file)); err != nil {
				t.Errorf("%s:%d: link: %v", path, l.Line, err)
			}
		}
	}
	if commands < 100 {
		t.Errorf("only %d commands were found", commands)
	}
}

var (
	sourcePath = regexp.MustCompile(`^(?:agent|cmd|cnp|config|dataplane|deploy|docs|fabric|flowtable|internal|lab|marking|pfc|ratelimit|scheme|scripts|sim|telemetry|units|wire)/[\w./@-]+\.\w+$`)
	aTest      = regexp.MustCompile(`^Test[A-Z]\w*$`)
)

// testNames are the tests of all packages.
func testNames() (names []string, err error) {
	err = filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range testName.FindAllStringSubmatch(string(b), -1) {
			names = append(names, m[1])
		}
		return err
	})
	return names, err
}

// The checks above find what is wrong.
func TestDocumentsChecks(t *testing.T) {
	for text, want := range map[string]string{
		"photon switch --port net_tap0 --port net_tap1\n":                                        "",
		"ip netns exec h0 bin/photon show pfc counters\n":                                        "",
		"for s in pcn; do photon replay pcn/fig11 --schemes $s; done\nmake build BENCH=-quick\n": "",
		"install -m 755 bin/photon /usr/local/bin/photon\n":                                      "",
		"photon fly\n":                                 "unknown command",
		"x=$(bin/photon fly)\n":                        "unknown command",
		"ip netns exec h0 photon fly\n":                "unknown command",
		"photon switch --wings\n":                      "unknown flag",
		"photon replay pcn/fig99\n":                    "pcn/fig99",
		"photon explain nothing\n":                     "nothing",
		"photon list planets\n":                        "planets",
		"photon version of what\n":                     "version takes no argument",
		"make coffee\n":                                "coffee",
		"go test ./dataplane -run '^$' -bench Apply\n": "",
		"go test ./dataplane -run NothingSuch\n":       "NothingSuch",
		"go test ./nowhere\n":                          "nowhere",
		"if true\n":                                    "if",
	} {
		if _, err := inBlock(docs.Block{Language: "sh", Text: text}); fmt.Sprint(err) != "<nil>" && want == "" || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"photon show pfc counters --json": "", "bin/photon check FILE": "", "photon switch -c": "", "photon": "", "photon_port_discards_total": "", "make quick": "",
		"photon switch --wings": "wings", "bin/photon fly": "fly", "photon replay --serf 1": "serf", "make coffee": "coffee",
	} {
		if _, err := inSpan(text); err != nil && want == "" || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Programs that start the rest of their words.
var starters = []string{"ip", "ssh", "sudo", "env", "timeout", "taskset", "chroot", "podman", "docker", "kubectl"}

// inBlock checks the commands of a block and says how many photons and makes they are.
func inBlock(b docs.Block) (n int, err error) {
	all, err := docs.Commands(b)
	if err != nil {
		return 0, err
	}
	for _, words := range all {
		i := 0
		if slices.Contains(starters, words[0]) {
			if i = lastPhoton(words); i < 0 {
				continue
			}
		}
		switch {
		case filepath.Base(words[i]) == "photon":
			n++
			if err := parsed(words[i+1:]); err != nil {
				return n, err
			}
		case words[i] == "make":
			n++
			if out, err := target(words[i+1:]); err != nil {
				return n, fmt.Errorf("make %s: %s", strings.Join(words[i+1:], " "), out)
			}
		case len(words) > 2 && words[0] == "go" && words[1] == "test":
			n++
			if err := tested(words[2:]); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// lastPhoton is where a word is photon and the next one could be its command.
func lastPhoton(words []string) int {
	for i := len(words) - 2; i > 0; i-- {
		if filepath.Base(words[i]) == "photon" && !strings.HasPrefix(words[i+1], "-") {
			return i
		}
	}
	return -1
}

// tested looks whether the packages of a go test are there, and something that
// -run or -bench would choose.
func tested(words []string) error {
	var patterns, packages []string
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "-run", "-bench":
			if i++; i < len(words) && words[i] != "^$" && words[i] != "." {
				patterns = append(patterns, words[i])
			}
		case "-tags", "-cpu", "-count", "-benchtime", "-p":
			i++
		case "-v", "-race", "./...":
		default:
			packages = append(packages, words[i])
		}
	}
	names := ""
	for _, p := range packages {
		files, err := testFiles(p)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no tests in %s (%v)", p, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			for _, m := range testName.FindAllStringSubmatch(string(b), -1) {
				names += m[1] + "\n"
			}
		}
	}
	for _, p := range patterns {
		top, _, _ := strings.Cut(p, "/") // behind it are parts of one; names are lines
		if match, err := regexp.MatchString("(?m)"+top, names); err != nil || !match {
			return fmt.Errorf("%v have no test or benchmark %s", packages, p)
		}
	}
	return nil
}

// testFiles are the files with tests of a package, or of all below a folder (lab/...).
func testFiles(pattern string) (files []string, err error) {
	folder, below := strings.CutSuffix(pattern, "/...")
	root := filepath.Join(repository, folder)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && !below:
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

var testName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)

// target asks make what it would do.
func target(words []string) (string, error) {
	out, err := exec.Command("make", append([]string{"-n", "-C", repository}, words...)...).CombinedOutput()
	return string(out), err
}

// parsed reads a command line as photon does, and runs nothing.
func parsed(words []string) error {
	c, rest, err := newRoot().Find(words)
	if err != nil {
		return err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	args := c.Flags().Args()
	if c.HasSubCommands() && !c.Runnable() || c.Root() == c && len(args) > 0 {
		return fmt.Errorf("unknown command %q", words)
	}
	if err := c.ValidateArgs(args); err != nil {
		return err
	}
	switch c.Name() {
	case "replay":
		return experimentsExist(args)
	case "explain":
		for _, name := range args {
			if _, err := scheme.Get(name); err != nil && name != "aimd" { // that of docs/add-a-scheme.md
				return err
			}
		}
	}
	return nil
}

func experimentsExist(words []string) error {
	for _, word := range words {
		if _, err := experiment.Select(word); err != nil {
			return err
		}
	}
	return nil
}

// inSpan checks what is meant as a command within a line: placeholders and values
// left out are right, commands and flags that do not exist are not.
func inSpan(text string) (n int, err error) {
	words := strings.Fields(text)
	if strings.HasPrefix(text, "go test ") || strings.HasPrefix(text, "make ") {
		return inBlock(docs.Block{Language: "sh", Text: text})
	}
	if len(words) < 2 || filepath.Base(words[0]) != "photon" {
		return 0, nil
	}
	c, _, err := newRoot().Find(words[1:])
	if err != nil {
		return 1, err
	}
	c.InitDefaultVersionFlag()
	if c.Root() == c && !strings.HasPrefix(words[1], "-") {
		return 1, fmt.Errorf("there is no command %s", words[1])
	}
	c.InitDefaultHelpFlag()
	for _, w := range words[1:] {
		if !hasFlag(c, w) {
			return 1, fmt.Errorf("there is no flag %s", w)
		}
	}
	return 1, nil
}

func hasFlag(c *cobra.Command, word string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	switch {
	case name == "" || !strings.HasPrefix(word, "-"):
		return true
	case strings.HasPrefix(word, "--"):
		return c.Flags().Lookup(name) != nil
	}
	return c.Flags().ShorthandLookup(name[:1]) != nil
}
