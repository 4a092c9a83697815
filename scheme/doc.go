// Package scheme holds the recipes: which congestion point, notification point
// and reaction point make a congestion control scheme, with which parameters
// and where their values come from. One file is one recipe, or a family of them.
//
// A recipe is all it takes to have a scheme in every experiment, in both worlds
// and in every configuration file.
//
//	scheme.go   what a recipe says, what it may know of its network, and what is built from it
//	param.go    a parameter: declared once, with the variable that its value goes into
//	pcn.go, qcn.go, afqcn.go, dcqcn.go, dcqcnplus.go, mlx.go, pacc.go, tcd.go, timely.go, hpcc.go,
//	powertcp.go, swift.go, ib.go, none.go
//	            the recipes; one that shares a point with another takes its parameters from there
//	explain.go  recipes as text and as the page docs/schemes.md
package scheme
