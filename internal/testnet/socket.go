//go:build linux

package testnet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Socket sends and receives raw frames on an interface.
type Socket struct {
	t      testing.TB
	fd     int
	name   string // of the interface
	missed uint32 // frames that the kernel had no room for, when one was last received
	buffer [1 << 16]byte
	beside [128]byte
}

// Open opens a packet socket on an interface of the namespace. It sees frames
// that arrive, not those that leave.
func (n *Namespace) Open(t testing.TB, iface string) *Socket {
	t.Helper()
	s := &Socket{t: t, name: iface + " in " + n.Name}
	err := n.Do(func() error {
		i, err := net.InterfaceByName(iface)
		if err != nil {
			return err
		}
		all := uint16(unix.ETH_P_ALL)<<8 | unix.ETH_P_ALL>>8
		if s.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all)); err != nil {
			return err
		}
		return errors.Join(
			unix.Bind(s.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: i.Index}),
			unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
			unix.SetsockoptPacketMreq(s.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &unix.PacketMreq{Ifindex: int32(i.Index), Type: unix.PACKET_MR_PROMISC}),
			unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 256<<20),
			unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
			unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1),
		)
	})
	if err != nil {
		t.Fatalf("packet socket on %s: %v", iface, err)
	}
	t.Cleanup(func() {
		if st, err := unix.GetsockoptTpacketStats(s.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil && st.Drops > 0 && t.Failed() {
			t.Logf("the observer at %s missed %d frames: what it did not see may have come", s.name, st.Drops)
		}
		unix.Close(s.fd)
	})
	return s
}

// Missed is how many frames came and were not received, up to the last that was: they came
// faster than the test read, and their senders are not to blame.
func (s *Socket) Missed() int { return int(s.missed) }

// Send sends a frame.
func (s *Socket) Send(frame []byte) {
	s.t.Helper()
	if _, err := unix.Write(s.fd, frame); err != nil {
		s.t.Fatalf("sending %d bytes: %v", len(frame), err)
	}
}

// SendSegments sends a TCP packet that the interface is to cut into segments of size
// bytes each, and whose checksum it is to fill in, as the kernel's own TCP does where
// offloads are on. TCP's header begins and ends at these offsets.
func (s *Socket) SendSegments(frame []byte, header, payload, size int) {
	s.t.Helper()
	if err := unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		s.t.Fatal(err)
	}
	h := []byte{unix.VIRTIO_NET_HDR_F_NEEDS_CSUM, unix.VIRTIO_NET_HDR_GSO_TCPV4}
	for _, v := range []int{payload, size, header, 16} { // the last: where TCP has its checksum
		h = binary.NativeEndian.AppendUint16(h, uint16(v))
	}
	if _, err := unix.Write(s.fd, append(h, frame...)); err != nil {
		s.t.Fatalf("sending %d bytes: %v", len(frame), err)
	}
	if err := unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 0); err != nil {
		s.t.Fatal(err)
	}
}

// Receive returns the next frame that arrives within a time, or nil.
func (s *Socket) Receive(within time.Duration) []byte {
	s.t.Helper()
	for deadline := time.Now().Add(within); ; {
		left := max(time.Until(deadline), 0)
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, int((left+time.Millisecond-1)/time.Millisecond))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			s.t.Fatal(err)
		}
		if ready == 0 {
			return nil
		}
		n, k, _, _, err := unix.Recvmsg(s.fd, s.buffer[:], s.beside[:], 0)
		if errors.Is(err, unix.ENETDOWN) { // returned once, each time that the interface goes down
			continue
		}
		if err != nil {
			s.t.Fatal(err)
		}
		return s.with(bytes.Clone(s.buffer[:n]), s.beside[:k])
	}
}

// Collect returns the frames that arrive within a time and that wanted accepts. It fails the test
// if it missed any: what the caller concludes from those it has would be wrong.
func (s *Socket) Collect(within time.Duration, wanted func([]byte) bool) (frames [][]byte) {
	s.t.Helper()
	before := s.missed
	for deadline := time.Now().Add(within); ; {
		f := s.Receive(time.Until(deadline))
		if n := s.missed - before; n > 0 {
			s.t.Fatalf("the observer at %s missed %d frames, which says nothing about who sent them", s.name, n)
		}
		if f == nil {
			return frames
		}
		if wanted(f) {
			frames = append(frames, f)
		}
	}
}

// Flush forgets what has arrived.
func (s *Socket) Flush() {
	for s.Receive(0) != nil {
	}
}

// with puts back a VLAN tag that the kernel passes outside of the frame, and takes note of what it missed.
func (s *Socket) with(frame, beside []byte) []byte {
	messages, err := unix.ParseSocketControlMessage(beside)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_RXQ_OVFL:
			s.missed = binary.NativeEndian.Uint32(m.Data)
		case m.Header.Level == unix.SOL_PACKET && m.Header.Type == unix.PACKET_AUXDATA && len(m.Data) >= 20:
			status, tci := binary.NativeEndian.Uint32(m.Data), binary.NativeEndian.Uint16(m.Data[16:]) // struct tpacket_auxdata
			if status&unix.TP_STATUS_VLAN_VALID != 0 {
				kind := uint16(0x8100)
				if status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
					kind = binary.NativeEndian.Uint16(m.Data[18:])
				}
				tagged := append([]byte{}, frame[:12]...)
				tagged = append(tagged, byte(kind>>8), byte(kind), byte(tci>>8), byte(tci))
				frame = append(tagged, frame[12:]...)
			}
		}
	}
	return frame
}
