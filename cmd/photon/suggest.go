package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"photon/internal/shell"
	"photon/internal/suggest"
)

// unknownFlag adds to the error of an unknown flag the name of a similar one, and says of a number what belongs there.
func unknownFlag(c *cobra.Command, err error) error {
	var number *strconv.NumError
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && errors.As(err, &number) {
		return bad(fmt.Errorf("invalid argument %q for \"--%s\" flag: %s",
			invalid.GetValue(), invalid.GetFlag().Name, whatBelongs(number, invalid.GetFlag().Value.Type())))
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return bad(err)
	}
	otherwise := c.CommandPath() + " --help lists them"
	if unknown.GetSpecifiedShortnames() != "" {
		return bad(fmt.Errorf("%w (%s)", err, otherwise))
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if now := suggest.Renamed[suggest.Flag][unknown.GetSpecifiedName()]; now != "" && c.Flags().Lookup(now) != nil {
		otherwise = fmt.Sprintf("it is now --%s", now)
	} else if best := suggest.Closest(unknown.GetSpecifiedName(), names); best != "" {
		otherwise = fmt.Sprintf("is --%s meant?", best)
	}
	return bad(fmt.Errorf("%w (%s)", err, otherwise))
}

// whatBelongs is what belongs in the place of a value that is none of a flag's type, as errors of files say it.
func whatBelongs(wrong *strconv.NumError, kind string) string {
	switch {
	case errors.Is(wrong, strconv.ErrRange):
		return "that is too much"
	case kind == "bool":
		return "true or false belongs here"
	case strings.HasPrefix(kind, "uint"):
		return "a whole number from 0 belongs here"
	case strings.HasPrefix(kind, "int"):
		return "a whole number belongs here"
	}
	return "a number belongs here"
}

// unknownCommand refuses words that are no command of c's, and says which of them cobra finds similar.
func unknownCommand(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = min(2, len(words[0])/2) // two letters of three make any short command similar
	advice := c.CommandPath() + " --help lists them"
	if !c.HasAvailableSubCommands() {
		advice = c.CommandPath() + " has none"
	}
	if similar := c.SuggestionsFor(words[0]); len(similar) > 0 {
		advice = `is "` + strings.Join(similar, `" or "`) + `" meant?`
	}
	return bad(fmt.Errorf("unknown command %q (%s)", strings.TrimPrefix(c.CommandPath()+" "+words[0], "photon "), advice))
}

// refuseAsBad makes wrong arguments of c, and of what is below it, mistakes of the user.
func refuseAsBad(c *cobra.Command) {
	args := c.Args
	if args == nil {
		args = noArgs
	}
	c.Args = func(c *cobra.Command, words []string) error { return bad(args(c, words)) }
	for _, sub := range c.Commands() {
		refuseAsBad(sub)
	}
}

// noArgs refuses arguments.
func noArgs(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	if (c.Name() == "switch" || c.Name() == "agent") && isFile(words[0]) {
		return fmt.Errorf("%s: write -c %s", c.Name(), shell.Word(words[0]))
	}
	return fmt.Errorf("%s takes no argument (there is %q)", strings.TrimPrefix(c.CommandPath(), "photon "), words[0])
}

// needsShell has `photon completion` refuse what is no shell that it knows, for which it would print its help.
func needsShell(c *cobra.Command) {
	c.Args = unknownCommand
	c.RunE = func(*cobra.Command, []string) error {
		return bad(errors.New("name a shell: bash, fish, powershell or zsh"))
	}
	for _, shell := range c.Commands() {
		shell.Args = nil
		shell.Flags().Lookup("no-descriptions").Usage = "Offer names without what they are"
	}
}

// onlyOne says of which flags only one can be.
func onlyOne(err error) error {
	if err == nil {
		return nil
	}
	const begin, end = "; [", "] were all set"
	text := err.Error()
	from, to := strings.LastIndex(text, begin), strings.LastIndex(text, end)
	if from < 0 || to < from {
		return err
	}
	flags := strings.Fields(text[from+len(begin) : to])
	not := "all"
	if len(flags) == 2 {
		not = "both"
	}
	return fmt.Errorf("--%s: one of them, not %s", strings.Join(flags, " and --"), not)
}

// goesWith refuses flags that would have no effect: each is for one of others, and none of them is set.
func goesWith(c *cobra.Command, others []string, flags ...string) error {
	if slices.ContainsFunc(others, c.Flags().Changed) {
		return nil
	}
	for _, f := range flags {
		if c.Flags().Changed(f) {
			return bad(fmt.Errorf("--%s goes with --%s", f, strings.Join(others, " or --")))
		}
	}
	return nil
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
