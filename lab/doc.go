// Package lab repeats experiments of papers. It is the hall of a house whose rooms are passed
// in this order: an experiment is a data file (package experiment); its network is
// built in a world, the simulator or DPDK (build), or on machines elsewhere (remote);
// probes and metrics turn it into numbers (measure) while every scheme and seed is
// run (run); the paper's claims are judged by them (claim), and files, pages and
// pictures made of it all (report, figure). live shows it meanwhile.
package lab
