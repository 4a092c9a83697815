//go:build dpdk

package dpdk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// memifPeer is the client's end of a memif, as a virtual machine or a container
// would have it: one ring in each direction, both always full of what there is.
type memifPeer struct {
	socket, memory, interrupt int
	region                    []byte
}

// The layout of a region: a ring is a head line, a tail line and descriptors.
const (
	memifSlots  = 1 << memifLog2
	memifLog2   = 8
	memifRing   = 128 + 16*memifSlots
	memifBuffer = 2048
	memifFrame  = 1000
)

// Messages of the control channel, in their order; the version is 2.0.
const (
	memifInit      = 3
	memifAddRegion = 4
	memifAddRing   = 5
	memifConnect   = 6

	memifAll = 5 // of them, with two rings
)

// errEarly is that of a peer that goes away before it is connected.
var errEarly = errors.New("it left early")

// connectMemif goes through the greetings of the protocol, or as far as it is told.
func connectMemif(path string, payload []byte, messages int) (p *memifPeer, err error) {
	p = &memifPeer{socket: -1, memory: -1, interrupt: -1}
	defer func() {
		if err != nil {
			p.leave()
		}
	}()
	if p.socket, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return p, err
	}
	if err := unix.SetsockoptTimeval(p.socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 30}); err != nil {
		return p, err
	}
	if err := unix.Connect(p.socket, &unix.SockaddrUnix{Name: path}); err != nil {
		return p, err
	}
	if p.memory, err = unix.MemfdCreate("memif", unix.MFD_CLOEXEC); err != nil {
		return p, err
	}
	const size = 2*memifRing + 2*memifSlots*memifBuffer
	if err := unix.Ftruncate(p.memory, size); err != nil {
		return p, err
	}
	if p.region, err = unix.Mmap(p.memory, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return p, err
	}
	if p.interrupt, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return p, err
	}
	p.fill(payload)
	if messages < 0 {
		return p, errEarly
	}
	if err := p.answer(); err != nil { // hello
		return p, err
	}
	le := binary.LittleEndian
	for i, m := range []struct {
		kind uint16
		body []byte
		fd   int
	}{
		{memifInit, make([]byte, 7), -1}, // version below; interface 0, Ethernet
		{memifAddRegion, le.AppendUint64(make([]byte, 2), size), p.memory},
		{memifAddRing, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, memifLog2, 0, 0}, p.interrupt},
		{memifAddRing, append(le.AppendUint32(make([]byte, 6), memifRing), memifLog2, 0, 0), p.interrupt},
		{memifConnect, []byte("peer"), -1},
	} {
		b := make([]byte, 128)
		le.PutUint16(b, m.kind)
		copy(b[2:], m.body)
		if m.kind == memifInit {
			le.PutUint16(b[2:], 0x0200)
		}
		var rights []byte
		if m.fd >= 0 {
			rights = unix.UnixRights(m.fd)
		}
		if err := unix.Sendmsg(p.socket, b, rights, nil, 0); err != nil {
			return p, err
		}
		if i == messages {
			return p, errEarly
		}
		if err := p.answer(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// answer waits for one message, whatever it says.
func (p *memifPeer) answer() error {
	b := make([]byte, 128)
	n, err := unix.Read(p.socket, b)
	for err == unix.EINTR {
		n, err = unix.Read(p.socket, b)
	}
	switch {
	case err != nil:
		return err
	case n != len(b) || b[0] == 8:
		return fmt.Errorf("%d bytes, %.40q: not an answer", n, b[6:])
	}
	return nil
}

// fill lays the rings out and puts a frame in every buffer.
func (p *memifPeer) fill(payload []byte) {
	le := binary.LittleEndian
	for r := range 2 {
		ring := p.region[r*memifRing:]
		le.PutUint32(ring, 0x3E31F20)
		for s := range memifSlots {
			d, at := ring[128+16*s:], 2*memifRing+(r*memifSlots+s)*memifBuffer
			le.PutUint32(d[4:], memifBuffer)
			if r == 0 {
				le.PutUint32(d[4:], uint32(len(payload)))
				copy(p.region[at:], payload)
			}
			le.PutUint32(d[8:], uint32(at))
		}
	}
}

// exchange offers the buffers again that were taken, and takes what was sent.
func (p *memifPeer) exchange() {
	for r := range 2 {
		ring := unsafe.Pointer(&p.region[r*memifRing])
		tail := atomic.LoadUint32((*uint32)(unsafe.Add(ring, 64))) & 0xFFFF
		atomic.StoreUint32((*uint32)(unsafe.Add(ring, 4)), (tail+memifSlots)<<16|1)
	}
}

// taken is how far the other end got in what it was offered.
func (p *memifPeer) taken() uint32 {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&p.region[64]))) & 0xFFFF
}

// leave goes as a process that is killed does: without a word.
func (p *memifPeer) leave() {
	for _, fd := range []int{p.socket, p.memory, p.interrupt} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	if p.region != nil {
		unix.Munmap(p.region)
	}
}

// The peers of two memifs go away in the middle of full traffic and come back,
// again and again: the switch between them forwards what there is, loses track of
// nothing and does not die.
func TestMemifPeersGoAway(t *testing.T) {
	w := newWorld(t, Options{})
	var devices []Device
	var sockets []string
	for i := range 2 {
		sockets = append(sockets, filepath.Join(t.TempDir(), "memif.sock"))
		d, err := w.Open(fmt.Sprintf("net_memif%d,role=server,socket-abstract=no,socket=%s", 10+i, sockets[i]), 1500)
		if err != nil {
			t.Fatal(err)
		}
		devices = append(devices, d)
	}
	stop := runSwitch(t, w, devices)
	var frames [2][]byte
	for i := range frames {
		frames[i] = make([]byte, memifFrame)
		wire.MAC(0x020000000001 + 1 - i).Put(frames[i])
		wire.MAC(0x020000000001 + i).Put(frames[i][6:])
		copy(frames[i][12:], []byte{0x88, 0xB5}) // for experiments
	}
	var peers [2]*memifPeer
	for life := range memifLives {
		deadline := time.Now().Add(time.Minute)
		for i := range peers {
			if peers[i] != nil {
				continue
			}
			if _, err := connectMemif(sockets[i], frames[i], life%6-1); !errors.Is(err, errEarly) {
				t.Log(err)
			}
			for peers[i] == nil { // the switch may still be busy with the one before
				p, err := connectMemif(sockets[i], frames[i], memifAll)
				if err == nil {
					peers[i] = p
				} else if time.Now().After(deadline) {
					t.Fatal(life, err)
				}
			}
		}
		for began := [2]bool{}; began != [2]bool{true, true}; {
			for i, p := range peers {
				p.exchange()
				began[i] = began[i] || p.taken() > 0
			}
			if time.Now().After(deadline) {
				t.Fatalf("life %d: the switch takes nothing: %+v", life, w.Devices())
			}
		}
		for range life % 50 {
			peers[0].exchange()
			peers[1].exchange()
		}
		peers[life&1].leave()
		peers[life&1] = nil
	}
	stop()
	for _, p := range peers {
		if p != nil {
			p.leave()
		}
	}
	for _, d := range w.Devices() {
		if d.RxFrames < memifLives || d.TxFrames == 0 {
			t.Errorf("%+v", d)
		}
	}
}

const memifLives = 60

// What is for a memif or a virtual machine that is not there is dropped and counted: it does not wait for who comes
// later, nor does who stops the world wait for it.
func TestWithoutAPeerNothingIsKept(t *testing.T) {
	for name, absent := range map[string]string{
		"memif server": "net_memif17,socket-abstract=no,role=server,socket=", "vhost server": "net_vhost17,iface=",
		"memif client": "net_memif17,socket-abstract=no,role=client,socket=", "vhost client": "net_vhost17,client=1,iface=",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{})
			var devices []Device
			source := filepath.Join(t.TempDir(), "source.sock")
			for _, spec := range []string{
				"net_memif16,role=server,socket-abstract=no,socket=" + source,
				absent + filepath.Join(t.TempDir(), "peer.sock"),
			} {
				d, err := w.Open(spec, 1500)
				if err != nil {
					t.Fatal(err)
				}
				devices = append(devices, d)
			}
			stop := runSwitch(t, w, devices)
			frame := make([]byte, memifFrame)
			wire.MAC(0x020000000002).Put(frame)
			wire.MAC(0x020000000001).Put(frame[6:])
			copy(frame[12:], []byte{0x88, 0xB5}) // for experiments
			peer, err := connectMemif(source, frame, memifAll)
			if err != nil {
				t.Fatal(err)
			}
			defer peer.leave()
			dropped := func() DeviceStats { return w.Devices()[1] }
			for deadline := time.Now().Add(time.Minute); dropped().TxDropped < 100; peer.exchange() {
				if time.Now().After(deadline) {
					t.Fatalf("%+v", dropped())
				}
			}
			stop()
			if s := dropped(); s.TxFrames != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// runSwitch has a switch between devices until the function that it returns is called.
func runSwitch(t *testing.T, w World, devices []Device) (stop func()) {
	t.Helper()
	c := dataplane.SwitchConfig{MTU: 1500, Buffer: 4 * units.MB, Tail: units.MB, Classes: dataplane.DefaultClasses(), Learn: true, FDBSize: 16}
	for range devices {
		c.Ports = append(c.Ports, dataplane.PortConfig{Link: fabric.Link{Rate: rate}})
	}
	envs := w.NewEnvs(len(devices))
	sw, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	id := w.Add("switch", sw, envs, make([]int, len(devices)))
	for p, d := range devices {
		if err := w.Attach(fabric.End{Node: id, Port: p}, d, fabric.Link{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, units.Never) }()
	over := false
	stop = func() {
		if cancel(); over {
			return
		}
		over = true
		<-ended // with the context's error
		if err := w.Audit(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// memifServer is the server's end of the greetings, which goes as far as it is told.
type memifServer struct{ listener int }

func listenMemif(t *testing.T, path string) memifServer {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	}
	if err == nil {
		err = unix.Listen(fd, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return memifServer{fd}
}

// pending is whether a client waits to be accepted.
func (s memifServer) pending() bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}}, 0)
	return n == 1 && err == nil
}

// greet accepts a client and answers so many of its messages, the last of which, if it
// gets so far, makes the link.
func (s memifServer) greet(messages int) (fd int, err error) {
	for fd = -1; fd < 0; {
		if fd, _, err = unix.Accept(s.listener); err != nil && err != unix.EINTR {
			return fd, err
		}
	}
	const hello, ack, connected = 2, 1, 7
	le := binary.LittleEndian
	for i := range messages {
		b := make([]byte, 128)
		switch i {
		case 0:
			le.PutUint16(b, hello)
			for _, version := range []int{34, 36} {
				le.PutUint16(b[version:], 0x0200)
			}
			le.PutUint16(b[38:], 255) // regions
			b[44] = memifLog2
		case memifAll:
			le.PutUint16(b, connected)
		default:
			le.PutUint16(b, ack)
		}
		if _, err := unix.Write(fd, b); err != nil {
			return fd, err
		}
		if i == memifAll {
			break
		}
		if err := (&memifPeer{socket: fd}).answer(); err != nil {
			return fd, err
		}
	}
	return fd, nil
}

// The server of a memif goes away again and again, at every point of the greetings and
// after them, dies and comes back: the client connects each time, and once only while
// nobody has answered.
func TestMemifServersGoAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memif.sock")
	w := newWorld(t, Options{})
	spec := "net_memif30,socket-abstract=no,socket=" + path
	d, err := w.Open(spec, 1500)
	if err != nil {
		t.Fatal(err)
	}
	if d.Up {
		t.Error("a link to nobody")
	}
	stop := runSwitch(t, w, []Device{d})
	up := func(want bool, life int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); w.Devices()[0].LinkUp != want; time.Sleep(100 * time.Microsecond) {
			if time.Now().After(deadline) {
				t.Fatalf("life %d: the link is not what it should be: %v", life, want)
			}
		}
	}
	w.Reconnect()
	for life := range 2 * (memifAll + 2) {
		s := listenMemif(t, path)
		for deadline := time.Now().Add(time.Minute); !s.pending(); w.Reconnect() { // the end of the life before may be under way
			if time.Now().After(deadline) {
				t.Fatalf("life %d: no client comes", life)
			}
		}
		for range 5 { // nobody has answered: more of the same would fill the server's queue
			w.Reconnect()
		}
		messages := life % (memifAll + 2)
		fd, err := s.greet(messages)
		if err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
		if s.pending() {
			t.Fatalf("life %d: the client came twice", life)
		}
		if messages == memifAll+1 {
			up(true, life)
			w.Reconnect() // nothing to do
			if up(true, life); s.pending() {
				t.Error("it left a server that was there")
			}
		}
		unix.Close(s.listener)
		unix.Unlink(path)
		unix.Close(fd)
		up(false, life)
	}
	stop()
}

// A server that hangs, and whose queue is full, stops nobody: neither who opens a port
// nor who looks after links; and when there is room again the client comes.
func TestMemifServerIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memif.sock")
	s := listenMemif(t, path)
	defer unix.Close(s.listener)
	queued := 0
	for {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err = unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err == unix.EAGAIN {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		queued++
	}
	accept := func() {
		for ; queued > 0; queued-- {
			fd, _, err := unix.Accept(s.listener)
			if err != nil {
				t.Fatal(err)
			}
			unix.Close(fd)
		}
	}
	w := newWorld(t, Options{})
	var d Device
	var err error
	atOnce := func(what string, do func()) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			do()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			accept()
			<-done
			t.Fatalf("%s waits for the server", what)
		}
	}
	atOnce("opening", func() { d, err = w.Open("net_memif31,socket-abstract=no,socket="+path, 1500) })
	if err != nil || d.Up {
		t.Fatal(err, d.Up)
	}
	stop := runSwitch(t, w, []Device{d})
	defer stop()
	for range 3 {
		atOnce("connecting again", func() { w.Reconnect() })
	}
	accept()
	for deadline := time.Now().Add(time.Minute); !s.pending(); w.Reconnect() {
		if time.Now().After(deadline) {
			t.Fatal("no client comes")
		}
	}
	fd, err := s.greet(memifAll + 1)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for deadline := time.Now().Add(time.Minute); !w.Devices()[0].LinkUp; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatal("there is no link")
		}
	}
}

// Both ends of a memif are in this process: while one is closed the driver
// disconnects the other, which is closed next.
func TestMemifCloses(t *testing.T) {
	for i := range 30 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := newWorld(t, Options{})
			memif := ",socket-abstract=no,socket=" + filepath.Join(t.TempDir(), "memif.sock")
			var far Device
			for _, role := range []string{"0,role=server", "1,role=client"} {
				var err error
				if far, err = w.Open("net_memif2"+role+memif, 1500); err != nil {
					t.Fatal(err)
				}
			}
			if i%2 == 0 {
				return // while they still greet each other
			}
			var s DeviceStats
			for deadline := time.Now().Add(time.Minute); !s.LinkUp; deviceStats(far.ID, &s) {
				if time.Now().After(deadline) {
					t.Fatal("the ends do not find each other")
				}
			}
		})
	}
}
