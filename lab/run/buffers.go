package run

import "photon/lab/experiment"

// Virtual time has memory for any number of frames; DPDK has buffers, which are made before a world is.
const (
	leastBuffers = 1 << 15
	mostBuffers  = 1 << 18 // some 700 MB
	ownBuffers   = 1 << 13 // of workers
)

// frameBuffers is how many an experiment needs on DPDK: for what its switches and links hold if they are full, or all
// its packets if these are fewer, and for what workers keep for themselves.
func frameBuffers(e *experiment.Experiment, seed uint64) (int, error) {
	p, err := e.Plan()
	if err != nil {
		return 0, err
	}
	flows, err := e.Sends(p, seed)
	if err != nil {
		return 0, err
	}
	packet, all := float64(e.Packet()), float64(mostBuffers)
	if flows.Endless == 0 {
		all = float64(flows.Bytes/e.Parameters.Payload.Value.V) + float64(flows.Len())
		packet = min(packet, float64(flows.Bytes)/all+experiment.HeaderBytes)
	}
	held := float64(len(p.Nodes)-len(p.Endpoints())) * float64(e.Parameters.Buffer.Value.V) / packet
	for _, c := range p.Cables {
		held += 2 * c.Link.Delay.Seconds() * float64(c.Link.Rate) / 8 / packet
	}
	const beside = 1.25 // acknowledgements and what is repeated
	return int(min(mostBuffers, max(leastBuffers, ownBuffers+beside*min(held, all)))), nil
}
