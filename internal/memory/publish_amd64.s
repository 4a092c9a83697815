//go:build !race

#include "textflag.h"

// func Publish(x *atomic.Uint64, v uint64)
//
// Stores are seen in their order by every processor of this kind (AMD64 Architecture Programmer's Manual, volume 2,
// section 7.2). Go's own store is an exchange, which waits for all stores before it and for the line.
TEXT ·Publish(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), AX
	MOVQ v+8(FP), CX
	MOVQ CX, (AX)
	RET
