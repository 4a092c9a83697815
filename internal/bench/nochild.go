//go:build !dpdk

package main

import "photon/dataplane/dpdk"

func beMeasured(testCase) error { return dpdk.ErrNotBuilt }
