package docs

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Document is what a test looks at in one.
type Document struct {
	Path   string
	Blocks []Block // in their order
	Spans  []Span  // code within the text
	Links  []Span  // destinations of links and images
}

// Block is a fenced block.
type Block struct {
	Line     int    // of its first line of text, from 1
	Language string // sh, yaml, ...
	Mark     string // why it is not simply run; empty: it is
	Text     string
}

// Span is a piece of a line.
type Span struct {
	Line int
	Text string
}

// What a block can be. Whatever is not here is refused: a command must not go
// untried because its block is called by another name.
var (
	languages = []string{"sh", "text", "yaml", "go", "mermaid"}
	marks     = []string{"hardware", "cluster", "ci", "terminal"}
)

// Find returns the paths of all documents below a folder.
func Find(root string) (paths []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (rel != "." && strings.HasPrefix(d.Name(), ".") || rel == "bin" || rel == "out") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, rel)
		}
		return nil
	})
	return paths, err
}

// Read takes a document apart. The error names the line of a block that does not
// say what it is.
func Read(path string, source []byte) (*Document, error) {
	d := &Document{Path: path}
	line := func(at int) int { return 1 + bytes.Count(source[:at], []byte("\n")) }
	here := 1 // inline code does not know where it is; the paragraph does
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	err := ast.Walk(md.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			here = line(n.Lines().At(0).Start)
		}
		switch n := n.(type) {
		case *ast.CodeBlock:
			return ast.WalkStop, fmt.Errorf("%s:%d: a block without fence: begin it with ```sh, or with what else it is", path, here)
		case *ast.FencedCodeBlock:
			b, err := block(n, source, here)
			if err != nil {
				return ast.WalkStop, fmt.Errorf("%s:%d: %w", path, here, err)
			}
			d.Blocks = append(d.Blocks, b)
		case *ast.CodeSpan:
			var s strings.Builder
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					s.Write(t.Segment.Value(source))
				}
			}
			d.Spans = append(d.Spans, Span{here, strings.Join(strings.Fields(s.String()), " ")})
		case *ast.Link:
			d.Links = append(d.Links, Span{here, string(n.Destination)})
		case *ast.Image:
			d.Links = append(d.Links, Span{here, string(n.Destination)})
		}
		return ast.WalkContinue, nil
	})
	return d, err
}

func block(n *ast.FencedCodeBlock, source []byte, line int) (Block, error) {
	b := Block{Line: line, Text: string(n.Lines().Value(source))}
	var words []string
	if n.Info != nil {
		words = strings.Fields(string(n.Info.Segment.Value(source)))
	}
	if len(words) == 0 || !slices.Contains(languages, words[0]) {
		return b, fmt.Errorf("a fence says what is in it, one of %v; this one says %q", languages, words)
	}
	b.Language = words[0]
	if len(words) > 1 {
		b.Mark = words[1]
	}
	if len(words) > 2 || len(words) > 1 && (b.Language != "sh" || !slices.Contains(marks, b.Mark)) {
		return b, fmt.Errorf("the marks of a block of sh are %v, one at most; this fence says %q", marks, words)
	}
	return b, nil
}

var named = regexp.MustCompile(`^(?:#|//) file: (\S+)\n`)

// File is the name under which a block is to be written, if it is a file.
func (b Block) File() (name string, ok bool) {
	if m := named.FindStringSubmatch(b.Text); m != nil && b.Language != "sh" {
		return m[1], true
	}
	return "", false
}

// Runs says that the block is run, and not only looked at.
func (b Block) Runs() bool {
	return b.Language == "sh" && (b.Mark == "" || b.Mark == "terminal")
}
