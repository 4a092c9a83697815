//go:build linux

package testnet

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"strings"
	"testing"
)

// Tshark decodes frames and returns the values of the named fields, a row a
// frame. It fails the test if tshark finds a frame malformed.
func Tshark(t testing.TB, frames [][]byte, fields ...string) (rows [][]string) {
	t.Helper()
	// What a SEND brings is not RPC because its first bytes could be.
	args := []string{"-r", "-", "--disable-protocol", "rpcordma", "-T", "fields", "-E", "separator=|", "-e", "_ws.malformed"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	c := exec.Command("tshark", args...)
	c.Stdin = bytes.NewReader(pcap(frames))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(string(out)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if row[0] != "" {
			t.Errorf("tshark finds frame %d malformed: %s", len(rows)+1, line)
		}
		rows = append(rows, row[1:])
	}
	if len(rows) != len(frames) {
		t.Fatalf("tshark read %d of %d frames\n%s", len(rows), len(frames), stderr.String())
	}
	return rows
}

// pcap is the classic capture file format: a header of 24 bytes, and one of 16
// before each frame.
func pcap(frames [][]byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0xA1B2C3D4)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = binary.LittleEndian.AppendUint32(b, 65535)
	b = binary.LittleEndian.AppendUint32(b, 1) // Ethernet
	for i, f := range frames {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = append(b, 0, 0, 0, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}
