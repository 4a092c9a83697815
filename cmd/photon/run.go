package main

import (
	"os"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/lab"
)

func runCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run experiments of your own",
		Long: "Run experiments of your own, in the format of those that come with photon (docs/experiments.md). Results go\n" +
			"where those of `photon replay` go.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			var all []*lab.Experiment
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					return bad(config.FileError(file, err))
				}
				e, err := lab.Parse(file, b)
				if err != nil {
					return bad(err)
				}
				all = append(all, e)
			}
			return f.run(c, all)
		},
	}
	f.add(c)
	return c
}
