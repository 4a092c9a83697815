package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"photon/agent"
)

func readAgent(t *testing.T, text string) (file string, c *Agent, err error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = ReadAgent(file)
	return file, c, err
}

// What is wrong with a flow to a queue pair of the specification is said in one line, with its place.
func TestPairsRefused(t *testing.T) {
	const host = "port: {device: net_null0}\nip: 10.0.0.1\n"
	const usual, memory = host + "scheme: {name: none}\npayload: 1024B\n", "memory: {address: 0x1000, rkey: 7, size: 4KiB}\n"
	flow := func(rest string) string { return usual + memory + "flows:\n- {to: 10.0.0.2, " + rest + "}" }
	for text, want := range map[string]string{
		usual + "memory: {}":                                                " memory: an rkey of 32 bits belongs here (write it like `rkey: 0x1234`)",
		usual + "memory: {size: 1KB}":                                       "5: memory: an rkey of 32 bits belongs here (write it like `rkey: 0x1234`)",
		usual + "memory: {rkey: 0x100000000, size: 1KB}":                    "5: memory: an rkey of 32 bits belongs here (write it like `rkey: 0x1234`)",
		usual + "memory: {rkey: 1}":                                         "5: memory: size 0B: from 1B to 1GiB",
		usual + "memory: {rkey: 1, size: 2GiB}":                             "5: memory: size 2.147483648GB: from 1B to 1GiB",
		usual + "memory: {rkey: 1, size: 1KB, address: 0xFFFFFFFFFFFFFF00}": "5: memory: it ends beyond the last address of 64 bits",
		usual + "memory: {rkey: -1, size: 1KB}":                             "5: \"-1\" is not a whole number of 64 bits",
		flow("qp: 1, local_qp: 2"):                                          "7: local_qp: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)",
		flow("qp: 1, peer_psn: 2"):                                          "7: peer_psn: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)",
		flow("qp: 1, messages: 2"):                                          "7: messages: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)",
		flow("qp: 1, write: {}"):                                            "7: write: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)",
		flow("qp: 1, read: {rkey: 1}"):                                      "7: read: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)",
		flow("qp: 1, receive: {size: 1KB}"):                                 "7: receive: that is of a flow to a queue pair that is not an agent's (`psn: N`: it expects this PSN first)",
		flow("qp: 1, psn: 16777216, size: 4KB"):                             "7: psn 16777216: there are 0 to 16777215",
		flow("qp: 1, psn: 0x1000000, size: 4KB"):                            "7: psn 16777216: there are 0 to 16777215",
		flow("qp: 1, psn: 0x, size: 4KB"):                                   "7: \"0x\" is not a whole number",
		flow("qp: 1, psn: 0x-5, size: 4KB"):                                 "7: \"0x-5\" is not a whole number",
		flow("qp: 1, psn: 1, peer_psn: -1, size: 4KB"):                      "7: peer_psn -1: there are 0 to 16777215",
		flow("qp: 1, psn: 1, local_qp: 16777216, size: 4KB"):                "7: local_qp 16777216: there are 1 to 16777215",
		flow("psn: 1, size: 4KB"):                                           "7: psn: the peer has told the number of its queue pair (write it like `qp: 17`)",
		flow("qp: 1, psn: 1, count: 2, size: 4KB"):                          "7: count: with a psn a flow is one queue pair's; its messages are counted by `messages: N`",
		flow("qp: 1, psn: 1, messages: -1, size: 4KB"):                      "7: messages -1: from 0 (the agent only answers) to 1000000000",
		flow("qp: 1, psn: 1"):                                               "7: psn: a message has a size (write it like `size: 64KiB`)",
		flow("qp: 1, psn: 1, messages: 0, size: 1KB"):                       "7: messages: 0: the agent only answers, it has no size to send, and nothing to write or to read",
		flow("qp: 1, psn: 1, size: 2GiB"):                                   "7: size 2.147483648GB: a message has less than 2GiB",
		host + "scheme: {name: none}\npayload: 256B\nflows: [{to: 10.0.0.2, qp: 1, psn: 1, size: 2147483393B}]": "5: size 2.147483393GB: a message has at most 8388607 packets, which is 2.147483392GB of 256 B",
		flow("qp: 1, psn: 1, size: 1B, write: {address: 1, rkey: 1}, read: {}"):                                 "7: read: the flow has a write, and does one of them",
		flow("qp: 1, psn: 1, size: 1B, write: {}"):                                                              "7: write: the peer has told an address, and an rkey of 32 bits (`write: {address: 0x7f0000000000, rkey: 0x1234}`)",
		flow("qp: 1, psn: 1, size: 9B, write: {address: 1, rkey: 1, size: 8B}"):                                 "7: write: size 8B: a message of 9B does not fit",
		flow("qp: 1, psn: 1, size: 9B, write: {address: 18446744073709551610, rkey: 1}"):                        "7: write: it ends beyond the last address of 64 bits",
		flow("qp: 1, psn: 1, size: 9B, write: {address: 1, rkey: 1, into: 0x1000}"):                             "7: into: that is of a read",
		flow("qp: 1, psn: 1, size: 4KiB, read: {address: 1, rkey: 1, into: 0x1001}"):                            "7: into: 4.096KB from there on are not in the agent's memory (`memory:` says where that is)",
		flow("qp: 1, psn: 1, size: 9B, receive: {address: 0x1000}"):                                             "7: receive: size 0B: a buffer has from 1B to 1GiB",
		flow("qp: 1, psn: 1, size: 9B, receive: {address: 0x1000, size: 2KiB, count: 3}"):                       "7: receive: 3 buffers of 2.048KB are not in the agent's memory (`memory:` says where that is)",
		host + "scheme: {name: none}\nflows: [{to: 10.0.0.2, qp: 1, psn: 1, size: 4KB}]":                        "4: psn: InfiniBand's packets have 256, 512, 1024, 2048 or 4096 bytes, not 1000 (write it like `payload: 1024B`)",
		usual + "flows: [{to: 10.0.0.2, qp: 0, psn: 1, size: 4KB}]":                                             "5: queue pair 0: there are 1 to 16777215",
		usual + "flows: [{to: 10.0.0.2, qp: 1, local_qp: 0, psn: 1, size: 4KB}]":                                "5: local_qp 0: there are 1 to 16777215",
		host + "payload: 1024B\nflows: [{to: 10.0.0.2, qp: 1, psn: 1, size: 4KB}]":                              "4: psn: such queue pairs know no scheme (scheme: {name: none}); a NIC of photon before them does (role: nic)",
		usual + "recovery: selective\nflows: [{to: 10.0.0.2, qp: 1, psn: 1, size: 4KB}]":                        "6: psn: such queue pairs have go-back-N (recovery: go_back_n)",
		flow("qp: 1, local_qp: 9, psn: 1, size: 1B}\n- {to: 10.0.0.2, qp: 2, local_qp: 9, psn: 1, size: 1B"):    "8: the agent's own queue pair 9, to 10.0.0.2, is used twice (a flow with a psn has another by `local_qp: N`)",
		flow("qp: 1, local_qp: 9, psn: 1, size: 1B}\n- {to: 10.0.0.2, qp: 9, psn: 1, size: 1B"):                 "8: the agent's own queue pair 9, to 10.0.0.2, is used twice (a flow with a psn has another by `local_qp: N`)",
		flow("qp: 1, local_qp: 9, psn: 1, size: 1B}\n- {to: 10.0.0.2, qp: 8, count: 2"):                         "8: the agent's own queue pair 9, to 10.0.0.2, is used twice (a flow with a psn has another by `local_qp: N`)",
		flow("count: 9}\n- {to: 10.0.0.2, qp: 17, local_qp: 9, psn: 1, size: 1B"):                               "8: the agent's own queue pair 9, to 10.0.0.2, is used twice (a flow with a psn has another by `local_qp: N`)",
		"role: nic\nport: {device: net_null0}\napplication: {device: net_tap0}\nmemory: {rkey: 1, size: 1KB}":   "4: memory: a NIC sends and receives nothing of its own (role: both does)",
	} {
		if file, _, err := readAgent(t, text); err == nil || err.Error() != file+":"+want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// What a file says of queue pairs is what the agent is made with.
func TestPairs(t *testing.T) {
	_, c, err := readAgent(t, `port: {device: net_null0}
ip: 10.0.0.1
scheme: {name: none}
payload: 4096B
memory: {address: 0x1000, rkey: 0x12345678, size: 1MiB}
flows:
- {to: 10.0.0.2, qp: 17, psn: 5, size: 0B}
- {to: 10.0.0.2, qp: 0x0012, local_qp: 0x3, psn: 0xfffffe, peer_psn: 0X0006, size: 7B, messages: 9, write: {address: 0x7FFF00000000, rkey: 10}}
- {to: 10.0.0.3, qp: 18, psn: 5, size: 1000B, messages: 3, read: {address: 100, rkey: 10, size: 2KB, into: 4100}}
- {to: 10.0.0.4, qp: 18, local_qp: 3, psn: 5, messages: 0, receive: {address: 0x2000, size: 4KiB, count: 16}}
`)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := n.Config.Memory; m == nil || m.Address != 0x1000 || m.Key != 0x12345678 {
		t.Errorf("%+v", m)
	}
	for i, want := range []agent.Pair{
		{Local: 17, Messages: 1},
		{Local: 3, PeerPSN: 6, Expects: true, Verb: agent.Write, Messages: 9, Size: 7, Remote: agent.Region{Address: 0x7FFF00000000, Size: 63, Key: 10}},
		{Local: 18, Verb: agent.Read, Messages: 3, Size: 1000, Remote: agent.Region{Address: 100, Size: 2000, Key: 10}, Into: agent.Region{Address: 4100, Size: 2000}},
		{Local: 3, Messages: 0, Receive: agent.Buffers{Address: 0x2000, Size: 4096, Count: 16}},
	} {
		if f := n.Flows[i]; i == 1 && (f.QP != 18 || f.PSN != 0xFFFFFE) {
			t.Errorf("queue pair %d, PSN %#x", f.QP, f.PSN)
		}
		if got := n.Flows[i].Pair; !reflect.DeepEqual(*got, want) || n.Flows[i].Size != want.Size*9 && i == 1 {
			t.Errorf("flow %d: %+v, not %+v", i, *got, want)
		}
	}
}

// The file of the memory is beside the configuration, and what it cannot be is said with its line before anything runs.
func TestFileOfMemory(t *testing.T) {
	const host = "port: {device: net_null0}\nip: 10.0.0.1\nscheme: {name: none}\npayload: 1024B\n" +
		"memory:\n  rkey: 7\n  size: 4KiB\n  file: "
	file, c, err := readAgent(t, host+"memory.bin\n")
	if err == nil {
		err = c.CheckFolders()
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.MemoryFile()
	if err != nil || f.Name() != filepath.Join(filepath.Dir(file), "memory.bin") {
		t.Fatalf("%v, %v", f, err)
	}
	f.Close()
	file, c, err = readAgent(t, host+"nowhere/memory.bin\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckFolders(); err == nil || !strings.HasPrefix(err.Error(), file+":8: memory: file ") {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if f, err := c.MemoryFile(); err == nil || f != nil || !strings.HasPrefix(err.Error(), file+":8: memory: ") {
		t.Errorf("in a folder that is not there: %v, %v", f, err)
	}
}
