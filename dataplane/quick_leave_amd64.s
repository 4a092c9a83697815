#include "go_asm.h"
#include "textflag.h"

// FOUR is a word four times.
#define FOUR(name, word) \
	DATA name<>+0(SB)/4, word; \
	DATA name<>+4(SB)/4, word; \
	DATA name<>+8(SB)/4, word; \
	DATA name<>+12(SB)/4, word; \
	GLOBL name<>(SB), RODATA|NOPTR, $16

FOUR(owner, $0x7FFFF)                                              // In, and the priority behind it
FOUR(strides, $((switchPort__size>>const_accountShift) + (1<<16))) // what they count
FOUR(length, $0xFFFF)                                              // Len, before Off

// PIECE copies takePiece frames.
#define PIECE(from, to) \
	MOVOU 0(from), X0; \
	MOVOU 16(from), X1; \
	MOVOU 32(from), X2; \
	MOVOU 48(from), X3; \
	MOVOU 64(from), X4; \
	MOVOU 80(from), X5; \
	MOVOU 96(from), X6; \
	MOVOU 112(from), X7; \
	MOVOU X0, 0(to); \
	MOVOU X1, 16(to); \
	MOVOU X2, 32(to); \
	MOVOU X3, 48(to); \
	MOVOU X4, 64(to); \
	MOVOU X5, 80(to); \
	MOVOU X6, 96(to); \
	MOVOU X7, 112(to)

// func takeAhead(l *leaving, ports []switchPort, p *switchPort, ready uint, burst *Frame, room uint) (queues, n, eased uint)
TEXT ·takeAhead(SB), NOSPLIT, $128-88
	MOVQ l+0(FP), AX
	MOVQ p+32(FP), SI
	MOVQ ready+40(FP), BX
	MOVQ burst+48(FP), R8           // where the next goes
	MOVQ room+56(FP), R15
	XORL DX, DX                     // frames
	XORL DI, DI                     // queues

queue:
	BSRL BX, R9
	MOVL R9, R10
	SHLQ $const_levelShift, R10
	LEAQ switchPort_queues(SI)(R10*1), R10
	CMPL queue_head(R10), $0
	JNE  gathered
	MOVL queue_tail(R10), R11
	LEAQ (DX)(R11*1), R12
	CMPQ R12, R15
	JHI  gathered
	MOVQ queue_ring(R10), R13
	BTSL R9, DI
	BTRL R9, BX
	LEAQ const_takePiece(DX), R10
	CMPQ R10, R15
	JHI  rest
	PIECE(R13, R8)
	CMPL R11, $const_takePiece
	JHI  more
copied:
	SHLQ $4, R11
	ADDQ R11, R8
	MOVQ R12, DX
	TESTL BX, BX
	JNE  queue

gathered:
	MOVQ DI, queues+64(FP)
	XORL R8, R8
	TESTL DX, DX
	JEQ  none

	// Four at a time: their accounts, whether each is that of the frame before, sums,
	// and what is lossless and markable.
	MOVQ burst+48(FP), SI
	XORL CX, CX
	XORL R11, R11                   // has the account of the frame before
	XORL R12, R12                   // markable
	XORL R13, R13                   // lossless
	MOVQ ports_len+16(FP), R9
	IMULQ $switchPort__size, R9
	DECQ R9
	MOVQ R9, X10
	PSHUFL $0, X10, X10             // no account is further
	MOVOU owner<>(SB), X8
	MOVOU strides<>(SB), X9
	MOVOU length<>(SB), X13
	PXOR X11, X11                   // negative: one is outside
	PCMPEQL X12, X12
	PSRLO $12, X12                  // the account of the frame before: none
	PXOR X14, X14                   // bytes so far

four:
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVO  X0, X4
	MOVO  X2, X5
	UNPCKHPS X1, X4
	UNPCKHPS X3, X5
	MOVHLPS X4, X5                  // their last words: In, Prio, Flag
	UNPCKLPS X1, X0
	UNPCKLPS X3, X2
	MOVHLPS X0, X2                  // their second: Len, Off

	MOVMSKPS X5, R8                 // the highest bit of Flag
	MOVO  X5, X4
	PSLLL $1, X4
	MOVMSKPS X4, R9                 // the next
	SHLQ  CX, R8
	SHLQ  CX, R9
	ORQ   R8, R12
	ORQ   R9, R13

	PAND  X8, X5
	PMADDWL X9, X5
	PSLLL $const_accountShift, X5
	MOVOU X5, account-128(SP)(CX*4) // in bytes from the first port's of priority 0
	MOVO  X5, X4
	PCMPGTL X10, X4
	POR   X5, X11
	POR   X4, X11
	MOVO  X5, X4
	PSLLO $4, X4
	POR   X12, X4
	PCMPEQL X5, X4
	MOVMSKPS X4, R8
	SHLQ  CX, R8
	ORQ   R8, R11
	MOVO  X5, X12
	PSRLO $12, X12

	PAND  X13, X2
	MOVO  X2, X4
	PSLLO $4, X4
	PADDL X4, X2
	MOVO  X2, X4
	PSLLO $8, X4
	PADDL X4, X2
	PADDL X14, X2
	MOVOU X2, (leaving_sums+4)(AX)(CX*4)
	PSHUFL $0xFF, X2, X14

	ADDQ  $64, SI
	ADDL  $4, CX
	CMPL  CX, DX
	JCS   four

	XORL R8, R8
	MOVMSKPS X11, R9
	TESTL R9, R9
	JNE  none
	MOVL DX, CX
	MOVQ $-1, R9
	SHLQ CX, R9
	NOTQ R9
	ANDQ R9, R12
	MOVQ R12, leaving_markable(AX)
	NOTQ R13
	BTSQ DX, R13
	TZCNTQ R13, R13                   // the first that is not lossless, or the end
	NOTQ R11
	BTSQ R13, R11                   // where runs of one account begin, and the end
	MOVQ ports_base+8(FP), R10
	LEAQ -1(R11), R9                // the first run begins with the first frame
	ANDQ R9, R11
	XORL BX, BX                     // bytes before the run
	TESTL R13, R13
	JEQ  done

	// Its account, and where the next one begins, in R8.
run:
	MOVL account-128(SP)(R8*4), R9
	MOVQ (switchPort_in+const_accountsAt+const_accountBytes)(R10)(R9*1), R12
	CMPQ R12, (switchPort_in+const_accountsAt+const_accountEasy)(R10)(R9*1)
	JGT  done
	TZCNTQ R11, R8
	LEAQ -1(R11), R14
	ANDQ R14, R11
	ADDQ BX, R12
	MOVL leaving_sums(AX)(R8*4), BX
	SUBQ BX, R12
	MOVQ R12, (switchPort_in+const_accountsAt+const_accountBytes)(R10)(R9*1)
	CMPL R8, R13
	JNE  run
done:
	MOVQ DX, n+72(FP)
	MOVQ R8, eased+80(FP)
	RET

none:
	MOVQ R8, queues+64(FP)
	MOVQ R8, n+72(FP)
	MOVQ R8, eased+80(FP)
	RET

	// A queue of more than a piece, and one where a whole piece would not fit: frames are
	// copied up to R12.
more:
	ADDQ $const_takePiece, DX
	ADDQ $(16*const_takePiece), R13
	ADDQ $(16*const_takePiece), R8
	SUBL $const_takePiece, R11
	LEAQ const_takePiece(DX), R10
	CMPQ R10, R15
	JHI  rest
	PIECE(R13, R8)
	CMPL R11, $const_takePiece
	JHI  more
	JMP  copied
rest:
	MOVOU (R13), X0
	MOVOU X0, (R8)
	ADDQ $16, R13
	ADDQ $16, R8
	DECL R11
	JNE  rest
	JMP  copied

// func markAhead(base unsafe.Pointer, most Start, unit uint, burst *Frame, which uint64) (left uint64)
TEXT ·markAhead(SB), NOSPLIT, $0-48
	MOVQ base+0(FP), SI
	MOVQ most+8(FP), R8
	MOVQ unit+16(FP), CX
	MOVQ burst+24(FP), BX
	MOVQ which+32(FP), DX

	// Where its IP header is.
frame:
	TZCNTQ  DX, R9
	SHLQ    $4, R9
	MOVQ    (BX)(R9*1), R10
	MOVBLZX 15(BX)(R9*1), R11       // Flag
	ANDL    $const_offsetL3, R11
	MOVL    R10, R12
	SHLQ    CX, R12
	SHRQ    $48, R10                // Off
	ADDQ    R11, R12
	ADDQ    R10, R12
	CMPQ    R12, R8
	JHI     stop

	// wire.SetCE of IPv4.
	MOVWLZX (SI)(R12*1), R13
	TESTL   $0x20, R13
	JNE     six
four:
	MOVL    R13, R14
	ORL     $0x300, R13
	XORL    R13, R14                // what the word grows by
	MOVWLZX 10(SI)(R12*1), R15
	SUBW    R14, R15
	SBBW    $0, R15
	MOVW    R13, (SI)(R12*1)
	MOVW    R15, 10(SI)(R12*1)
next:
	LEAQ    -1(DX), R9
	ANDQ    R9, DX
	JNE     frame
stop:
	MOVQ    DX, left+40(FP)
	RET

	// Of IPv6, if it is.
six:
	MOVL    R13, R14
	ANDL    $0xF0, R14
	CMPL    R14, $0x60
	JNE     four
	ORB     $0x30, 1(SI)(R12*1)
	JMP     next
