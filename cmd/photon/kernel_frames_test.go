//go:build dpdk

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"photon/wire"
)

// fragments are the two halves of a UDP packet from one host to another.
func fragments(from, to int, id uint16) (all [][]byte) {
	for i := range 2 {
		b := udp(from, to, 0, 434, uint32(id)) // of a priority that is not marked
		binary.BigEndian.PutUint16(b[18:], id)
		at := uint16(1 << 13) // more fragments
		if i == 1 {
			at = (434 - 34) / 8
		}
		binary.BigEndian.PutUint16(b[20:], at)
		wire.SetIPv4Checksum(b[14:])
		b[len(b)-1] = byte(i)
		all = append(all, b)
	}
	return all
}

// Nothing puts IPv4 fragments together on their way: each leaves as it came, in order,
// and hosts that fragment reach each other.
func TestFragmentsLeaveAsTheyCame(t *testing.T) {
	o := operate(t, "")
	o.hosts[1].Flush()
	var sent [][]byte
	for id := range uint16(50) {
		for _, f := range fragments(0, 1, 1000+id) {
			o.hosts[0].Send(f)
			sent = append(sent, f)
		}
	}
	isFragment := func(b []byte) bool {
		return len(b) > 34 && b[12] == 8 && b[13] == 0 && b[23] == wire.ProtoUDP && b[20]&0x3F|b[21] != 0
	}
	var got [][]byte
	within(t, func() bool {
		got = append(got, o.hosts[1].Collect(20*time.Millisecond, isFragment)...)
		return len(got) >= len(sent)
	}, func() string {
		return fmt.Sprintf("%d of %d fragments arrived\n%s", len(got), len(sent), o.process.log)
	})
	if !slices.EqualFunc(got, sent, bytes.Equal) {
		t.Errorf("%d fragments arrive, changed or in another order", len(got))
	}
	for host := range 2 {
		o.address(host, "eth0", fmt.Sprintf("10.9.0.%d/24", host+1))
	}
	if !o.pings(0, "10.9.0.2", "-s", "4000") {
		t.Error("no ping of three fragments")
	}
	server := o.fourHosts.hosts[1].Command("iperf3", "-s", "-1", "--forceflush")
	listening := &watched{wait: "listening", found: make(chan struct{})}
	server.Stdout = listening
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	<-listening.found
	o.fourHosts.hosts[0].Run(t, "iperf3", "-u", "-c", "10.9.0.2", "-l", "8000", "-b", "10M", "-n", "1M")
	if err := server.Wait(); err != nil {
		t.Errorf("iperf3 server: %v", err)
	}
	if out := listening.String(); !strings.Contains(out, " 0/") {
		t.Errorf("UDP of 8000 bytes was lost:\n%s", out)
	}
	if n := o.discards("oversize"); n != 0 {
		t.Errorf("%v frames were put together", n)
	}
}
