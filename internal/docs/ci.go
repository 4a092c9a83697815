package docs

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CheckCI says whether a block may leave its commands to the script of continuous
// integration: the script has each of them as a line of its own, word by word,
// that nothing can skip and whose failure ends it. The error names the first
// command for which that is not so.
func CheckCI(b Block, script string) error {
	runs, odd, err := lines(script)
	if err != nil {
		return fmt.Errorf("the script: %w", err)
	}
	if len(odd) > 0 { // an exit in an if would skip what follows
		return fmt.Errorf("the script: %q is not a plain command", odd[0])
	}
	i := slices.IndexFunc(runs, func(l string) bool { return strings.HasPrefix(l, "set -e") })
	if i < 0 {
		return fmt.Errorf("the script does not begin with set -e: what fails in it does not end it")
	}
	runs = runs[i+1:]
	if end := slices.IndexFunc(runs, func(l string) bool { w, _, _ := strings.Cut(l, " "); return w == "exit" || w == "exec" }); end >= 0 {
		runs = runs[:end]
	}
	wants, odd, err := lines(b.Text)
	switch {
	case err != nil:
		return err
	case len(odd) > 0:
		return fmt.Errorf("%q is not a plain command, as a line of the script is", odd[0])
	case len(wants) == 0:
		return fmt.Errorf("there is no command in it")
	}
	for _, w := range wants {
		if !slices.Contains(runs, w) {
			return fmt.Errorf("the script does not run `%s`", w)
		}
	}
	return nil
}

// lines are the commands of a script that are run whatever happens before, a blank
// between words; odd is all else that is in it.
func lines(script string) (plain, odd []string, err error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, nil, err
	}
	for _, s := range file.Stmts {
		text := script[s.Pos().Offset():s.End().Offset()]
		c, ok := s.Cmd.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 || len(c.Assigns) > 0 || len(s.Redirs) > 0 || s.Background || s.Negated {
			odd = append(odd, text)
			continue
		}
		var words []string
		for _, w := range c.Args {
			words = append(words, script[w.Pos().Offset():w.End().Offset()])
		}
		plain = append(plain, strings.Join(words, " "))
	}
	return plain, odd, nil
}
