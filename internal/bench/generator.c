//go:build ignore

/* Sends frames to a contestant and looks at what comes back: a process of its own, at the other ends of the contestant's
 * memif ports. rfc2544.go builds it, and tells it what to do by lines on its standard input. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

enum {
	BURST = 32,
	DESCRIPTORS = 4096,
	BUFFERS = 65536,
	SUB = 32, /* buckets of the histogram for each power of two */
	BUCKETS = 48 * SUB,
	HEADERS = 14 + 20 + 8,
	PORT = 2544, /* of UDP, by which frames of a trial are known */
};

struct stamp {
	uint64_t ticks;
	uint32_t trial;
	uint32_t flow;
} __attribute__((packed));

/* The flows of incast(), and the only one of try(). */
enum { TO_CONGESTED, VICTIM, FLOWS };

enum { LOSSY = 8, LOSSLESS = 26, PRIORITY = 3 }; /* DSCPs, and the priority in which photon has the second */

enum { PORTS = 4 };

static struct rte_mempool *pool;
static unsigned queues; /* by which a port receives: those by which the contestant sends there */
static uint32_t trial;
static uint64_t histogram[FLOWS][BUCKETS], received[FLOWS];
static uint64_t paused_until[PORTS], pauses; /* by PFC frames that came to a port */

static void die(const char *what)
{
	fprintf(stderr, "generator: %s\n", what);
	exit(2);
}

static void host(uint8_t *b, unsigned port)
{
	const uint8_t mac[6] = {2, 0, 0, 0, 0x25, port};

	memcpy(b, mac, 6);
}

/* A frame between two ports: UDP. */
static void template(uint8_t *b, unsigned from, unsigned to, unsigned length, unsigned dscp)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(b + 14);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);

	memset(b, 0, length);
	host(b, to);
	host(b + 6, from);
	b[12] = 8;
	ip->version_ihl = 0x45;
	ip->type_of_service = dscp << 2;
	ip->total_length = rte_cpu_to_be_16(length - 14);
	ip->time_to_live = 64;
	ip->next_proto_id = 17;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 9, 0, from + 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 9, 0, to + 1));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->src_port = rte_cpu_to_be_16(4000);
	udp->dst_port = rte_cpu_to_be_16(PORT);
	udp->dgram_len = rte_cpu_to_be_16(length - 34);
}

static struct rte_mbuf *frame(const uint8_t *from, unsigned length)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		return NULL;
	memcpy(rte_pktmbuf_append(m, length), from, length);
	return m;
}

/* Hosts behind all ports say who they are, until they are heard at another. */
static void teach(unsigned ports)
{
	uint8_t b[64];
	struct rte_mbuf *m[BURST];

	for (unsigned p = 0; p < ports; p++) {
		template(b, p, 255, sizeof b, LOSSY);
		memset(b, 0xFF, 6);
		struct rte_mbuf *one = frame(b, sizeof b);
		uint64_t late = rte_rdtsc() + 10 * rte_get_tsc_hz(); /* a link is up a moment before its rings are */

		if (one == NULL)
			die("no memory for a broadcast");
		while (rte_eth_tx_burst(p, 0, &one, 1) != 1)
			if (rte_rdtsc() > late)
				die("a broadcast is not sent");
	}
	for (uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 5; rte_rdtsc() < end;)
		for (unsigned p = 0; p < ports; p++)
			for (unsigned q = 0; q < queues; q++)
				rte_pktmbuf_free_bulk(m, rte_eth_rx_burst(p, q, m, BURST));
	printf("taught\n");
}

static unsigned bucket(uint64_t ticks)
{
	unsigned top;

	if (ticks < SUB)
		return ticks;
	top = 63 - __builtin_clzll(ticks);
	top = (top - 4) * SUB + (ticks >> (top - 5)) - SUB;
	return top < BUCKETS ? top : BUCKETS - 1;
}

/* The largest value of a bucket. */
static uint64_t value(unsigned i)
{
	if (i < SUB)
		return i;
	return ((uint64_t)(i % SUB + SUB + 1) << (i / SUB - 1)) - 1;
}

static double quantile(unsigned flow, double q)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < BUCKETS; i++)
		if ((sum += histogram[flow][i]) > q * (received[flow] - 1))
			return value(i) * 1e9 / rte_get_tsc_hz();
	return 0;
}

/* A PFC frame: the port does not send for so many quanta of 512 bits at 10 Gbit/s. */
static void obey(unsigned port, const uint8_t *b, uint64_t now)
{
	if (b[14] != 1 || b[15] != 1 || !(b[17] >> PRIORITY & 1))
		return;
	uint16_t quanta = b[18 + 2 * PRIORITY] << 8 | b[19 + 2 * PRIORITY];
	pauses += quanta > 0;
	paused_until[port] = now + quanta * 51.2e-9 * rte_get_tsc_hz();
}

/* Takes at most so many frames that have come to a port, and counts what is of this trial. */
static unsigned take(unsigned port, unsigned most)
{
	struct rte_mbuf *m[BURST];
	unsigned taken = 0;

	for (unsigned q = 0; q < queues && taken < most; q++) {
		uint16_t n = rte_eth_rx_burst(port, q, m, RTE_MIN(most - taken, BURST));
		uint64_t now = rte_rdtsc();

		for (uint16_t i = 0; i < n; i++) {
			const uint8_t *b = rte_pktmbuf_mtod(m[i], const uint8_t *);
			struct stamp s;

			if (m[i]->data_len >= 60 && b[12] == 0x88 && b[13] == 8)
				obey(port, b, now);
			memcpy(&s, b + HEADERS, sizeof s);
			if (m[i]->data_len < HEADERS + sizeof s || b[12] != 8 || b[13] != 0 || b[36] != PORT >> 8 || b[37] != (PORT & 255) ||
			    s.trial != trial || s.flow >= FLOWS)
				continue;
			received[s.flow]++;
			histogram[s.flow][bucket(now - s.ticks)]++;
		}
		rte_pktmbuf_free_bulk(m, n);
		taken += n;
	}
	return taken;
}

static void begin(void)
{
	trial++;
	memset(histogram, 0, sizeof histogram);
	memset(received, 0, sizeof received);
	memset(paused_until, 0, sizeof paused_until);
	pauses = 0;
}

/* Sends frames, and returns how many the device takes; the others are lost, as on a wire. */
static unsigned offer(unsigned port, struct rte_mbuf **m, unsigned n)
{
	unsigned k = n ? rte_eth_tx_burst(port, 0, m, n) : 0;

	rte_pktmbuf_free_bulk(m + k, n - k);
	return k;
}

static struct rte_mbuf *stamped(const uint8_t *b, unsigned length, uint64_t now, uint32_t flow)
{
	struct rte_mbuf *m = frame(b, length);
	struct stamp s = {now, trial, flow};

	if (m != NULL)
		memcpy(rte_pktmbuf_mtod(m, uint8_t *) + HEADERS, &s, sizeof s);
	return m;
}

/* Receives frames until none has come for a tenth of a second. */
static void flush(unsigned ports)
{
	for (uint64_t last = rte_rdtsc(); rte_rdtsc() - last < rte_get_tsc_hz() / 10;)
		for (unsigned p = 0; p < ports; p++)
			if (take(p, BURST) > 0)
				last = rte_rdtsc();
}

/* Sends so many frames at a rate, or as fast as it can, and receives until none has come for a while. */
static void try(unsigned ports, unsigned from, unsigned to, unsigned length, double rate, uint64_t count)
{
	uint8_t b[2048];
	struct rte_mbuf *m[BURST];
	uint64_t hz = rte_get_tsc_hz(), start, done, offered = 0, accepted = 0;

	if (length > sizeof b)
		die("such long frames");
	begin();
	template(b, from, to, length, LOSSY);
	for (start = done = rte_rdtsc(); offered < count;) {
		uint64_t now = rte_rdtsc(), due = count;
		unsigned n = 0;

		if (rate > 0 && (now - start) * rate / hz < due)
			due = (now - start) * rate / hz;
		while (n < BURST && offered + n < due && (m[n] = stamped(b, length, now, TO_CONGESTED)) != NULL)
			n++;
		accepted += offer(from, m, n);
		offered += n;
		done = rte_rdtsc();
		take(to, BURST);
		take(from, BURST);
	}
	flush(ports);
	printf("tried %" PRIu64 " %" PRIu64 " %" PRIu64 " %.9f %.0f %.0f %.0f\n", offered, accepted, received[TO_CONGESTED],
	       (double)(done - start) / hz, quantile(TO_CONGESTED, 0.5), quantile(TO_CONGESTED, 0.99), quantile(TO_CONGESTED, 0.999));
}

/* Of the frames of port 0 every other one is for the victim. */
static unsigned flow_of(unsigned port, uint64_t number)
{
	return port == 0 && number % 2 ? VICTIM : TO_CONGESTED;
}

/* Ports 0 and 1 send at a rate, port 1 to port 3, port 0 in turns to port 3 and to port 2, which is the victim. What comes to port 3
 * is taken at another rate, which is less: the link there is congested. PFC frames are obeyed; what falls due meanwhile is not sent. */
static void incast(unsigned ports, unsigned length, double rate, double drain, double seconds, unsigned dscp)
{
	uint8_t b[2][FLOWS][2048];
	struct rte_mbuf *m[BURST];
	uint64_t hz = rte_get_tsc_hz(), start, now, due[2] = {0}, sent[FLOWS] = {0}, wanted = 0, drained = 0;

	if (ports < PORTS || length > sizeof b[0][0])
		die("four ports are needed, and frames of at most 2048 bytes");
	begin();
	template(b[0][TO_CONGESTED], 0, 3, length, dscp);
	template(b[0][VICTIM], 0, 2, length, dscp);
	template(b[1][TO_CONGESTED], 1, 3, length, dscp);
	for (start = now = rte_rdtsc(); now - start < seconds * hz; now = rte_rdtsc()) {
		wanted = (now - start) * rate / hz;
		for (unsigned p = 0; p < 2; p++) {
			unsigned n = 0, k;

			if (paused_until[p] > now)
				due[p] = wanted; /* what it could not send is past */
			for (; n < BURST && due[p] + n < wanted; n++)
				if ((m[n] = stamped(b[p][flow_of(p, due[p] + n)], length, now, flow_of(p, due[p] + n))) == NULL)
					break;
			k = offer(p, m, n); /* the others wait at the sender */
			for (unsigned i = 0; i < k; i++)
				sent[flow_of(p, due[p] + i)]++;
			due[p] += k;
			take(p, BURST);
		}
		take(2, BURST);
		if (drained < (now - start) * drain / hz)
			drained += take(3, RTE_MIN((uint64_t)((now - start) * drain / hz) - drained, (uint64_t)BURST));
	}
	flush(ports);
	printf("incast %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.0f\n", wanted, sent[VICTIM], received[VICTIM],
	       sent[TO_CONGESTED], received[TO_CONGESTED], pauses, quantile(VICTIM, 0.99));
}

int main(int argc, char **argv)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_link link;
	unsigned ports;
	char line[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	int options = rte_eal_init(argc, argv);
	if (options < 0)
		die("EAL");
	if (options + 1 >= argc || (queues = atoi(argv[options + 1])) == 0)
		die("by how many queues does a port receive?");
	ports = rte_eth_dev_count_avail();
	if (ports > PORTS)
		die("four ports at most");
	pool = rte_pktmbuf_pool_create("frames", BUFFERS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (pool == NULL)
		die("no memory for frames");
	for (unsigned p = 0; p < ports; p++) {
		if (rte_eth_dev_configure(p, queues, 1, &conf))
			die("a port does not start");
		for (unsigned q = 0; q < queues; q++)
			if (rte_eth_rx_queue_setup(p, q, DESCRIPTORS, 0, NULL, pool))
				die("a port does not start");
		if (rte_eth_tx_queue_setup(p, 0, DESCRIPTORS, 0, NULL) || rte_eth_dev_start(p))
			die("a port does not start");
	}
	printf("listens\n");
	while (fgets(line, sizeof line, stdin)) {
		unsigned from, to, length, p;
		unsigned dscp;
		uint64_t count;
		double rate, drain, seconds;

		if (sscanf(line, "try %u %u %u %lf %" SCNu64, &from, &to, &length, &rate, &count) == 5) {
			try(ports, from, to, length, rate, count);
		} else if (sscanf(line, "incast %u %lf %lf %lf %u", &length, &rate, &drain, &seconds, &dscp) == 5) {
			incast(ports, length, rate, drain, seconds, dscp);
		} else if (!strcmp(line, "teach\n")) {
			teach(ports);
		} else if (!strcmp(line, "links\n")) {
			for (p = 0; p < ports && rte_eth_link_get_nowait(p, &link) == 0 && link.link_status; p++)
				;
			printf("links %u\n", p);
		} else if (!strcmp(line, "quit\n")) {
			break;
		}
	}
	return 0;
}
