#include "go_asm.h"
#include "textflag.h"

// Odd numbers that place mixes addresses by.
DATA mixRest<>+0(SB)/8, $const_mixRest
GLOBL mixRest<>(SB), RODATA|NOPTR, $8
DATA mixBoth<>+0(SB)/8, $const_mixBoth
GLOBL mixBoth<>(SB), RODATA|NOPTR, $8

// func readAhead(h *heads, burst *Frame, to *int32, n int) (done int)
TEXT ·readAhead(SB), NOSPLIT, $0-40
	MOVQ h+0(FP), AX
	MOVQ burst+8(FP), BX
	MOVQ to+16(FP), R10
	MOVQ n+24(FP), DX
	SHLQ $4, DX
	ADDQ BX, DX
	MOVQ DX, n+24(FP)               // where the burst ends
	MOVQ heads_unit(AX), CX
	MOVQ heads_bytes(AX), DX
	MOVQ heads_base(AX), SI
	MOVQ heads_places(AX), DI
	MOVQ heads_classes(AX), R8
	MOVQ heads_mine(AX), R9

frame:
	// Where it begins, and whether it is within its bounds.
	MOVQ    (BX), R13
	MOVL    R13, R11
	SHLQ    CX, R11
	MOVQ    R13, R12
	SHRQ    $48, R12                // Off
	CMPQ    R12, heads_last(AX)
	JHI     stop
	ADDQ    R12, R11
	CMPQ    R11, heads_most(AX)
	JHI     stop
	SHRQ    $32, R13
	MOVWLZX R13, R13                // Len
	LEAQ    -const_quickLen(R13), R12
	CMPQ    R12, heads_room(AX)
	JHI     stop
	ADDQ    SI, R11                 // its first byte

	// Quick.Plain, TOS and CNP.
	MOVL    12(R11), R12
	MOVL    20(R11), R14
	ANDL    $0xFFFFFF, R12
	ANDL    $0xFF00FF1F, R14
	CMPL    R12, $0x450008
	JNE     stop
	CMPL    R14, $(17<<24)
	JNE     other
	CMPB    42(R11), $0x81          // wire.OpCNP
	JEQ     stop
read:
	MOVBLZX 15(R11), R12
	MOVQ    (R8)(R12*8), R12
	ORQ     heads_in(AX), R12
	MOVQ    R12, 8(BX)

	// Quick.Pair, place and differs.
	MOVL    8(R11), R15
	MOVQ    (R11), R11
	MOVQ    mixRest<>(SB), R14
	IMULQ   R15, R14
	XORQ    R11, R14
	IMULQ   mixBoth<>(SB), R14
	SHRQ    $const_mixDown, R14
	ANDQ    heads_mask(AX), R14
	SHLQ    $4, R14
	ORQ     R9, R15
	MOVQ    R14, R12                // it may be in the place beside: no branch finds that out
	XORQ    $16, R12
	CMPQ    R11, (DI)(R14*1)
	CMOVQNE R12, R14
	XORQ    (DI)(R14*1), R11
	XORQ    8(DI)(R14*1), R15
	SHLQ    $12, R15
	ORQ     R11, R15
	JNE     beside
	MOVQ    8(DI)(R14*1), R14

	// queueOf the port it leads to and its priority.
found:
	SHRQ    $52, R14
	MOVBLZX 14(BX), R12
	ANDL    $7, R12
	LEAL    (R12)(R14*8), R12
	MOVL    R12, (R10)
	ADDQ    R13, DX
	ADDQ    $16, BX
	ADDQ    $4, R10
	CMPQ    BX, n+24(FP)
	JNE     frame
stop:
	MOVQ    DX, heads_bytes(AX)
	SUBQ    burst+8(FP), BX
	SHRQ    $4, BX
	MOVQ    BX, done+32(FP)
	RET

other:
	CMPL    R14, $(6<<24)
	JEQ     read
	JMP     stop

// BESIDE tries another place of the line.
#define BESIDE(by, found) \
	XORQ $by, R14; \
	MOVQ R12, R11; \
	MOVQ R15, CX; \
	XORQ (DI)(R14*1), R11; \
	XORQ 8(DI)(R14*1), CX; \
	SHLQ $12, CX; \
	ORQ  R11, CX; \
	JEQ  found

	// pairs.beside, for which registers are made free.
beside:
	MOVL 0(BX), R11
	MOVQ 0(BX), R15
	SHLQ CX, R11
	SHRQ $48, R15
	ADDQ R15, R11
	MOVL 8(SI)(R11*1), R15
	MOVQ 0(SI)(R11*1), R12
	ORQ  R9, R15
	BESIDE(16, elsewhere)
	BESIDE(48, elsewhere)
	BESIDE(16, elsewhere)
	MOVQ heads_unit(AX), CX
	JMP  stop

elsewhere:
	MOVQ heads_unit(AX), CX
	MOVQ 8(DI)(R14*1), R14
	JMP  found

// func appendAhead(w *switchWorker, ports []switchPort, burst *Frame, i, n uint) (end, began uint)
TEXT ·appendAhead(SB), NOSPLIT, $0-72
	MOVQ w+0(FP), AX
	MOVQ ports_base+8(FP), SI
	MOVQ ports_len+16(FP), CX
	MOVQ burst+32(FP), BX
	MOVQ i+40(FP), DI
	MOVQ DI, R8
	SHLQ $4, R8
	ADDQ R8, BX
	MOVQ $(1<<32), R15              // a frame, in a tally
	XORL DX, DX                     // queues that began

frame:
	// The queue, which is open.
	MOVL    switchWorker_to(AX)(DI*4), R8
	ANDL    $~const_viaHop, R8      // what is no queue's is too large
	MOVL    R8, R9
	MOVL    R8, R10
	SHRL    $3, R9
	ANDL    $7, R10
	CMPQ    R9, CX
	JCC     stop
	IMULQ   $switchPort__size, R9
	ADDQ    SI, R9
	MOVBLZX switchPort_open(R9), R11
	BTL     R10, R11
	JCC     stop
	MOVQ    R10, R12
	SHLQ    $const_levelShift, R12
	LEAQ    switchPort_queues(R9)(R12*1), R9

	// Its next place, if it has one.
	MOVL    queue_tail(R9), R11
	MOVQ    (queue_ring+8)(R9), R13
	MOVL    R11, R12
	SUBL    queue_head(R9), R12
	CMPQ    R12, R13
	JCC     stop
	MOVW    R8, switchWorker_began(AX)(DX*2)
	CMPL    R12, $1                 // was it empty?
	ADCL    $0, DX
	DECQ    R13
	ANDQ    R11, R13
	SHLQ    $4, R13
	ADDQ    queue_ring(R9), R13
	MOVOU   (BX), X0
	MOVWLZX 4(BX), R14              // Len
	MOVOU   X0, (R13)

	// The counts.
	INCL    R11
	MOVL    R11, queue_tail(R9)
	INCQ    (level_lane+lane_enqueued)(R9)
	ADDQ    R14, queue_bytes(R9)
	ADDQ    R15, R14
	ADDQ    R14, (switchWorker_all+admissions_of8)(AX)(R10*8)
	ADDQ    $16, BX
	INCQ    DI
	CMPQ    DI, n+48(FP)
	JNE     frame
stop:
	MOVQ    DI, end+56(FP)
	MOVQ    DX, began+64(FP)
	RET
