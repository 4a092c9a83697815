package ratelimit

import (
	"testing"
	"unsafe"
)

// Reaction points that are made one after the other share no line of the cache: their flows may be of hosts that
// different processors simulate.
func TestReactionPointsAreAlone(t *testing.T) {
	dcqcn, mlx, pcn, hpcc := DCQCNParams{}, MlxParams{}, PCNParams{}, HPCCParams{}
	timely, swift, power, ib, qcn, plus := TimelyParams{}, SwiftParams{}, PowerTCPParams{}, IBCCParams{}, QCNParams{}, DCQCNPlusParams{}
	for name, c := range map[string]struct {
		size uintptr
		make func() unsafe.Pointer
	}{
		"dcqcn":    {unsafe.Sizeof(DCQCN{}), func() unsafe.Pointer { return unsafe.Pointer(NewDCQCN(&dcqcn)) }},
		"dcqcn+":   {unsafe.Sizeof(DCQCNPlus{}), func() unsafe.Pointer { return unsafe.Pointer(NewDCQCNPlus(&plus, nil)) }},
		"mlx":      {unsafe.Sizeof(Mlx{}), func() unsafe.Pointer { return unsafe.Pointer(NewMlx(&mlx)) }},
		"pcn":      {unsafe.Sizeof(PCN{}), func() unsafe.Pointer { return unsafe.Pointer(NewPCN(&pcn)) }},
		"hpcc":     {unsafe.Sizeof(HPCC{}), func() unsafe.Pointer { return unsafe.Pointer(NewHPCC(&hpcc)) }},
		"timely":   {unsafe.Sizeof(Timely{}), func() unsafe.Pointer { return unsafe.Pointer(NewTimely(&timely)) }},
		"swift":    {unsafe.Sizeof(Swift{}), func() unsafe.Pointer { return unsafe.Pointer(NewSwift(&swift)) }},
		"powertcp": {unsafe.Sizeof(PowerTCP{}), func() unsafe.Pointer { return unsafe.Pointer(NewPowerTCP(&power)) }},
		"ibcc":     {unsafe.Sizeof(IBCC{}), func() unsafe.Pointer { return unsafe.Pointer(NewIBCC(&ib, nil)) }},
		"qcn":      {unsafe.Sizeof(QCN{}), func() unsafe.Pointer { return unsafe.Pointer(NewQCN(&qcn, 1)) }},
		"tcd":      {unsafe.Sizeof(TCD{}), func() unsafe.Pointer { return unsafe.Pointer(NewTCD(&dcqcn, false)) }},
	} {
		of := map[uintptr]int{}
		kept := make([]unsafe.Pointer, 20)
		for i := range kept {
			kept[i] = c.make()
			for line := uintptr(kept[i]) / 64; line <= (uintptr(kept[i])+c.size-1)/64; line++ {
				if other, taken := of[line]; taken {
					t.Errorf("%s: the %dth and the %dth share a line", name, other, i)
				}
				of[line] = i
			}
		}
	}
}
