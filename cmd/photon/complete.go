package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"photon/agent"
	"photon/lab/experiment"
	"photon/scheme"
	"photon/telemetry/client"
	"photon/telemetry/show"
	"photon/telemetry/top"
)

// What a shell may offer for an argument or for the value of a flag
// (`photon completion bash|zsh|fish` prints what it needs for that). Files are
// offered where nothing here says otherwise.

var (
	yamlFiles = cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	folders   = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	nothing   = cobra.NoFileCompletions
	schemes   = words(func() []string { return scheme.Names() })
)

// of is what commands take, by their names without `photon`.
var ofArguments = map[string]cobra.CompletionFunc{
	"replay": experiments, "explain": first(schemes), "show": topics,
	"run": yamlFiles, "check": yamlFiles, "sweep": first(yamlFiles), "sweep collect": nil, // a file or a folder
	"report": first(folders), "man": first(folders), "list": nil, // it knows its arguments
}

// ofFlags is by name, wherever there is such a flag.
var ofFlags = map[string]cobra.CompletionFunc{
	"scheme": schemes, "schemes": list(func() []string { return scheme.Names() }),
	"world": fixed("sim", "dpdk", "both"), "schema": fixed("experiment", "sweep"), "sort": words(top.SortNames),
	"state": list(agent.StageNames),
	"name":  words(client.Running), "testbed": yamlFiles, "out": folders, "reproduction": folders,
	"metrics": fixed("off"), "log-format": fixed("text", "json"), "dilation": nothing, "seed": nothing, "rate": nothing, "count": nothing,
}

// addCompletions sets what every command and flag below c offers to complete.
func addCompletions(c *cobra.Command) error {
	for _, sub := range c.Commands() {
		if err := addCompletions(sub); err != nil {
			return err
		}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "photon"), " ")
	if f, ok := ofArguments[name]; ok {
		c.ValidArgsFunction = f
	} else if len(c.Commands()) == 0 {
		c.ValidArgsFunction = nothing
	}
	for flag, f := range ofFlags {
		if c.Flags().Lookup(flag) != nil && !(flag == "out" && (name == "report" || name == "capture")) { // those are files
			if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
				return err
			}
		}
	}
	if (name == "switch" || name == "agent") && c.Flags().Lookup("config") != nil { // that of `run` is no YAML
		return c.RegisterFlagCompletionFunc("config", yamlFiles)
	}
	return nil
}

func words(all func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return all(), cobra.ShellCompDirectiveNoFileComp
	}
}

func fixed(all ...string) cobra.CompletionFunc { return words(func() []string { return all }) }

// first offers something for the first argument only.
func first(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(c, args, part)
	}
}

// list offers what may follow the last comma, and is not there yet.
func list(all func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, part string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
		before := part[:strings.LastIndexByte(part, ',')+1]
		for _, w := range all() {
			if !slices.Contains(strings.Split(before, ","), w) {
				offers = append(offers, before+w)
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// experiments offers ids with their titles.
func experiments(_ *cobra.Command, args []string, _ string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
	all, err := experiment.Catalogue()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	for _, e := range all {
		if !slices.Contains(args, e.ID) {
			offers = append(offers, cobra.CompletionWithDesc(e.ID, e.Title))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}

// topics offers the next word of what `photon show` shows.
func topics(_ *cobra.Command, args []string, _ string) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, t := range show.Topics {
		w := strings.Fields(t.Name)
		if len(w) > len(args) && slices.Equal(w[:len(args)], args) {
			offers = append(offers, cobra.CompletionWithDesc(w[len(args)], t.Summary))
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}
