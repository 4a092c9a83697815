package main

import (
	"os"
	"sync"
)

// standard is the standard output of the process. It keeps the first error, because tables and help are printed by
// what returns none: a command whose answer is cut short has failed.
type standard struct {
	file *os.File
	mu   sync.Mutex
	err  error
}

// Write implements io.Writer.
func (o *standard) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// failed is the first error.
func (o *standard) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
