//go:build ignore

/* What every contestant is fed. The bench builds this as a library, which is
 * preloaded into each of them: on every receive queue that is started it puts a
 * callback that gives each frame received its headers anew, from templates that the
 * bench wrote into a file (feed.go mirrors struct feed). What a switch changed in
 * a frame is so undone by the same code, at the same cost, for all of them; the time
 * it takes is counted, and the bench takes it out of theirs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

enum {
	HEAD = 64,      /* bytes of a frame that are written */
	TEMPLATES = 64, /* of each port */
	PORTS = 4,
	THREADS = 16,
	SAMPLES = 32,
};

enum mode {
	HOLD,   /* what is received is swallowed */
	TEACH,  /* the same, but for a broadcast of each template's host: switches learn where it is */
	SEED,   /* frames are put into the rings, and stay there */
	SAMPLE, /* show what came back: on a ring, what the contestant sent there */
	RUN,
};

struct head {
	uint8_t b[HEAD];
};

struct sample {
	struct head head;
	uint32_t length;
	uint8_t pad[60];
};

struct thread {
	uint64_t id;     /* the kernel's; 0: free */
	uint64_t frames; /* received */
	uint64_t ticks;  /* of the time stamp counter, that the callback took */
	uint64_t bursts;
	uint64_t torn; /* bursts during which the thread stood still: they count as the others do on average */
	uint8_t pad[24];
};

struct port {
	struct head template[TEMPLATES];
	uint16_t length[TEMPLATES];
	uint32_t taught, seeded, sampled; /* so many were */
	uint8_t pad[52];
	struct sample sample[SAMPLES];
};

struct feed {
	uint64_t size; /* of this struct, in the bench's eyes */
	uint64_t hz;   /* of the time stamp counter */
	uint32_t mode;
	uint32_t seeds; /* of each port */
	uint32_t teach; /* templates of each port */
	uint8_t pad[36];
	struct thread thread[THREADS];
	struct port port[PORTS];
};

static struct feed *feed;
static uint64_t torn; /* ticks that no burst takes */

struct queue {
	struct port *port;
	struct rte_mempool *pool;
	struct rte_ring *ring; /* NULL: the device is none */
	unsigned next; /* template */
	uint16_t number;
	int fed;
};

static struct queue queues[RTE_MAX_ETHPORTS][PORTS];

static __thread struct thread *self __attribute__((tls_model("initial-exec")));

/* The time when everything before is done, stores included. */
static inline uint64_t when_done(void)
{
	_mm_mfence();
	_mm_lfence();
	return __rdtsc();
}

static inline void write_frame(struct rte_mbuf *m, const struct head *head, uint16_t length)
{
	const __m128i *from = (const __m128i *)head->b;
	__m128i *to = (__m128i *)((uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM);

	for (int i = 0; i < HEAD / 16; i++)
		_mm_storeu_si128(to + i, _mm_load_si128(from + i));
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->ol_flags = 0;
	/* packet type, both lengths, tag and hash */
	_mm_storeu_si128((__m128i *)m->rx_descriptor_fields1, _mm_set_epi32(0, length, length, 0));
}

static struct thread *whoami(void)
{
	uint64_t none = 0, id = syscall(SYS_gettid);

	for (int i = 0; i < THREADS; i++, none = 0)
		if (__atomic_compare_exchange_n(&feed->thread[i].id, &none, id, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return &feed->thread[i];
	fprintf(stderr, "feed: more than %d threads receive\n", THREADS);
	exit(2);
}

static void account(uint64_t ticks, uint16_t n)
{
	struct thread *t = self;

	if (unlikely(t == NULL))
		t = self = whoami();
	if (unlikely(ticks > torn)) {
		t->torn++;
		ticks = t->bursts > 0 ? t->ticks / t->bursts : 0;
	}
	t->frames += n;
	t->ticks += ticks;
	t->bursts++;
}

static uint16_t write_all(struct queue *q, struct rte_mbuf **m, uint16_t n)
{
	uint64_t start = when_done();
	const struct port *p = q->port;
	unsigned next = q->next;

	q->next = next + n;
	for (uint16_t i = 0; i < n; i++) {
		unsigned k = (next + i) % TEMPLATES;

		write_frame(m[i], &p->template[k], p->length[k]);
	}
	account(when_done() - start, n);
	return n;
}

static void sample(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint32_t k = __atomic_fetch_add(&p->sampled, 1, __ATOMIC_SEQ_CST);

		if (k >= SAMPLES) {
			__atomic_store_n(&p->sampled, SAMPLES, __ATOMIC_SEQ_CST);
			return;
		}
		memcpy(p->sample[k].head.b, rte_pktmbuf_mtod(m[i], void *), HEAD);
		p->sample[k].length = m[i]->pkt_len;
	}
}

/* Broadcasts in place of what was received, until there was one of each template. */
static uint16_t broadcasts(struct queue *q, struct rte_mbuf **m, uint16_t max)
{
	struct port *p = q->port;
	uint16_t n = 0;

	while (q->number == 0 && p->taught < feed->teach && n < RTE_MIN(max, 8)) {
		unsigned k = p->taught++;

		m[n] = rte_pktmbuf_alloc(q->pool);
		if (m[n] == NULL)
			return n;
		write_frame(m[n], &p->template[k], p->length[k]);
		memset(rte_pktmbuf_mtod(m[n], void *), 0xFF, RTE_ETHER_ADDR_LEN);
		n++;
	}
	return n;
}

/* Puts back what was received, and new ones once. */
static void fill(struct queue *q, struct rte_mbuf **m, uint16_t n)
{
	struct port *p = q->port;
	struct rte_mbuf *more;

	if (rte_ring_enqueue_bulk(q->ring, (void **)m, n, NULL) != n)
		rte_pktmbuf_free_bulk(m, n);
	while (q->number == 0 && p->seeded < feed->seeds) {
		more = rte_pktmbuf_alloc(q->pool);
		if (more == NULL || rte_ring_enqueue(q->ring, more) != 0)
			return;
		p->seeded++;
	}
}

/* Everything but RUN. */
static __rte_noinline uint16_t seldom(struct queue *q, struct rte_mbuf **m, uint16_t n, uint16_t max, uint32_t mode)
{
	switch (mode) {
	case HOLD:
		rte_pktmbuf_free_bulk(m, n);
		return 0;
	case TEACH:
		rte_pktmbuf_free_bulk(m, n);
		return broadcasts(q, m, max);
	case SEED:
		fill(q, m, n);
		return 0;
	default:
		sample(q->port, m, n);
		return n > 0 ? write_all(q, m, n) : 0;
	}
}

static uint16_t received(uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n, uint16_t max, void *opaque)
{
	struct queue *q = opaque;
	uint32_t mode = __atomic_load_n(&feed->mode, __ATOMIC_RELAXED);

	(void)port;
	(void)queue; /* opaque says it */
	if (unlikely(mode != RUN))
		return seldom(q, m, n, max, mode);
	return n > 0 ? write_all(q, m, n) : 0;
}

static void *next_of(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (f == NULL) {
		fprintf(stderr, "feed: DPDK has no %s\n", name);
		exit(2);
	}
	return f;
}

/* Finds a queue's port, whose number the device's name ends with, and its ring. */
static int find(struct queue *q, uint16_t port)
{
	char name[RTE_ETH_NAME_MAX_LEN], ring[RTE_RING_NAMESIZE];
	unsigned n;

	if (rte_eth_dev_get_name_by_port(port, name) != 0 || sscanf(name, "net_%*[a-z]%u", &n) != 1 || n >= PORTS)
		return 0;
	q->port = &feed->port[n];
	snprintf(ring, sizeof(ring), "ETH_RXTX%u_%.20s", q->number, name);
	q->ring = rte_ring_lookup(ring);
	return q->ring != NULL || strncmp(name, "net_ring", 8) != 0;
}

int rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors, unsigned socket,
			   const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	int (*next)(uint16_t, uint16_t, uint16_t, unsigned, const struct rte_eth_rxconf *, struct rte_mempool *) =
		next_of("rte_eth_rx_queue_setup");

	if (feed != NULL && queue < PORTS)
		queues[port][queue].pool = pool;
	return next(port, queue, descriptors, socket, conf, pool);
}

int rte_eth_dev_start(uint16_t port)
{
	int (*next)(uint16_t) = next_of("rte_eth_dev_start");
	int r = next(port);

	for (uint16_t q = 0; feed != NULL && r == 0 && q < PORTS; q++) {
		struct queue *to = &queues[port][q];

		if (to->pool == NULL || to->fed)
			continue;
		feed->hz = rte_get_tsc_hz();
		torn = feed->hz / 50000; /* 20 us */
		to->number = q;
		if (!find(to, port) || rte_eth_add_rx_callback(port, q, received, to) == NULL) {
			fprintf(stderr, "feed: port %u queue %u cannot be fed\n", port, q);
			exit(2);
		}
		to->fed = 1;
	}
	return r;
}

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("BENCH_FEED");
	int fd = file != NULL ? open(file, O_RDWR | O_CLOEXEC) : -1;
	struct feed *f;

	if (fd < 0)
		return; /* a helper of who is fed */
	f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	if (f == MAP_FAILED || f->size != sizeof(*f)) {
		fprintf(stderr, "feed: %s is not of %zu bytes\n", file, sizeof(*f));
		exit(2);
	}
	feed = f;
	setvbuf(stdout, NULL, _IOLBF, 0); /* its words are waited for */
}
