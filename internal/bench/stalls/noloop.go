//go:build !dpdk

package main

import (
	"time"

	"photon/dataplane/dpdk"
)

func beLoop(int, time.Duration, time.Duration) error { return dpdk.ErrNotBuilt }
