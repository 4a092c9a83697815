package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// manCommand writes the manual pages; `make man` and the Debian package do so.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for every command into a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return bad(err)
			}
			root := newRoot()
			root.InitDefaultCompletionCmd()
			literal(root)
			root.DisableAutoGenTag = true
			never := time.Unix(0, 0).UTC() // SOURCE_DATE_EPOCH overrides it: the same sources give the same pages
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "photon " + version, Manual: "photon", Date: &never}, args[0])
		},
	}
}

// literal readies the texts of commands for a generator that takes them for
// Markdown: names in angle brackets are no HTML, and what is indented is set as it stands.
func literal(c *cobra.Command) {
	escape := strings.NewReplacer("<", `\<`, ">", `\>`, "*", `\*`)
	c.Short = escape.Replace(c.Short)
	lines := strings.Split(escape.Replace(c.Long), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "  ") {
			lines[i] = "  " + l
		}
	}
	c.Long = strings.Join(lines, "\n")
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = escape.Replace(f.Usage) })
	for _, sub := range c.Commands() {
		literal(sub)
	}
}
