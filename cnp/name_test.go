package cnp_test

import (
	"bytes"
	"testing"

	"photon/cnp"
	"photon/wire"
)

// A name comes out as it went in, and the CNP around it reads as before.
func TestNamedCNP(t *testing.T) {
	n := cnp.Notice{ECN: wire.CE, Word: 4000}
	for _, src := range []wire.IP{wire.IPv4(10, 0, 0, 1), {0xFD, 15: 1}} {
		dst := src
		dst[15] = 2
		to := wire.RoCE{DstMAC: 2, SrcMAC: 1, Src: src, Dst: dst, TOS: 48 << 2, SrcPort: 0xC000}
		for _, name := range []cnp.Name{{}, {Ports: true, Proto: 6, SrcPort: 1000, DstPort: 80}, {Ports: true}, {Data: true, QP: 0xABCDEF}, {Data: true}} {
			b, plain := make([]byte, cnp.MaxLen), make([]byte, cnp.MaxLen)
			b = b[:cnp.EncodeNamed(b, to, 7, name, n)]
			plain = plain[:cnp.Encode(plain, to, 7, n)]
			var h wire.Header
			if !wire.Parse(b, &h) {
				t.Fatal("it is no frame")
			}
			qp, notice, err := cnp.Decode(b, &h)
			if err != nil || qp != 7 || notice != n {
				t.Errorf("%+v: queue pair %d, %+v, %v", name, qp, notice, err)
			}
			if got := cnp.NameOf(b, &h); got != name {
				t.Errorf("%+v came out as %+v", name, got)
			}
			if !name.Ports && !name.Data && !bytes.Equal(b, plain) {
				t.Errorf("without a name it is no ordinary CNP:\n% x\n% x", b, plain)
			}
			if len(b) != len(plain) {
				t.Errorf("%d bytes, an ordinary CNP has %d", len(b), len(plain))
			}
		}
	}
}
