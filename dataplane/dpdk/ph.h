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

/* eal.c */
int ph_eal_init(int argc, char **argv);
int ph_errno(void);
int ph_pin(int core);
int ph_affinity(int *cores, int max);
struct rte_mempool *ph_pool(const char *name, unsigned n, uint16_t room, int contiguous);
void ph_span(struct rte_mempool *mp, uint8_t **low, uint8_t **high);

/* device.c */
int ph_open(const char *name, const char *spec);
int ph_start(uint16_t id, uint16_t queues, uint16_t mtu, uint16_t descriptors, struct rte_mempool *mp);
uint16_t ph_mtu(uint16_t id);
void ph_close(uint16_t id);
int ph_link(uint16_t id, int *up, uint32_t *mbps);
int ph_cables(const char *name, unsigned queues, unsigned size);
unsigned ph_cables_per_device(void);
uint32_t ph_drain(uint16_t dev, uint16_t queue);

/* round.c */
#define PH_BURST 32

/* Mirrors dataplane.Frame; TestFrameLayout compares them. ref counts units of
 * 64 bytes from the base of the pool to the mbuf; off counts from the mbuf to
 * the first byte of the frame. */
struct ph_frame {
	uint32_t ref;
	uint32_t hash;
	uint16_t len;
	uint16_t off;
	uint16_t in;
	uint8_t prio;
	uint8_t l3;
	uint8_t flag;
	uint8_t pad[15];
};

struct ph_port {
	uint16_t rx_dev, rx_queue;
	uint16_t tx_dev, tx_queue;
	uint16_t tx_n; /* frames staged to be sent; after a round, those that the device refused */
	uint16_t rx_n; /* frames received in the last round */
	uint16_t rx_held; /* take nothing from the device for now */
	uint64_t rx_total, tx_total;
	uint64_t too_long; /* received in several buffers, and dropped */
	struct ph_frame tx[PH_BURST];
	struct ph_frame rx[PH_BURST];
};

struct ph_worker {
	struct rte_mempool *pool;
	uint8_t *base;
	uint16_t ports;
	struct ph_port *port; /* array */
};

/* Sends what is staged on all ports, then receives on all ports. Returns the
 * time stamp counter; received is the number of frames on all ports. */
uint64_t ph_round(struct ph_worker *w, uint32_t *received);

/* Exchanges free frames with the pool so that half of size are at hand. */
uint32_t ph_balance(struct ph_worker *w, uint32_t *slots, uint32_t n, uint32_t size);

void ph_punctual(void);
void ph_sleep(uint32_t ns);

#endif
