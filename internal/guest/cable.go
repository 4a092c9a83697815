//go:build e1000e

package guest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// Cable joins two cards. It carries every frame, both ways, and never loses
// one: QEMU's stream has each frame behind its length, and a card that has no
// room makes the other side wait.
type Cable struct {
	Path [2]string // of the sockets of its ends
	ends [2]end
}

// end is what is known of the frames of one direction.
type end struct {
	conn    net.Conn      // to the card here
	ready   chan struct{} // closed when there is one
	writing sync.Mutex    // held while the card is given a frame

	mu       sync.Mutex
	from     uint64 // frames that the card sent
	to       uint64 // frames that it was given
	filter   func([]byte) bool
	captured [][]byte // what the card sent and keep wants
}

// NewCable makes a cable whose ends wait for cards.
func NewCable(t testing.TB) *Cable {
	t.Helper()
	c := &Cable{}
	dir := t.TempDir()
	for i := range c.ends {
		c.Path[i] = filepath.Join(dir, []string{"a", "b"}[i])
		c.ends[i].ready = make(chan struct{})
		l := listen(t, c.Path[i])
		go c.carry(l, i)
	}
	return c
}

// carry takes what the card at one end sends to the other.
func (c *Cable) carry(l *net.UnixListener, i int) {
	conn, err := l.Accept()
	if err != nil {
		return // the test is over
	}
	defer conn.Close()
	here := &c.ends[i]
	here.conn = conn
	close(here.ready)
	r := bufio.NewReader(conn)
	for {
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return
		}
		f := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(r, f); err != nil {
			return
		}
		here.mu.Lock()
		here.from++
		if here.filter != nil && here.filter(f) {
			here.captured = append(here.captured, f)
		}
		here.mu.Unlock()
		if c.ends[1-i].give(f) != nil {
			return
		}
	}
}

// give hands a frame to the card of an end.
func (e *end) give(f []byte) error {
	<-e.ready
	e.writing.Lock()
	defer e.writing.Unlock()
	b := binary.BigEndian.AppendUint32(nil, uint32(len(f)))
	if _, err := e.conn.Write(append(b, f...)); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.to++
	return nil
}

// Send gives the card at an end a frame, as if the other card had sent it.
func (c *Cable) Send(t testing.TB, to int, frame []byte) {
	t.Helper()
	if err := c.ends[to].give(frame); err != nil {
		t.Fatal(err)
	}
}

// Capture has the cable keep those frames that the card at an end sends from now
// on, and for which f says yes.
func (c *Cable) Capture(from int, f func([]byte) bool) {
	e := &c.ends[from]
	e.mu.Lock()
	defer e.mu.Unlock()
	e.filter, e.captured = f, nil
}

// Captured returns them.
func (c *Cable) Captured(from int) [][]byte {
	e := &c.ends[from]
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([][]byte{}, e.captured...)
}

// Counts are the frames that the card at an end sent, and that it was given.
func (c *Cable) Counts(at int) (from, to uint64) {
	e := &c.ends[at]
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.from, e.to
}
