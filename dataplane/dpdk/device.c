//go:build dpdk

#include "ph.h"

#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_eth_vhost.h>
#include <rte_ring.h>
#include <rte_vhost.h>

/* Finds a port by its name, or has DPDK make it by its specification. */
static int find_or_make(const char *name, const char *spec)
{
	uint16_t id;
	int r;

	if (rte_eth_dev_get_port_by_name(name, &id) == 0)
		return id;
	r = rte_dev_probe(spec);
	if (r < 0)
		return r;
	r = rte_eth_dev_get_port_by_name(name, &id);
	return r < 0 ? r : id;
}

static enum ph_kind kinds[RTE_MAX_ETHPORTS];

int ph_open(const char *name, const char *spec, enum ph_kind kind)
{
	int r;

	if (kind == PH_PACKET && ph_packet_begin() < 0)
		return -ENOMEM;
	if (kind == PH_MEMIF)
		ph_memif_begin();
	r = find_or_make(name, spec);
	if (r >= 0)
		kinds[r] = kind;
	if (kind == PH_PACKET)
		ph_packet_opened(r);
	if (kind == PH_MEMIF) {
		ph_memif_opened(r >= 0);
		ph_memif_end();
	}
	return r;
}

/* PFC is ours to do: cards must not act on pause frames but pass them up. What the driver
 * says to that is for flowcontrol.go to judge. */
void ph_flow_control_off(uint16_t id, struct ph_flow_control *says)
{
	struct rte_eth_fc_conf fc;
	int negotiates;

	memset(&fc, 0, sizeof(fc));
	memset(says, 0, sizeof(*says));
	says->got = rte_eth_dev_flow_ctrl_get(id, &fc);
	if (says->got != 0)
		return;
	says->acts = fc.mode != RTE_ETH_FC_NONE;
	negotiates = fc.autoneg;
	fc.mode = RTE_ETH_FC_NONE;
	fc.mac_ctrl_frame_fwd = 1;
	fc.autoneg = 0;
	says->taken = rte_eth_dev_flow_ctrl_set(id, &fc);
	if (says->taken == -ENOTSUP && negotiates) { /* e1000 cannot do without; it then offers none */
		fc.autoneg = negotiates;
		says->taken = rte_eth_dev_flow_ctrl_set(id, &fc);
	}
}

/* Whether the machine at a vhost-user port waits for frames with buffers of which one must hold a frame: a frame that it
 * does not take then is too long for them. A frame may take several buffers of others (VIRTIO_NET_F_MRG_RXBUF). How
 * many wait in a packed ring the library does not tell. */
int ph_vhost_waits(uint16_t id)
{
	const uint64_t merges = 1ULL << VIRTIO_NET_F_MRG_RXBUF, packed = 1ULL << VIRTIO_F_RING_PACKED;
	int vid = rte_eth_vhost_get_vid_from_port_id(id);
	uint64_t features;

	return vid >= 0 && rte_vhost_get_negotiated_features(vid, &features) == 0 && (features & (merges | packed)) == 0 &&
	       rte_vhost_avail_entries(vid, 0) > 0; /* queue 0 is the machine's for receiving */
}

/* How often links went down, as cards told by interrupts. */
static uint64_t downs[RTE_MAX_ETHPORTS];

static int link_changed(uint16_t id, enum rte_eth_event_type type, void *none, void *nothing)
{
	struct rte_eth_link link;

	(void)type, (void)none, (void)nothing;
	if (rte_eth_link_get_nowait(id, &link) == 0 && !link.link_status)
		__atomic_add_fetch(&downs[id], 1, __ATOMIC_RELAXED);
	return 0;
}

/* Whether a card tells of its link by interrupts: then nobody else asks it, and what the driver said last counts. Behind
 * VFIO e1000's said nothing when the cable was pulled out (make test-e1000e): it is asked. */
static int tells_of_link(uint16_t id)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(id, &info) == 0 && (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 &&
		strcmp(info.driver_name, "net_e1000_em") != 0;
}

/* Configures and starts a port with so many queues in each direction, which
 * takes every frame with its tags. A memif that is a client may start later. A card
 * tells of its link by interrupts, if its driver can. */
int ph_start(uint16_t id, uint16_t queues, uint16_t mtu, uint16_t rx, uint16_t tx, struct rte_mempool *mp, int client)
{
	struct rte_eth_conf conf;
	uint16_t q;
	int socket = rte_eth_dev_socket_id(id), r;

	memset(&conf, 0, sizeof(conf));
	conf.rxmode.mtu = mtu;
	/* A virtual device's link is looked at whenever it is asked for. */
	if (kinds[id] == PH_CARD && tells_of_link(id)) {
		conf.intr_conf.lsc = 1;
		rte_eth_dev_callback_register(id, RTE_ETH_EVENT_INTR_LSC, link_changed, NULL);
	}
	r = rte_eth_dev_configure(id, queues, queues, &conf);
	if (r < 0 && mtu != 0) { /* its MTU is fixed, or changes by a call of its own only */
		conf.rxmode.mtu = 0;
		r = rte_eth_dev_configure(id, queues, queues, &conf);
		if (r == 0)
			rte_eth_dev_set_mtu(id, mtu); /* who calls looks what came of it */
	}
	if (r == 0)
		r = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);
	for (q = 0; q < queues && r == 0; q++) {
		r = rte_eth_rx_queue_setup(id, q, rx, socket, NULL, mp);
		if (r == 0)
			r = rte_eth_tx_queue_setup(id, q, tx, socket, NULL);
	}
	if (r == 0)
		r = kinds[id] == PH_MEMIF ? ph_memif_start(id) : rte_eth_dev_start(id);
	if (r < 0 && client && ph_memif_away(id))
		return 0;
	if (r < 0)
		return r;
	if (ph_packet_socket(id) < 0) /* else it is when it is bound */
		rte_eth_promiscuous_enable(id);
	rte_eth_allmulticast_enable(id);
	return 0;
}

/* How many frames a port's receive ring holds; 0: its driver does not say. */
int ph_ring(uint16_t id)
{
	struct rte_eth_rxq_info info;

	return rte_eth_rx_queue_info_get(id, 0, &info) == 0 ? info.nb_desc : 0;
}

/* Stops and closes a port and forgets its device, so that it can be opened again. */
void ph_close(uint16_t id)
{
	struct rte_eth_dev_info info;
	int known = rte_eth_dev_info_get(id, &info) == 0 && info.device != NULL;

	if (kinds[id] == PH_MEMIF)
		ph_memif_begin();
	rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_LSC, link_changed, NULL);
	downs[id] = 0;
	rte_eth_dev_stop(id);
	rte_eth_dev_close(id);
	if (known)
		rte_dev_remove(info.device);
	ph_packet_closed(id);
	if (kinds[id] == PH_MEMIF) {
		ph_memif_opened(-1);
		ph_memif_end();
	}
	kinds[id] = PH_OTHER;
}

/* Takes a device's link down or up: 1, or 0 if it has no such thing. */
int ph_set_up(uint16_t id, int up)
{
	int r = up ? rte_eth_dev_set_link_up(id) : rte_eth_dev_set_link_down(id);

	if (r == -ENOTSUP || r == -ENOSYS)
		return 0;
	return r < 0 ? r : 1;
}

int ph_link(uint16_t id, int *up, uint32_t *mbps)
{
	struct rte_eth_link link;
	int r = rte_eth_link_get_nowait(id, &link);

	*up = r == 0 && link.link_status;
	*mbps = r == 0 && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN ? link.link_speed : 0;
	return r;
}

uint64_t ph_downs(uint16_t id)
{
	return __atomic_load_n(&downs[id], __ATOMIC_RELAXED);
}

/* A device whose queue i is a ring: what is sent into it comes out of it. */
int ph_cables(const char *name, unsigned queues, unsigned size)
{
	struct rte_ring *rings[RTE_PMD_RING_MAX_RX_RINGS];
	char ring[RTE_RING_NAMESIZE];
	unsigned i;
	int id;

	for (i = 0; i < queues; i++) {
		snprintf(ring, sizeof(ring), "%s.%u", name, i);
		rings[i] = rte_ring_create(ring, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (rings[i] == NULL)
			return -rte_errno;
	}
	id = rte_eth_from_rings(name, rings, queues, rings, queues, SOCKET_ID_ANY);
	return id < 0 ? -rte_errno : id;
}

/* Frees what waits to be received, up to a number of frames or a few more. */
uint32_t ph_drain(uint16_t dev, uint16_t queue, uint32_t most)
{
	struct rte_mbuf *m[PH_BURST];
	uint32_t total = 0;
	uint16_t n;

	while (total < most && (n = rte_eth_rx_burst(dev, queue, m, PH_BURST)) > 0) {
		rte_pktmbuf_free_bulk(m, n);
		total += n;
	}
	return total;
}
