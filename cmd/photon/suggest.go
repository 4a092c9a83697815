package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"photon/internal/suggest"
)

// unknownFlag adds to the error of an unknown flag the name of a similar one.
func unknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return bad(err)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	otherwise := c.CommandPath() + " --help lists them"
	if now := suggest.Renamed[suggest.Flag][unknown.GetSpecifiedName()]; now != "" && c.Flags().Lookup(now) != nil {
		otherwise = fmt.Sprintf("it is now --%s", now)
	} else if best := suggest.Closest(unknown.GetSpecifiedName(), names); best != "" {
		otherwise = fmt.Sprintf("is --%s meant?", best)
	}
	return bad(fmt.Errorf("%w (%s)", err, otherwise))
}

// unknownCommand refuses words that are no command of c's, and says which of them cobra finds similar.
func unknownCommand(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = min(2, len(words[0])/2) // two letters of three make any short command similar
	advice := c.CommandPath() + " --help lists them"
	if similar := c.SuggestionsFor(words[0]); len(similar) > 0 {
		advice = `is "` + strings.Join(similar, `" or "`) + `" meant?`
	}
	return bad(fmt.Errorf("unknown command %q (%s)", strings.TrimPrefix(c.CommandPath()+" "+words[0], "photon "), advice))
}

// exactlyOne requires one argument; what names it in errors.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return bad(fmt.Errorf("%s: name %s", strings.TrimPrefix(c.CommandPath(), "photon "), what))
		case len(args) > 1:
			return bad(fmt.Errorf("%s: name %s, and no more than one (there is %q, too)", strings.TrimPrefix(c.CommandPath(), "photon "), what, args[1]))
		}
		return nil
	}
}
