//go:build dpdk

package main

/*
#cgo pkg-config: libdpdk
#cgo CFLAGS: -D_GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_cycles.h>

enum { GAPS = 26, BURST = 32, PORTS = 2 };

static uint64_t gaps[GAPS], slept[GAPS], longest;

// sleeps is how often this thread gave up its core by itself.
static long sleeps(void)
{
	struct rusage u;
	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

// poll takes what two devices have, touches each frame and sends it through the other.
static int poll_for(double seconds, double warmup)
{
	struct rte_eth_conf conf;
	struct rte_mempool *pool = rte_pktmbuf_pool_create("frames", 16383, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL)
		return -1;
	memset(&conf, 0, sizeof(conf));
	for (uint16_t p = 0; p < PORTS; p++)
		if (rte_eth_dev_configure(p, 1, 1, &conf) || rte_eth_rx_queue_setup(p, 0, 1024, SOCKET_ID_ANY, NULL, pool) ||
		    rte_eth_tx_queue_setup(p, 0, 1024, SOCKET_ID_ANY, NULL) || rte_eth_dev_start(p))
			return -1;
	uint64_t hz = rte_get_tsc_hz(), last = rte_rdtsc(), begin = last + (uint64_t)(warmup * hz), end = begin + (uint64_t)(seconds * hz);
	struct rte_mbuf *burst[BURST];
	long known = sleeps();
	while (last < end) {
		for (uint16_t p = 0; p < PORTS; p++) {
			uint16_t n = rte_eth_rx_burst(p, 0, burst, BURST);
			for (uint16_t i = 0; i < n; i++)
				rte_pktmbuf_mtod(burst[i], uint64_t *)[0] ^= 1;
			uint16_t sent = rte_eth_tx_burst(1 - p, 0, burst, n);
			rte_pktmbuf_free_bulk(burst + sent, n - sent);
		}
		uint64_t now = rte_rdtsc(), gap = now - last;
		last = now;
		if (now < begin)
			continue;
		uint64_t ns = (uint64_t)((__uint128_t)gap * 1000000000 / hz) >> 6;
		int i = ns == 0 ? 0 : 64 - __builtin_clzll(ns);
		i = i < GAPS ? i : GAPS - 1;
		gaps[i]++;
		if (i > 9 && sleeps() != known) {
			known = sleeps();
			slept[i]++;
		}
		if (gap > longest)
			longest = gap;
	}
	return 0;
}

static double longest_seconds(void) { return (double)longest / rte_get_tsc_hz(); }
static uint64_t gap_count(int i) { return gaps[i]; }
static uint64_t slept_count(int i) { return slept[i]; }
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unsafe"
)

// beLoop is the loop in C: it polls for a while and prints what it saw.
func beLoop(core int, warmup, span time.Duration) error {
	arguments := []string{"stalls", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "--log-level=*:critical", "--file-prefix", "stalls-loop", "-m", "256", "-l", fmt.Sprint(core), "--vdev", "net_null0,size=64", "--vdev", "net_null1,size=64"}
	argv := make([]*C.char, len(arguments)+1)
	for i, a := range arguments {
		argv[i] = C.CString(a)
	}
	if C.rte_eal_init(C.int(len(arguments)), (**C.char)(unsafe.Pointer(&argv[0]))) < 0 {
		return fmt.Errorf("DPDK does not start: %v", arguments)
	}
	if C.poll_for(C.double(span.Seconds()), C.double(warmup.Seconds())) < 0 {
		return fmt.Errorf("the devices do not start")
	}
	var g gaps
	for i := range g.Counts {
		g.Counts[i], g.Slept[i] = uint64(C.gap_count(C.int(i))), uint64(C.slept_count(C.int(i)))
	}
	g.Longest = float64(C.longest_seconds())
	return json.NewEncoder(os.Stdout).Encode(g)
}
