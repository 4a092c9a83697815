package docs

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parse reads what POSIX' shell reads.
func parse(b Block) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(b.Text), "")
}

// Commands returns the simple commands of a block, each as its words; a word with
// an expansion stands as it is written. The error is that of a shell that cannot
// read it.
func Commands(b Block) (commands [][]string, err error) {
	file, err := parse(b)
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			var words []string
			for _, w := range c.Args {
				words = append(words, word(w, b.Text))
			}
			commands = append(commands, words)
		}
		return true
	})
	return commands, nil
}

func word(w *syntax.Word, source string) string {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.SglQuoted:
			return p.Value
		case *syntax.DblQuoted:
			return strings.Trim(source[p.Pos().Offset():p.End().Offset()], `"`)
		}
	}
	return source[w.Pos().Offset():w.End().Offset()]
}

// remembering returns a block's text with the number of every process that it
// leaves in the background written down in $docs_pids, and how many of those are a
// photon that says when it serves.
func remembering(b Block) (script string, serving int, err error) {
	file, err := parse(b)
	if err != nil {
		return "", 0, err
	}
	last := 0
	var out strings.Builder
	syntax.Walk(file, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok || !s.Background {
			return true
		}
		end := int(s.Semicolon.Offset()) + 1
		if end <= last {
			return true // within one that is in the background itself
		}
		fmt.Fprintf(&out, "%s docs_pids=\"$docs_pids $!\"; ", b.Text[last:end])
		last = end
		if c, ok := s.Cmd.(*syntax.CallExpr); ok {
			for i, w := range c.Args[1:] {
				if v := w.Lit(); strings.HasSuffix(c.Args[i].Lit(), "photon") && (v == "switch" || v == "agent") {
					serving++
				}
			}
		}
		return true
	})
	return out.String() + b.Text[last:], serving, nil
}
