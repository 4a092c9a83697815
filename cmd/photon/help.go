package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how long a line of flags may be: that of the documents.
const helpWidth = 110

// part is the annotation of a flag that is listed in a part of its own, below this title.
const part = "part"

// All commands of the process have their functions for templates in common.
func init() { cobra.AddTemplateFunc("flagUsages", flagUsages) }

// setUsage has the flags of all commands wrapped, and those of a part below its title.
func setUsage(root *cobra.Command) {
	root.SetUsageTemplate(strings.NewReplacer(
		"Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagUsages .}}",
	).Replace(root.UsageTemplate()))
}

func flagUsages(c *cobra.Command) string {
	titles := []string{"Flags"}
	parts := map[string]*pflag.FlagSet{"Flags": pflag.NewFlagSet("", pflag.ContinueOnError)}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := "Flags"
		if a := f.Annotations[part]; len(a) > 0 {
			title = a[0]
		}
		if parts[title] == nil {
			titles = append(titles, title)
			parts[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
		}
		parts[title].AddFlag(f)
	})
	var b strings.Builder
	for i, title := range titles {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(title + ":\n" + strings.TrimRight(parts[title].FlagUsagesWrapped(helpWidth), "\n "))
	}
	return b.String()
}

// helpCommand is in place of cobra's, for which it is no mistake to ask about what is no command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [command]",
		Short:             "Print the help of a command",
		Long:              "Print the help of a command: photon help flow add is photon flow add --help.",
		ValidArgsFunction: helpTopics,
		Args:              cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			at, rest, err := c.Root().Find(words)
			if err == nil {
				err = unknownCommand(at, rest)
			}
			if err != nil {
				return bad(err)
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// helpTopics offers the commands below those that are there.
func helpTopics(c *cobra.Command, words []string, _ string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
	at, rest, err := c.Root().Find(words)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range at.Commands() {
		if sub.IsAvailableCommand() {
			offers = append(offers, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// inPart lists flags below a title of their own.
func inPart(c *cobra.Command, title string, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, part, []string{title}); err != nil {
			panic(err) // there is no such flag
		}
	}
}
