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
	if best := suggest.Closest(unknown.GetSpecifiedName(), names); best != "" {
		otherwise = fmt.Sprintf("is --%s meant?", best)
	}
	return bad(fmt.Errorf("%w (%s)", err, otherwise))
}

// unknownCommand refuses words that are no command, and suggests a similar one.
func unknownCommand(root *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return bad(fmt.Errorf("unknown command %q (%s)", words[0], suggest.Or(words[0], names, "photon --help lists them")))
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
