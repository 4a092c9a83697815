// Package chakra reads Chakra execution traces (MLCommons), as ASTRA-sim does: a file for each rank,
// with what it computes, sends, receives and does together with others, and what each of these waits for.
package chakra
