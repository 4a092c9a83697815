#include "go_asm.h"
#include "textflag.h"

// func matchKnown(m *match, frames *Frame, acts *action, n int) (known int)
//
// It is knownOneByOne (match.go) in assembly.
//
//	R8  m        SI  end of the frames       DI  end of their actions
//	BX  bits of all actions                  DX  the longest frame
//	R11 pieces   R12 lines of the cache      CX  shift of the hash
//	R13, R14, R15  key                       AX  the frame, and its length
//	R10 -2 for each frame that is left       R9, BP  for a moment
TEXT ·matchKnown(SB), NOSPLIT, $8-40
	MOVQ m+0(FP), R8
	MOVQ n+24(FP), R10
	MOVQ acts+16(FP), DI
	LEAQ (DI)(R10*8), DI
	ADDQ R10, R10
	MOVQ frames+8(FP), SI
	LEAQ (SI)(R10*8), SI
	NEGQ R10
	MOVQ match_bases(R8), R11
	MOVQ match_lines(R8), R12
	MOVQ match_shift(R8), CX
	XORL BX, BX
	XORL DX, DX

next:
	// where it begins, and how long it is
	MOVQ    (SI)(R10*8), AX
	MOVL    AX, R9
	SHRL    $const_refPieceShift, R9
	CMPQ    R9, match_pieces(R8)
	JAE     unreadable
	MOVQ    (R11)(R9*8), R9
	MOVL    AX, BP
	ANDL    $const_refPieceMask, BP
	SHLL    $const_refUnitShift, BP
	ADDQ    BP, R9
	MOVQ    AX, BP
	SHRQ    $48, BP
	CMPQ    BP, match_last(R8)
	JA      unreadable
	ADDQ    BP, R9
	SHRQ    $32, AX
	MOVWLZX AX, AX

	// its key
	MOVQ    (R9), R13
	MOVQ    8(R9), R14
	MOVQ    match_port(R8), R15
	MOVWLZX 12(R9), BP
	CMPL    BP, match_plain(R8)
	JNE     other
	LEAQ    -const_leastLen(AX), R9

keyed:
	CMPQ R9, match_most(R8)
	JA   unreadable

	// the places of the cache in which it may be
	MOVQ  match_mixSecond(R8), R9
	IMULQ R14, R9
	ROLQ  $const_mixRotate, R9
	XORQ  R13, R9
	XORQ  R15, R9
	IMULQ match_mixAll(R8), R9
	SHRQ  CX, R9
	SHLQ  $const_cacheLineShift, R9
	ADDQ  R12, R9
	CMPQ  R13, key_first(R9)
	JNE   second
	CMPQ  R14, key_second(R9)
	JNE   second
	CMPQ  R15, key_where(R9)
	JNE   second

found:
	MOVQ    remembered_action(R9), R9
	ORQ     R9, BX
	ORQ     match_in(R8), R9
	MOVQ    R9, (DI)(R10*4)
	CMPQ    AX, DX
	CMOVQHI AX, DX
	ANDL    $7, R9
	ADDQ    match_one(R8), AX
	ADDQ    AX, match_sums(R8)(R9*8)
	ADDQ    $2, R10
	JNE     next
	JMP     done

second:
	ADDQ $remembered__size, R9
	CMPQ R13, key_first(R9)
	JNE  unknown
	CMPQ R14, key_second(R9)
	JNE  unknown
	CMPQ R15, key_where(R9)
	JEQ  found

unknown:
	MOVQ R13, match_key+key_first(R8)
	MOVQ R14, match_key+key_second(R8)
	MOVQ R15, match_key+key_where(R8)
	JMP  done

unreadable:
	MOVQ $const_noKey, R9
	MOVQ R9, match_key+key_where(R8)

done:
	MOVQ BX, match_all(R8)
	MOVQ DX, match_longest(R8)
	SARQ $1, R10
	ADDQ n+24(FP), R10
	MOVQ R10, known+32(FP)
	RET

	// not IPv4, or the source is hidden
other:
	CMPL BP, $const_keyIPv6
	JEQ  ipv6
	CMPL BP, $const_keyVLAN
	JEQ  tagged
	CMPL BP, $const_keyQinQ
	JEQ  tagged
	CMPL BP, $const_keyCNTag
	JEQ  tagged
	JMP  whole

ipv6:
	MOVQ $~const_flowLabelBits, BP
	ANDQ BP, R14

whole:
	LEAQ -const_leastLen(AX), R9
	JMP  hide

tagged:
	MOVL 16(R9), BP
	SHLQ $32, BP
	ORQ  BP, R15
	LEAQ -(const_leastLen+const_keyTagLen)(AX), R9

hide:
	CMPB match_hide(R8), $0
	JEQ  keyed

	// BP is the source's first 16 bits, then whether nobody may have it
	MOVQ R13, BP
	SHRQ $48, BP
	SHLQ $16, R13
	SHRQ $16, R13
	TESTL R14, R14
	JNE  nobody
	CMPL BP, $1
	ADCL $0, BP // 1 if the source is 0

nobody:
	ANDL $1, BP
	SHLQ $48, BP
	ORQ  BP, R13
	SHRQ $32, R14
	SHLQ $32, R14
	JMP  keyed
