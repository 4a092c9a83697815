package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/chakra"
	"photon/lab/hpccfiles"
	"photon/lab/htsim"
	"photon/units"
)

// trace reads the flows of a connection matrix, or of execution traces.
func (h *hpccFlags) trace() (t *hpccfiles.Trace, warnings []string, err error) {
	if h.chakra != "" {
		t, err = h.chakraTrace()
		return t, nil, err
	}
	b, err := os.ReadFile(h.matrix)
	if err != nil {
		return nil, nil, config.FileError(h.matrix, err)
	}
	m, err := htsim.Read(h.matrix, b)
	if err != nil {
		return nil, nil, err
	}
	t = &hpccfiles.Trace{File: h.matrix, Hosts: m.Nodes, Flows: m.Flows, Until: units.Second}
	for i := range m.Connections {
		c := &m.Connections[i]
		t.IDs = append(t.IDs, c.ID)
		t.Until = max(t.Until, c.Start+units.Second)
	}
	return t, m.Skipped, nil
}

// rankFile is the file of a rank.
func rankFile(prefix string, rank int) string { return fmt.Sprintf("%s.%d.et", prefix, rank) }

// checkRanks says that there is no file of a rank, and one of a later one: a trace of the ranks before would be
// another.
func (h *hpccFlags) checkRanks(ranks int) error {
	entries, err := os.ReadDir(filepath.Dir(h.chakra))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		number, found := strings.CutPrefix(entry.Name(), filepath.Base(h.chakra)+".")
		rank, err := strconv.Atoi(strings.TrimSuffix(number, ".et"))
		if found && err == nil && rank > ranks && entry.Name() == filepath.Base(rankFile(h.chakra, rank)) {
			return fmt.Errorf("%s: there is no such file, but %s (a trace has one for each rank)",
				rankFile(h.chakra, ranks), entry.Name())
		}
	}
	return nil
}

// chakraTrace reads the files of all ranks.
func (h *hpccFlags) chakraTrace() (*hpccfiles.Trace, error) {
	x := &chakra.Trace{}
	for rank := 0; ; rank++ {
		file := rankFile(h.chakra, rank)
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && rank > 0 {
			if err := h.checkRanks(rank); err != nil {
				return nil, err
			}
			break
		}
		if err != nil {
			return nil, config.FileError(file, err)
		}
		r, err := chakra.Read(file, b)
		if err != nil {
			return nil, err
		}
		x.Ranks = append(x.Ranks, r)
	}
	if h.groups != "" {
		b, err := os.ReadFile(h.groups)
		if err != nil {
			return nil, config.FileError(h.groups, err)
		}
		if x.Groups, err = chakra.ReadGroups(h.groups, b); err != nil {
			return nil, err
		}
	}
	return &hpccfiles.Trace{File: h.chakra, Hosts: len(x.Ranks), Flows: x.Flows, Until: x.Computed() + units.Second}, nil
}
