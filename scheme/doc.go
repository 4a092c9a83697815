// Package scheme holds the recipes: which congestion point, notification point
// and reaction point make a congestion control scheme, with which parameters
// and where their values come from. One file is one recipe.
//
// A recipe is all it takes to have a scheme in every experiment, in both worlds
// and in every configuration file.
package scheme
