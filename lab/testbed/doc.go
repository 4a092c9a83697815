// Package testbed is where an experiment runs when its nodes are not in one
// process: on cards of this machine, and on switches and agents elsewhere.
//
// A file says where each node of the experiment is. A node with devices is
// started here, as a `photon switch` or `photon agent` of its own with what the
// experiment says; a node with a name or a socket runs already, and is asked to
// take the scheme. All of them are spoken to by their admin sockets, those on
// other machines through `ssh HOST photon admin-proxy`, with the user's own ssh
// configuration.
//
// Every node has its own clock. It is compared with this machine's by asking for
// it several times; the quickest answer bounds the error, which is reported. Every
// node records what an experiment's probes look at by itself, at the samples of
// its own clock; afterwards the recordings are read.
//
// Left out: experiments whose links change, and routes over several shortest paths.
package testbed
