package pcapng

import (
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Interface is one of a file: a port.
type Interface struct{ Name, Description string }

// File is a pcapng of the frames of some ports.
type File struct {
	ng     *pcapgo.NgWriter
	frames []uint64 // by port
}

// Frame is one frame of a port.
type Frame struct {
	At       time.Time
	Out      bool // the node sent it
	Priority int  // -1: it has none
	Len      int  // without FCS
	Bytes    []byte
	Lost     uint64 // frames between the one before and this that are missing
}

// New begins a file: an interface for each port.
func New(w io.Writer, ports ...Interface) (*File, error) {
	f := &File{frames: make([]uint64, len(ports))}
	for i, p := range ports {
		as := pcapgo.NgInterface{
			Name: p.Name, Description: p.Description, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9,
		}
		var err error
		if i == 0 {
			by := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "photon"}}
			f.ng, err = pcapgo.NewNgWriterInterface(w, as, by)
		} else {
			_, err = f.ng.AddInterface(as)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Write writes a frame of a port: its direction and, as a comment, its priority.
func (f *File) Write(port int, frame *Frame) error {
	o := pcapgo.NgPacketOptions{Flags: &pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}}
	if frame.Out {
		o.Flags.Direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	if frame.Priority >= 0 {
		o.Comments = []string{fmt.Sprintf("priority %d", frame.Priority)}
	}
	if frame.Lost > 0 {
		o.DropCount = &frame.Lost
	}
	f.frames[port]++
	info := gopacket.CaptureInfo{
		Timestamp: frame.At, CaptureLength: len(frame.Bytes), Length: frame.Len, InterfaceIndex: port,
	}
	return f.ng.WritePacketWithOptions(info, frame.Bytes, o)
}

// Flush hands over what was written.
func (f *File) Flush() error { return f.ng.Flush() }

// End writes how many frames each port had, with those that are missing, and hands everything over.
func (f *File) End(at time.Time, missing uint64) error {
	for port, n := range f.frames {
		all := pcapgo.NgInterfaceStatistics{LastUpdate: at, PacketsReceived: n + missing, PacketsDropped: missing}
		if err := f.ng.WriteInterfaceStats(port, all); err != nil {
			return err
		}
	}
	return f.Flush()
}
