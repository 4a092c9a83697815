// Package pcapng writes what a port receives and sends for Wireshark. It is apart
// from telemetry because the tables of protocols that come with the writer are
// megabytes, which what only asks a node need not carry.
package pcapng

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"photon/dataplane"
	"photon/units"
)

// Capture is frames of one port on their way to a file.
type Capture struct {
	Port string // its name
	Tap  *dataplane.Tap
	Wall func(units.Time) time.Time // of an instant of the node's
}

// Stream writes pcapng until the context ends: an interface of the port's name,
// and for each frame its direction and, as a comment, its priority.
func (c *Capture) Stream(ctx context.Context, w io.Writer, flush func() error) error {
	ng, err := pcapgo.NewNgWriterInterface(w, pcapgo.NgInterface{Name: c.Port, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9},
		pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "photon"}})
	if err != nil {
		return err
	}
	seen := uint64(0)
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	over := false
	for first := true; ; first = false {
		had := seen
		for c.Tap.Take(func(f *dataplane.Tapped) { err = c.write(ng, f) }) {
			if err != nil {
				return err
			}
			seen++
		}
		if seen > had || first { // the first is the head of the file: it says that the capture is on
			if err := ng.Flush(); err != nil {
				return err
			}
			if err := flush(); err != nil {
				return err
			}
		}
		if over { // with what came since the look before
			err := ng.WriteInterfaceStats(0, pcapgo.NgInterfaceStatistics{LastUpdate: time.Now(), PacketsReceived: seen + c.Tap.Lost(), PacketsDropped: c.Tap.Lost()})
			if err != nil {
				return err
			}
			return ng.Flush()
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			over = true
		}
	}
}

func (c *Capture) write(ng *pcapgo.NgWriter, f *dataplane.Tapped) error {
	o := pcapgo.NgPacketOptions{Flags: &pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}}
	if f.Out {
		o.Flags.Direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	if f.Priority >= 0 {
		o.Comments = []string{fmt.Sprintf("priority %d", f.Priority)}
	}
	if f.Lost > 0 {
		o.DropCount = &f.Lost
	}
	return ng.WritePacketWithOptions(gopacket.CaptureInfo{Timestamp: c.Wall(f.At), CaptureLength: len(f.Bytes), Length: f.Len}, f.Bytes, o)
}
