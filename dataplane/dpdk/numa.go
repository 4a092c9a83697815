//go:build dpdk

package dpdk

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"photon/fabric"
)

// coreNode is the NUMA node of a core, as the kernel has it below root; -1: it has none.
func coreNode(root string, core int) int {
	all, err := filepath.Glob(filepath.Join(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/node*", core)))
	if err != nil || len(all) != 1 {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(all[0]), "node"))
	if err != nil {
		return -1
	}
	return n
}

// elsewhere says that a card's worker is on another node.
func elsewhere(card, node, core int) string {
	if card < 0 || node < 0 || card == node {
		return ""
	}
	return fmt.Sprintf("the card is on NUMA node %d, its worker on core %d of node %d: name cores of the card's node (`dpdk: {cores: [...]}`)", card, core, node)
}

func (w *world) Elsewhere(at fabric.End) string {
	p := w.nodes[at.Node].port[at.Port]
	if p.device == nil {
		return ""
	}
	core := w.options.Cores[p.worker]
	return elsewhere(p.device.Node, coreNode("/", core), core)
}
