//go:build linux

// Package testnet gives tests real networks of their own: network namespaces
// joined by veth pairs, packet sockets in them, and tshark to check captured
// frames. It is a package of its own because tests of several packages need it
// and no program does. It needs root, and the programs ip, ethtool and tshark.
//
// The files, in the order in which they build on each other:
//
//	testnet.go  namespaces and cables
//	ping.go     echo requests
//	socket.go   frames
//	tshark.go   what tshark says of them
package testnet
