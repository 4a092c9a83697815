/* The C side of the world on DPDK: what is inline in DPDK's headers, or wants
 * C's types. Return values below zero are negative error numbers. */
#ifndef PHOTON_PH_H
#define PHOTON_PH_H

#include <stdint.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_version.h>

/* Declares `next`, the function of a name that the program would call without this package: photon has some of libc's
 * and DPDK's once more, which the dynamic linker finds before those. */
#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* eal.c */
int ph_eal_init(int argc, char **argv, int said);
void ph_listen(int said);
void ph_listened(void);
int ph_errno(void);
struct rte_mempool *ph_pool(const char *name, unsigned n, unsigned most, uint16_t room, int contiguous, uint8_t **next);
size_t ph_object(struct rte_mempool *mp);
int ph_grow(struct rte_mempool *mp, unsigned n, uint8_t **next);
void ph_span(struct rte_mempool *mp, uint8_t **low, uint8_t **high);

/* device.c */
enum ph_kind { /* how a device is served */
	PH_OTHER,
	PH_CARD,
	PH_PACKET, /* net_af_packet */
	PH_TAP, /* what it refuses it will never take */
	PH_VHOST, /* a process is its peer; what does not fit into a buffer of that it may never take (ph_vhost_waits) */
	PH_MEMIF, /* a process is its peer */
};
int ph_open(const char *name, const char *spec, enum ph_kind kind);
int ph_start(uint16_t id, uint16_t queues, uint16_t mtu, uint16_t rx, uint16_t tx, struct rte_mempool *mp, int client);
struct ph_flow_control {
	int got; /* of rte_eth_dev_flow_ctrl_get */
	int acts; /* some mode was on */
	int taken; /* of rte_eth_dev_flow_ctrl_set */
};
void ph_flow_control_off(uint16_t id, struct ph_flow_control *says);
void ph_close(uint16_t id);
int ph_link(uint16_t id, int *up, uint32_t *mbps);
int ph_set_up(uint16_t id, int up); /* 0: the device cannot */
int ph_ring(uint16_t id);
uint64_t ph_downs(uint16_t id); /* how often the link went down, if its card tells */
int ph_cables(const char *name, unsigned queues, unsigned size);
int ph_vhost_waits(uint16_t id);
uint32_t ph_drain(uint16_t dev, uint16_t queue, uint32_t most);

/* afpacket.c */
int ph_packet_begin(void); /* who opens such a device */
void ph_packet_opened(int id); /* or has failed to; ends that */
void ph_packet_closed(uint16_t id);
int ph_packet_socket(uint16_t id);
int ph_packet_bound(uint16_t id);
int ph_packet_unbind(uint16_t id);
int ph_packet_bind(uint16_t id, int index);
struct ph_packet *ph_packet_of(uint16_t id); /* NULL: another kind of device */
uint16_t ph_packet_look(const struct ph_packet *p, uint64_t *several, uint64_t *open); /* before each burst that is received */
void ph_packet_taken(struct ph_packet *p, unsigned n); /* after it */
void ph_packet_sends(struct ph_packet *p); /* before each burst that is given to the driver */
void ph_packet_sent(struct ph_packet *p, unsigned n); /* after it */
void ph_packet_again(struct ph_packet *p); /* in a round without one */
int ph_packet_takes(const struct ph_packet *p, const uint8_t *frame, unsigned length);
void ph_packet_limit(uint16_t id, unsigned mtu);
uint64_t ph_packet_refused(uint16_t id);
struct ph_lost {
	uint64_t refusals, frames;
	uint32_t from;
	int asking;
};
void ph_packet_direct(uint16_t id, int direct);
void ph_packet_lost(uint16_t id, struct ph_lost *l);
void ph_never_wait(void); /* this thread, from now on */

/* memif.c */
void ph_memif_begin(void); /* waits until no worker polls a memif, and nobody else calls its driver */
void ph_memif_opened(int n); /* or closed; by who has the turn */
void ph_memif_end(void);
int ph_memif_start(uint16_t id);
int ph_memif_again(uint16_t id); /* stops it before */
int ph_memif_away(uint16_t id); /* whether it did not start; polls are to leave it alone. For who has the turn, or polls */
enum ph_memif { PH_MEMIF_ALONE, PH_MEMIF_GREETING, PH_MEMIF_UP };
enum ph_memif ph_memif_state(uint16_t id); /* of a client: whether there is a server, and whether it has answered */
int ph_memif_try(void); /* whether a worker may poll memifs; if so, until ph_memif_done */
void ph_memif_done(void);

/* round.c */
#define PH_BURST 64 /* frames that a round takes from a port: fabric.MaxBurst */
#define PH_STAGED (2 * PH_BURST) /* that it sends: several ports may have frames for one */

void *ph_lines(size_t size);

/* Mirrors fabric.Frame; TestFrameLayout compares them. ref counts units of
 * 64 bytes from the base of the pool to the mbuf; off counts from the mbuf to
 * the first byte of the frame. */
struct ph_frame {
	uint32_t ref;
	uint16_t len;
	uint16_t off;
	uint32_t digest;
	uint16_t in;
	uint8_t prio;
	uint8_t flag;
};

struct ph_port {
	uint16_t rx_dev, rx_queue;
	uint16_t tx_dev, tx_queue;
	uint16_t tx_n; /* frames staged to be sent; after a round, those that the device refused */
	uint16_t rx_n; /* frames received in the last round */
	uint16_t rx_paused; /* take nothing from the device for now */
	enum ph_kind kind;
	uint64_t rx_total, tx_total;
	struct ph_packet *packet; /* of net_af_packet; else NULL */
	uint64_t tx_away; /* of tx_total, those for a peer that was not there or that a tap refused, which were dropped */
	uint64_t tx_too_long; /* of tx_total, those too long for the kernel's interface or a peer's buffers, which were dropped */
	uint64_t several, open; /* frames received that no wire would carry (ph_packet_look); the former were dropped */
	uint64_t too_long; /* received in several buffers, and dropped */
	struct ph_frame tx[PH_STAGED] __rte_cache_aligned; /* no frame lies in two lines */
	struct ph_frame rx[PH_BURST];
} __rte_cache_aligned;

struct ph_worker {
	struct rte_mempool *pool;
	uint8_t *base;
	uint16_t ports;
	uint16_t memifs; /* how many of them are such */
	uint32_t received; /* frames on all ports in the last round */
	struct ph_port **port; /* those that it polls */
	uint64_t now; /* time stamp counter when ph_round or ph_nap ended */
	uint32_t nap; /* nanoseconds that ph_nap takes */
};

/* What ph_swap is given; n is also what it returns. */
struct ph_swap {
	struct ph_worker *worker;
	uint32_t *slots;
	uint32_t n, size;
};

void ph_round(void *worker); /* sends what is staged on all ports, then receives on all ports */
void ph_swap(void *swap); /* exchanges free frames with the pool so that half of size are at hand */
void ph_nap(void *worker);
void ph_yield(void *worker);

#endif
