//go:build dpdk

package main

/*
#cgo pkg-config: libdpdk
#include <stdlib.h>
#include <time.h>
#include <rte_errno.h>
#include <rte_hash.h>

static double spent(const struct timespec *from)
{
	struct timespec to;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (to.tv_sec - from->tv_sec) * 1e9 + (to.tv_nsec - from->tv_nsec);
}

// hash_run inserts n keys into each of so many tables and looks them up in
// another order, one by one and 64 at a time. It returns 0, or what went wrong.
static int hash_run(const char *keys, const char *shuffled, unsigned n, unsigned again, double *in, double *out, double *bulk)
{
	const unsigned len = 20;
	struct rte_hash **t = calloc(again, sizeof *t);
	struct timespec at;
	int bad = 0;

	for (unsigned i = 0; i < again; i++) {
		char name[32];
		snprintf(name, sizeof name, "bench%u", i);
		struct rte_hash_parameters p = {
			.name = name, .entries = n < 8 ? 8 : n, .key_len = len, .socket_id = -1,
			.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
		};
		if (!(t[i] = rte_hash_create(&p))) {
			bad = rte_errno;
			goto end;
		}
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	for (unsigned i = 0; i < again; i++)
		for (unsigned k = 0; k < n; k++)
			bad |= rte_hash_add_key_data(t[i], keys + (size_t)k * len, (void *)(size_t)k) != 0;
	*in = spent(&at) / ((double)n * again);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	for (unsigned i = 0; i < again; i++)
		for (unsigned k = 0; k < n; k++)
			bad |= rte_hash_lookup(t[i], shuffled + (size_t)k * len) < 0;
	*out = spent(&at) / ((double)n * again);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	for (unsigned i = 0; i < again; i++)
		for (unsigned k = 0; k < n; k += RTE_HASH_LOOKUP_BULK_MAX) {
			const void *some[RTE_HASH_LOOKUP_BULK_MAX];
			int32_t where[RTE_HASH_LOOKUP_BULK_MAX];
			unsigned m = n - k < RTE_HASH_LOOKUP_BULK_MAX ? n - k : RTE_HASH_LOOKUP_BULK_MAX;
			for (unsigned j = 0; j < m; j++)
				some[j] = shuffled + (size_t)(k + j) * len;
			bad |= rte_hash_lookup_bulk(t[i], some, m, where) != 0;
			for (unsigned j = 0; j < m; j++)
				bad |= where[j] < 0;
		}
	*bulk = spent(&at) / ((double)n * again);
end:
	for (unsigned i = 0; i < again; i++)
		rte_hash_free(t[i]);
	free(t);
	return bad;
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"photon/dataplane/dpdk"
)

// startDPDK starts DPDK with room for tables of a million keys.
func startDPDK() (stop func() error, err error) {
	w, err := dpdk.New(dpdk.Options{Frames: 2048, EAL: []string{"-m", "768"}})
	if err != nil {
		return nil, err
	}
	return w.Close, nil
}

func rteHash(keys, shuffled []key, again int) (in, out, bulk float64, err error) {
	if unsafe.Sizeof(key{}) != 20 {
		panic("a key is not 20 bytes")
	}
	var a, b, c C.double
	n := C.hash_run((*C.char)(unsafe.Pointer(&keys[0])), (*C.char)(unsafe.Pointer(&shuffled[0])), C.uint(len(keys)), C.uint(again), &a, &b, &c)
	if n != 0 {
		return 0, 0, 0, fmt.Errorf("rte_hash: error %d", n)
	}
	return float64(a), float64(b), float64(c), nil
}
