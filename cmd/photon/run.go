package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/lab/build"
	"photon/lab/experiment"
)

func runCommand() *cobra.Command {
	var f replayFlags
	var h hpccFlags
	c := &cobra.Command{
		Use:   "run FILE... | run --topology FILE --flows FILE",
		Short: "Run experiments of your own, or the files of the HPCC simulator",
		Example: "  photon run mine.yaml\n" +
			"  photon run mine.yaml --schemes dcqcn,pcn --world both\n" +
			"  photon run --topology topology.txt --flows flow.txt --config config.txt",
		Long: "Run experiments of your own, in the format of those that come with photon (docs/experiments.md). Results go\n" +
			"where those of `photon replay` go.\n\n" +
			"With --topology and --flows, run the files of the HPCC simulator (docs/hpcc-files.md): OUT gets fct.txt, pfc.txt\n" +
			"and qlen.txt.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, files []string) error {
			if h.wanted(c) {
				if len(files) > 0 {
					return bad(errors.New("either experiments of your own or --topology and --flows, not both"))
				}
				return h.run(c, &f)
			}
			if len(files) == 0 {
				return bad(errors.New("name the files of experiments, or say --topology and --flows"))
			}
			var all []*experiment.Experiment
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					return bad(config.FileError(file, err))
				}
				e, err := experiment.Parse(file, b)
				if err == nil {
					err = build.Check(e)
				}
				if err != nil {
					return bad(wrongKind(file, experimentFile, err))
				}
				all = append(all, e)
			}
			return f.run(c, all)
		},
	}
	f.add(c)
	h.add(c)
	return c
}
