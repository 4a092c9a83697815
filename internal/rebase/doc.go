// Package rebase has the tests that a switch, a host and a NIC go on as before when their world's clock is set
// back (units.Rebaser), under every scheme, and that none of the instants which they keep is forgotten.
package rebase
