package main

import (
	"errors"
	"fmt"
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
		Short: "Run experiments of your own, or files of others: ns-3 with HPCC's model, htsim, Chakra",
		Example: "  photon run mine.yaml\n" +
			"  photon run mine.yaml --schemes dcqcn,pcn --world both\n" +
			"  photon run --topology topology.txt --flows flow.txt --config config.txt\n" +
			"  photon run --topology topology.txt --cm ring.cm",
		Long: "EXPERIMENTS. With FILE..., run experiments of your own, in the format of those that come with photon\n" +
			"(docs/experiments.md). Results go where those of `photon replay` go.\n\n" +
			"FILES OF OTHERS. With --topology and one of --flows, --cm and --chakra, run the files of the HPCC simulator\n" +
			"for ns-3, a connection matrix of htsim, or Chakra execution traces (docs/hpcc-files.md). OUT gets fct.txt,\n" +
			"pfc.txt and qlen.txt.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, files []string) error {
			if h.wanted(c) {
				if len(files) > 0 {
					if flag := h.misplaced(c); flag != "" {
						return bad(errors.New(flag))
					}
					return bad(errors.New("either experiments of your own or --topology and --flows, not both"))
				}
				return h.run(c, &f)
			}
			if len(files) == 0 {
				return bad(errors.New("name the files of experiments, or say --topology and --flows"))
			}
			for _, file := range files {
				if _, err := os.Stat(file); err != nil && f.page.isAddress(file) {
					return bad(fmt.Errorf("%q is no file of an experiment; to serve the page there, write --serve=%s",
						file, file))
				}
			}
			var all []*experiment.Experiment
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					return bad(noFile(file, err))
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
	inPart(c, "Flags for files of others", hpccOnly...)
	return c
}

// noFile is the error of a file that cannot be read, and says so if its name is that of an experiment.
func noFile(file string, err error) error {
	err = config.FileError(file, err)
	if _, _, none := experiment.Source(file); none == nil {
		return fmt.Errorf("%w (for the experiment that comes with photon: photon replay %s)", err, file)
	}
	return err
}
