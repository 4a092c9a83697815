//go:build dpdk

#define _GNU_SOURCE
#include "ph.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

/* rte_eal_init pins the thread that calls it, and the Go runtime would make
 * new threads from that one. What it prints, pages of help among it, goes to the file
 * said, so that one line can be made of it. */
int ph_eal_init(int argc, char **argv, int said)
{
	cpu_set_t before;
	int n, why, out = dup(1), err = dup(2);

	fflush(stdout);
	if (out >= 0 && err >= 0 && said >= 0) {
		dup2(said, 1);
		dup2(said, 2);
	}
	sched_getaffinity(0, sizeof(before), &before);
	n = rte_eal_init(argc, argv);
	why = rte_errno;
	sched_setaffinity(0, sizeof(before), &before);
	fflush(stdout);
	if (out >= 0 && err >= 0) {
		dup2(out, 1);
		dup2(err, 2);
	}
	close(out);
	close(err);
	return n < 0 ? -why : n;
}

/* Drivers are silent, but what they have against a device is kept in the file said while one is opened. */
void ph_listen(int said)
{
	static FILE *heard;

	if (heard == NULL)
		heard = fdopen(said, "a"); /* behind what is left when the file is emptied: nothing */
	if (heard == NULL)
		return;
	rte_openlog_stream(heard);
	rte_log_set_level_pattern("pmd.*", RTE_LOG_ERR);
}

void ph_listened(void)
{
	fflush(rte_log_get_stream());
	rte_openlog_stream(NULL);
	rte_log_set_level_pattern("pmd.*", RTE_LOG_CRIT);
}

int ph_errno(void)
{
	return rte_errno;
}

/* As rte_pktmbuf_pool_create, but with ordinary memory the buffers need not be
 * contiguous in the eyes of a device that does not exist: with 4 KB pages each
 * would take a page of its own. With `next` the pool can grow from n to `most` buffers:
 * its memory is a range of addresses of its own, in which only what was populated is
 * resident, and goes on at `next`. */
struct rte_mempool *ph_pool(const char *name, unsigned n, unsigned most, uint16_t room, int contiguous, uint8_t **next)
{
	struct rte_pktmbuf_pool_private priv = { .mbuf_data_room_size = room };
	unsigned flags = contiguous ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_mempool *mp;
	size_t len;
	void *at;

	mp = rte_mempool_create_empty(name, most, sizeof(struct rte_mbuf) + room, 512, sizeof(priv),
				      rte_socket_id(), flags);
	if (mp == NULL)
		return NULL;
	rte_pktmbuf_pool_init(mp, &priv);
	if (next == NULL) {
		if (rte_mempool_populate_default(mp) < 0) {
			rte_mempool_free(mp);
			return NULL;
		}
		rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
		return mp;
	}
	len = most * ph_object(mp);
	at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED) {
		rte_errno = errno;
		rte_mempool_free(mp);
		return NULL;
	}
	*next = at;
	if (ph_grow(mp, n, next) < 0) {
		rte_mempool_free(mp);
		munmap(at, len);
		return NULL;
	}
	return mp;
}

/* What a buffer takes, with what the pool keeps beside it. */
size_t ph_object(struct rte_mempool *mp)
{
	return mp->header_size + mp->elt_size + mp->trailer_size;
}

/* Adds buffers to a pool that grows, until there are n. Nobody uses it meanwhile. */
int ph_grow(struct rte_mempool *mp, unsigned n, uint8_t **next)
{
	unsigned before = mp->populated_size, i = 0;
	size_t len = (n - before) * ph_object(mp);
	struct rte_mempool_objhdr *h;
	int got = rte_mempool_populate_iova(mp, (char *)*next, RTE_BAD_IOVA, len, NULL, NULL);

	if (got < 0)
		return got;
	*next += len;
	STAILQ_FOREACH(h, &mp->elt_list, next) {
		if (i >= before)
			rte_pktmbuf_init(mp, NULL, (uint8_t *)h + sizeof(*h), i);
		i++;
	}
	return got;
}

struct span {
	uint8_t *low, *high;
};

static void extend(struct rte_mempool *mp, void *opaque, void *object, unsigned i)
{
	struct span *s = opaque;
	uint8_t *b = object;

	(void)i;
	if (s->low == NULL || b < s->low)
		s->low = b;
	if (b + mp->elt_size > s->high)
		s->high = b + mp->elt_size;
}

/* Where the pool's mbufs lie: from the first byte of the lowest to the last of the highest. */
void ph_span(struct rte_mempool *mp, uint8_t **low, uint8_t **high)
{
	struct span s = { NULL, NULL };

	rte_mempool_obj_iter(mp, extend, &s);
	*low = s.low;
	*high = s.high;
}
