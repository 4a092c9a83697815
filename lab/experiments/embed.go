// Package experiments holds the experiments that come with photon, a YAML file each.
package experiments

import "embed"

// Files are the experiments, by the folders of their papers.
//
//go:embed */*.yaml
var Files embed.FS
