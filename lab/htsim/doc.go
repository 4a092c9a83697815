// Package htsim reads connection matrices, the traffic files of htsim (csg-htsim and uet-htsim): flows that
// start at a time or when triggers are activated by others.
package htsim
