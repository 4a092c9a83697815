// Package guest boots small virtual machines for tests: QEMU without KVM, the
// kernel of a Debian package, and an initramfs of busybox, photon and what they
// need. Their network cards end in the test: a Cable per pair of cards carries
// frames, keeps them for the test to look at, and takes frames of the test. It is
// a package of its own because nothing else here needs its own kernel: the
// driver of a card does (build tag e1000e, `make test-e1000e`).
//
// The files, in the order in which they build on each other:
//
//	image.go  what a guest boots
//	guest.go  the guest
//	cable.go  between two cards
package guest
