//go:build dpdk

#define _GNU_SOURCE
#include "ph.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline struct rte_mbuf *mbuf_of(const struct ph_worker *w, uint32_t ref)
{
	return (struct rte_mbuf *)(w->base + ((uint64_t)ref << 6));
}

static inline uint32_t ref_of(const struct ph_worker *w, const struct rte_mbuf *m)
{
	return (uint32_t)(((const uint8_t *)m - w->base) >> 6);
}

/* Memory of whole lines of the cache, all zeros: what one worker writes in every round is in no line of another. */
void *ph_lines(size_t size)
{
	void *p = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_CACHE_LINE_ROUNDUP(size));

	if (p != NULL)
		memset(p, 0, size);
	return p;
}

/* A frame's mbuf, which says what the frame says. */
static inline struct rte_mbuf *described(const struct ph_worker *w, const struct ph_frame *f)
{
	struct rte_mbuf *m = mbuf_of(w, f->ref);

	m->data_off = f->off - sizeof(struct rte_mbuf);
	m->pkt_len = m->data_len = f->len;
	m->ol_flags = 0; /* one segment it is: so it was received, or lay in the pool */
	return m;
}

/* Drops the frames that a packet socket does not take. */
static uint16_t keep_taken(struct ph_port *p, struct rte_mbuf **m)
{
	uint16_t n = 0, i;

	for (i = 0; i < p->tx_n; i++) {
		if (!ph_packet_takes(p->packet, rte_pktmbuf_mtod(m[i], uint8_t *), p->tx[i].len)) {
			rte_pktmbuf_free(m[i]);
			p->tx_too_long++;
			p->tx_total++;
			continue;
		}
		m[n] = m[i];
		p->tx[n++] = p->tx[i];
	}
	return n;
}

static void transmit(struct ph_worker *w, struct ph_port *p)
{
	struct rte_mbuf *m[PH_STAGED];
	uint16_t n = p->tx_n, sent, i;

	for (i = 0; i < n; i++)
		m[i] = described(w, &p->tx[i]);
	if (p->packet != NULL) {
		n = keep_taken(p, m);
		ph_packet_sends(p->packet);
	}
	sent = rte_eth_tx_burst(p->tx_dev, p->tx_queue, m, n);
	if (p->packet != NULL)
		ph_packet_sent(p->packet, sent);
	p->tx_total += sent;
	p->tx_n = n - sent;
	if (p->tx_n > 0)
		memmove(p->tx, p->tx + sent, p->tx_n * sizeof(p->tx[0]));
}

/* Whether a device has its peer; if it is a memif, for who may poll it. */
static inline int linked(const struct ph_port *p)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(p->tx_dev, &link) == 0 && link.link_status;
}

/* Nobody is there to take it: a peer that comes later is not to get what is old. */
static void give_up(struct ph_worker *w, struct ph_port *p)
{
	uint16_t i;

	for (i = 0; i < p->tx_n; i++)
		rte_pktmbuf_free(mbuf_of(w, p->tx[i].ref));
	p->tx_total += p->tx_n;
	p->tx_away += p->tx_n;
	p->tx_n = 0;
}

/* Drops what a tap refuses: frames longer than its interface takes, and all while the interface is down. It has no queue
 * that could have room later, and what is behind must not wait for ever. */
static void skip_refused(struct ph_worker *w, struct ph_port *p)
{
	while (p->tx_n > 0) {
		rte_pktmbuf_free(mbuf_of(w, p->tx[0].ref));
		p->tx_total++;
		p->tx_away++;
		if (--p->tx_n == 0)
			return;
		memmove(p->tx, p->tx + 1, p->tx_n * sizeof(p->tx[0]));
		transmit(w, p);
	}
}

/* Drops frames that are longer than the buffers of a machine, which would hold up all that is behind them for ever. */
static void skip_too_long(struct ph_worker *w, struct ph_port *p)
{
	while (p->tx_n > 0 && linked(p) && ph_vhost_waits(p->tx_dev)) {
		uint16_t n = p->tx_n;

		transmit(w, p);
		if (p->tx_n < n)
			continue;
		rte_pktmbuf_free(mbuf_of(w, p->tx[0].ref));
		p->tx_total++;
		p->tx_too_long++;
		p->tx_n--;
		memmove(p->tx, p->tx + 1, p->tx_n * sizeof(p->tx[0]));
	}
}

/* The frame of an mbuf. One store: Go reads it as a whole. */
static inline void take(const struct ph_worker *w, struct ph_frame *f, const struct rte_mbuf *m)
{
	uint64_t where = ref_of(w, m) | (uint64_t)m->data_len << 32 | (uint64_t)(m->data_off + sizeof(struct rte_mbuf)) << 48;

	rte_prefetch0(rte_pktmbuf_mtod(m, void *));
	memcpy(f, &where, sizeof(where));
}

static void receive(struct ph_worker *w, struct ph_port *p)
{
	struct rte_mbuf *m[PH_BURST];
	uint64_t several = 0, open = 0; /* of a packet socket: frames that are several, and those whose checksum is open */
	uint16_t n = 0, most = PH_BURST, kept = 0, i;

	if (!p->rx_paused) {
		if (p->packet != NULL)
			most = ph_packet_look(p->packet, &several, &open);
		n = rte_eth_rx_burst(p->rx_dev, p->rx_queue, m, most);
		if (p->packet != NULL)
			ph_packet_taken(p->packet, n);
	}
	if (open != 0)
		p->open += __builtin_popcountll(open & (n < 64 ? (1ULL << n) - 1 : UINT64_MAX));
	for (i = 0; i < n; i++) {
		if (likely(m[i]->nb_segs == 1 && (several >> i & 1) == 0)) {
			take(w, &p->rx[kept++], m[i]);
			continue;
		}
		if (m[i]->nb_segs != 1)
			p->too_long++;
		else
			p->several++;
		rte_pktmbuf_free(m[i]);
	}
	p->rx_n = kept;
	p->rx_total += kept;
}

/* Whether a port may be polled now, if memifs may. */
static inline int ready(const struct ph_port *p, int memifs)
{
	return p->kind != PH_MEMIF || (memifs && !ph_memif_away(p->rx_dev));
}

/* What a worker calls without a word to Go's scheduler (pin.go) takes one argument, which has room for the results. */

void ph_round(void *worker)
{
	struct ph_worker *w = worker;
	uint32_t total = 0;
	uint16_t i;
	int memifs = w->memifs > 0 && ph_memif_try();

	for (i = 0; i < w->ports; i++) {
		struct ph_port *p = w->port[i];

		if (p->tx_n > 0 && ready(p, memifs)) {
			transmit(w, p);
			if (p->kind == PH_TAP)
				skip_refused(w, p);
			else if ((p->kind == PH_VHOST || p->kind == PH_MEMIF) && p->tx_n > 0 && !linked(p))
				give_up(w, p);
			else if (p->kind == PH_VHOST)
				skip_too_long(w, p);
		} else if (p->tx_n > 0 && memifs) /* and away */
			give_up(w, p);
		else if (p->packet != NULL)
			ph_packet_again(p->packet);
	}
	for (i = 0; i < w->ports; i++) {
		struct ph_port *p = w->port[i];

		if (ready(p, memifs))
			receive(w, p);
		else
			p->rx_n = 0;
		total += p->rx_n;
	}
	if (memifs)
		ph_memif_done();
	w->received = total;
	w->now = rte_rdtsc();
}

void ph_swap(void *swap)
{
	struct ph_swap *s = swap;
	struct ph_worker *w = s->worker;
	void *m[256];
	uint32_t want = s->size / 2, n = s->n, i, k;

	while (n > want) {
		k = RTE_MIN(n - want, RTE_DIM(m));
		for (i = 0; i < k; i++)
			m[i] = mbuf_of(w, s->slots[--n]);
		rte_mempool_put_bulk(w->pool, m, k);
	}
	while (n < want) {
		k = RTE_MIN(want - n, RTE_DIM(m));
		if (rte_mempool_get_bulk(w->pool, m, k) != 0) {
			if (k == 1)
				break;
			want = n + k / 2; /* the pool is nearly dry: take what is there */
			continue;
		}
		for (i = 0; i < k; i++)
			s->slots[n++] = ref_of(w, m[i]);
	}
	s->n = n;
}

void ph_nap(void *worker)
{
	struct ph_worker *w = worker;
	struct timespec t = { 0, w->nap };

	nanosleep(&t, NULL);
	w->now = rte_rdtsc();
}

void ph_yield(void *worker)
{
	(void)worker;
	sched_yield();
}
