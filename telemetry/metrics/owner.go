package metrics

// owner says which nodes have a metric.
type owner uint8

const (
	both owner = iota
	switches
	hosts
	nics     // hosts that carry the frames of applications
	carriers // switches and those
	senders  // hosts that send flows of their own
)

// has reports whether a kind of node has what belongs to an owner.
func (node owner) has(of owner) bool {
	return of == both || of == node || node == nics && of == hosts || of == carriers && node != hosts || of == senders && node == hosts
}
