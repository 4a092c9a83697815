// Package hpccfiles reads and writes the files of the HPCC authors' simulator,
// which others of this field exchange: a topology, a list of flows and a
// configuration go in; flow completion times, pauses and queue lengths come out,
// in the columns that scripts for that simulator expect. docs/hpcc-files.md says
// what is understood, and where this simulator differs.
package hpccfiles
