package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Captured counts what a capture brought.
type Captured struct {
	Frames int
	Lost   uint64 // did not fit into the node's ring
}

// Capture copies what the node's port receives and sends to w, as pcapng, until
// the context ends, so many frames came (0: no limit), or the node does. begun
// is called when the capture is on. The file is whole however it ends.
func (c *Client) Capture(ctx context.Context, port string, snap, frames int, w io.Writer, begun func()) (Captured, error) {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	hangs := time.AfterFunc(c.patience, func() { giveUp(context.DeadlineExceeded) })
	body, err := c.do(asking, http.MethodGet, "/capture", url.Values{"port": {port}, "snap": {strconv.Itoa(snap)}})
	if err != nil {
		return Captured{}, err
	}
	defer body.Close()
	if !hangs.Stop() {
		return Captured{}, c.failed(context.DeadlineExceeded)
	}
	begun()
	got, err := copyBlocks(w, body, frames)
	switch {
	case ctx.Err() != nil:
		err = nil
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF): // no file says so when it is written
		err = c.failed(err)
	}
	return got, err
}

// Of pcapng: a block's type, an option's code, and more than any block of ours has.
const (
	enhancedPacket = 6
	epbDropCount   = 4
	maxBlock       = 1 << 20
)

// copyBlocks copies whole blocks of pcapng only, so that a file does not end
// in the middle of one.
func copyBlocks(w io.Writer, r io.Reader, frames int) (got Captured, err error) {
	in, block := bufio.NewReader(r), make([]byte, 0, 4096)
	for frames == 0 || got.Frames < frames {
		head, err := in.Peek(8)
		if err == io.EOF && len(head) == 0 {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		length := int(binary.LittleEndian.Uint32(head[4:]))
		if length < 12 || length > maxBlock {
			return got, fmt.Errorf("a block of %d bytes: this is not pcapng", length)
		}
		block = append(block[:0], make([]byte, length)...)
		if _, err := io.ReadFull(in, block); err != nil {
			return got, err
		}
		if _, err := w.Write(block); err != nil {
			return got, err
		}
		if binary.LittleEndian.Uint32(block) == enhancedPacket {
			got.Frames++
			got.Lost += dropCount(block)
		}
	}
	return got, nil
}

// dropCount is the option of an enhanced packet block that tells how many frames
// are missing before it.
func dropCount(block []byte) uint64 {
	if len(block) < 32 {
		return 0
	}
	kept := int(binary.LittleEndian.Uint32(block[20:]))
	for at := 28 + (kept+3)&^3; kept < len(block) && at+4 <= len(block)-4; {
		code, length := binary.LittleEndian.Uint16(block[at:]), int(binary.LittleEndian.Uint16(block[at+2:]))
		if code == epbDropCount && length == 8 && at+12 <= len(block) {
			return binary.LittleEndian.Uint64(block[at+4:])
		}
		at += 4 + (length+3)&^3
	}
	return 0
}
