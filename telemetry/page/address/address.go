// Package address says where pages may be served: it is asked by configurations, which need
// nothing else of pages, and no HTTP.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// ErrOpen is what Check says of an address at which others could look.
var ErrOpen = errors.New("not a loopback address: whoever reaches it could look")

// Check says why a page must not listen there, in one line. remote says that
// others than this machine may look.
func Check(address string, remote bool) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil && port != "" {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil || port == "" {
		return fmt.Errorf("%q is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)", address)
	}
	if remote || host == "localhost" { // which is a loopback address by RFC 6761
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is %w", address, ErrOpen)
}
