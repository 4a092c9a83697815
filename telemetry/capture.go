package telemetry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
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
	Stop func()                     // ends it
}

// Captures answers to `photon capture`: begin has frames of a port copied, of
// each the first snap bytes.
func (a *Admin) Captures(begin func(port string, snap int) (*Capture, error)) {
	a.mux.HandleFunc("GET /capture", func(w http.ResponseWriter, r *http.Request) {
		snap, err := strconv.Atoi(r.FormValue("snap"))
		if err != nil || snap < 1 || snap > maxSnap {
			refuse(w, fmt.Errorf("%q bytes of each frame: from 1 to %d", r.FormValue("snap"), maxSnap))
			return
		}
		c, err := begin(r.FormValue("port"), snap)
		if err != nil {
			refuse(w, err)
			return
		}
		defer c.Stop()
		w.Header().Set("Content-Type", "application/x-pcapng")
		_ = c.stream(r.Context(), w, http.NewResponseController(w).Flush) // who asked has gone
	})
}

// maxSnap is the longest frame.
const maxSnap = 9216 + 18

// stream writes pcapng until the context ends: an interface of the port's name,
// and for each frame its direction and, as a comment, its priority.
func (c *Capture) stream(ctx context.Context, w io.Writer, flush func() error) error {
	ng, err := pcapgo.NewNgWriterInterface(w, pcapgo.NgInterface{Name: c.Port, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9},
		pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "photon"}})
	if err != nil {
		return err
	}
	seen := uint64(0)
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
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
		select {
		case <-look.C:
		case <-ctx.Done():
			err := ng.WriteInterfaceStats(0, pcapgo.NgInterfaceStatistics{LastUpdate: time.Now(), PacketsReceived: seen + c.Tap.Lost(), PacketsDropped: c.Tap.Lost()})
			if err != nil {
				return err
			}
			return ng.Flush()
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
