package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFoldersMapTheirFiles: the package comment of every folder of three files or more is in doc.go, and names each of
// them, so that a reader knows where to look; and it names no file that does not exist.
func TestFoldersMapTheirFiles(t *testing.T) {
	files := map[string][]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "bin" || name == "out" || name == "testdata" || strings.HasPrefix(name, ".") && len(name) > 2) {
			return fs.SkipDir
		}
		if name := d.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && name != "doc.go" {
			dir := filepath.Dir(path)
			files[dir] = append(files[dir], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 40 {
		t.Fatalf("only %d folders were found", len(files))
	}
	file := regexp.MustCompile(`[a-z0-9_]+\.go\b`)
	for dir, names := range files {
		if len(names) < 3 {
			continue
		}
		doc, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		named := map[string]bool{}
		for _, name := range file.FindAllString(doc.Doc.Text(), -1) {
			named[name] = true
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil && name != "doc.go" {
				t.Errorf("%s/doc.go names %s, which is not there", dir, name)
			}
		}
		for _, name := range names {
			if !named[name] {
				t.Errorf("%s/doc.go does not name %s", dir, name)
			}
		}
	}
}

// TestLinesFit: lines of documents have 110 columns at most, but for rows of tables and what a program printed.
func TestLinesFit(t *testing.T) {
	pages := []string{"../../README.md", "../../CHANGELOG.md", "../../CONTRIBUTING.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) < 3 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		printed := false
		for i, line := range strings.Split(string(text), "\n") {
			switch {
			case strings.HasPrefix(line, "```"):
				printed = line == "```text"
			case !printed && !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > 110:
				t.Errorf("%s:%d has %d columns", page, i+1, utf8.RuneCountInString(line))
			}
		}
	}
}
