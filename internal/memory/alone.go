package memory

// Alone returns a T that shares no cache line with another: of values that are made together, and that different cores
// write, each would else take the line away from the other.
func Alone[T any]() *T {
	return &new(struct {
		value T
		_     [64]byte
	}).value
}
