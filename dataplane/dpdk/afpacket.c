//go:build dpdk

/* What net_af_packet's driver (DPDK 22.11) does by itself loses, changes and mixes up
 * frames: its packet socket hears every interface of the namespace until it is bound,
 * and from then on fills its ring although nobody polls yet; it joins a group of
 * sockets in which the kernel puts IPv4 fragments together, and whose number, made of
 * those of the process and of the interface, another process may have; and a worker
 * waits in it without end when the kernel's ring for sending is full.
 *
 * So the functions of libc by which it does so are defined here once more: the dynamic
 * linker finds those of the program before libc's. They do something else, or more, for
 * the thread that is opening such a device, and for workers, and are libc's for all others. */
#define _GNU_SOURCE
#include "ph.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#ifndef TP_STATUS_GSO_TCP /* kernels of today tell, older ones do not */
#define TP_STATUS_GSO_TCP (1 << 8)
#endif

/* EtherType that no frame has: IEEE keeps it. */
#define NOTHING 0xFFFF

/* Milliseconds for which a frame is offered to a peer without room: longer than a kernel that shares its core with a
 * worker leaves its queue alone. */
#define PATIENCE 200

/* A device of net_af_packet. Its socket shares two rings of frames with the kernel,
 * which begin with a head, as large as each other: what is received, then what is sent. */
struct ph_packet {
	int fd;
	struct tpacket_req rings; /* each */
	uint8_t *map;
	unsigned receives; /* frame that the driver reads next */
	unsigned sends; /* frame that the driver writes to next */
	unsigned waiting; /* frames before that one that the kernel has not taken */
	int left; /* frames were left in the ring, and the kernel is to be asked again */
	int direct; /* no queue but the peer's is behind the interface: who has no room there has dropped the frame */
	uint64_t since; /* when the first of those that wait was refused first; 0: it was not */
	unsigned hopeless; /* length from which on frames were refused for good, and none was taken since */
	int asking; /* the kernel is being asked to send, and may have counted what refusals lack */
	uint64_t refusals; /* how often the peer dropped a frame, and the kernel said so and kept it for another try */
	uint64_t lost; /* frames that the peer dropped for good */
	unsigned longest; /* frame that the interface takes, without tag */
	uint64_t refused; /* frames that the kernel will not send */
};

static struct ph_packet *devices[RTE_MAX_ETHPORTS];
static __thread struct ph_packet *opening; /* by this thread */
static __thread int worker;		   /* it polls, and must not wait */
static __thread int why;		   /* the kernel did not send all, of a worker */

static struct tpacket2_hdr *received(const struct ph_packet *p, unsigned n)
{
	return (struct tpacket2_hdr *)(p->map + (size_t)n * p->rings.tp_frame_size);
}

static struct tpacket2_hdr *sent(const struct ph_packet *p, unsigned n)
{
	return (struct tpacket2_hdr *)((uint8_t *)received(p, n) + (size_t)p->rings.tp_block_size * p->rings.tp_block_nr);
}

/* Looks at the frames that wait in the ring, and returns how many they are, PH_BURST at most.
 * The driver is to be asked for no more: nothing is known of one that comes after this look.
 * Two sets of bits, the first frame's the lowest, say which are not as a wire would carry
 * them: those that are several in one, for a card to take apart, which are cut short if the
 * ring has no room for all of it; and those whose checksum a card was to fill in. One that is
 * cut short and that the interface's MTU allows is a single frame, which is longer than the
 * port's MTU still. */
uint16_t ph_packet_look(const struct ph_packet *p, uint64_t *several, uint64_t *open)
{
	uint16_t i;
	unsigned at = p->receives, longest = __atomic_load_n(&p->longest, __ATOMIC_RELAXED) + 8; /* two tags */

	*several = *open = 0;
	for (i = 0; i < PH_BURST; i++) {
		const struct tpacket2_hdr *h = received(p, at);
		uint32_t status = h->tp_status;

		if ((status & TP_STATUS_USER) == 0)
			break;
		if ((status & TP_STATUS_GSO_TCP) ||
		    (h->tp_len > longest && (h->tp_len > h->tp_snaplen || (status & TP_STATUS_CSUMNOTREADY))))
			*several |= 1ULL << i;
		else if (status & TP_STATUS_CSUMNOTREADY)
			*open |= 1ULL << i;
		if (++at == p->rings.tp_frame_nr)
			at = 0;
	}
	return i;
}

/* So many of them were handed over. */
void ph_packet_taken(struct ph_packet *p, unsigned n)
{
	p->receives = (p->receives + n) % p->rings.tp_frame_nr;
}

static int left(int error)
{
	return error == EAGAIN || error == ENOBUFS;
}

/* Asks the kernel to send what is in the ring. */
static int ask(const struct ph_packet *p)
{
	int error = sendto(p->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;

	why = 0; /* it is told here */
	return error;
}

/* The first of the frames that wait. The kernel takes them in their order. */
static struct tpacket2_hdr *first(const struct ph_packet *p)
{
	unsigned all = p->rings.tp_frame_nr;

	return sent(p, (p->sends + all - p->waiting) % all);
}

static int waits(const struct tpacket2_hdr *h)
{
	return __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) == TP_STATUS_SEND_REQUEST;
}

/* Has the kernel skip a frame. None has such a length. */
static void skip(struct tpacket2_hdr *h)
{
	h->tp_len = UINT32_MAX;
}

/* Sees which frames the kernel has taken. */
static void see_taken(struct ph_packet *p)
{
	for (; p->waiting > 0 && !waits(first(p)); p->waiting--) {
		unsigned length = first(p)->tp_len;

		p->since = 0;
		if (length >= p->hopeless && length != UINT32_MAX)
			p->hopeless = UINT32_MAX;
	}
}

/* What the other end of a veth does not take, for it is too long there or the end is down, it
 * drops, and the kernel says that it has no room (ENOBUFS), keeps the frame, and offers it
 * again for ever. There may be room in a moment. If there is none for long, the frame is
 * lost, and so is all that is as long, until such a frame is taken: the others go on. */
static int give_up_refused(struct ph_packet *p, int error)
{
	unsigned i;

	if (!p->direct)
		return error;
	p->refusals += error == ENOBUFS;
	for (i = 0; error == ENOBUFS && p->waiting > 0 && i < PH_BURST; i++) {
		struct tpacket2_hdr *h = first(p);
		uint64_t now = rte_rdtsc();

		if (p->since == 0)
			p->since = now;
		if (h->tp_len < p->hopeless) {
			if (now - p->since < rte_get_tsc_hz() / 1000 * PATIENCE)
				break;
			p->hopeless = h->tp_len;
		}
		skip(h);
		p->lost++;
		error = ask(p);
		p->refusals += error == ENOBUFS;
		see_taken(p);
	}
	return error;
}

/* Frames are about to be given to the driver. */
void ph_packet_sends(struct ph_packet *p)
{
	__atomic_store_n(&p->asking, 1, __ATOMIC_SEQ_CST);
}

/* So many frames were given to the driver, which has put each into the ring and asked the
 * kernel to send them. The kernel says that all is well if it took some of them: the others
 * are there still. If the kernel takes none, for the interface is down or gone, they
 * would wait there, to leave when it is up again, when all else of the port begins anew:
 * it is made to skip them. */
static void look_after(struct ph_packet *p, unsigned n)
{
	int error = why;

	why = 0;
	if (error != 0 && !left(error))
		error = ask(p); /* the socket may have told of what is over */
	p->sends = (p->sends + n) % p->rings.tp_frame_nr;
	p->waiting += n;
	see_taken(p);
	error = give_up_refused(p, error);
	p->left = error == 0 ? p->waiting > 0 : left(error);
	if (error == 0 || p->left)
		return;
	for (; p->waiting > 0; p->waiting--) {
		skip(first(p));
		p->refused++;
	}
}

void ph_packet_sent(struct ph_packet *p, unsigned n)
{
	look_after(p, n);
	__atomic_store_n(&p->asking, 0, __ATOMIC_RELEASE);
}

/* Asks once more, if the kernel has left frames in the ring. */
void ph_packet_again(struct ph_packet *p)
{
	if (!p->left)
		return;
	ph_packet_sends(p);
	why = ask(p);
	ph_packet_sent(p, 0);
}

void ph_packet_limit(uint16_t id, unsigned mtu)
{
	if (devices[id] != NULL)
		__atomic_store_n(&devices[id]->longest, mtu + ETH_HLEN, __ATOMIC_RELAXED);
}

/* Whether the kernel takes a frame, which it would not tell: longer ones it drops, and
 * counts nowhere. A tag is extra, if it is no provider's (net/packet/af_packet.c,
 * packet_extra_vlan_len_allowed). */
int ph_packet_takes(const struct ph_packet *p, const uint8_t *b, unsigned length)
{
	unsigned longest = __atomic_load_n(&p->longest, __ATOMIC_RELAXED);

	return length <= longest || (length <= longest + 4 && b[12] == (ETH_P_8021Q >> 8) && b[13] == (ETH_P_8021Q & 0xFF));
}

/* Whether frames go from the interface to its peer, and through no queue of the kernel's. */
void ph_packet_direct(uint16_t id, int direct)
{
	if (devices[id] != NULL)
		__atomic_store_n(&devices[id]->direct, direct, __ATOMIC_RELAXED);
}

/* What the peer dropped: how often the kernel, which counts each try, has counted a frame that it kept; and how many
 * are lost. From some length on it drops all at present; 0: it takes all. While the
 * kernel is being asked to send, it may have counted a try that is not among them. */
void ph_packet_lost(uint16_t id, struct ph_lost *l)
{
	const struct ph_packet *p = devices[id];

	*l = (struct ph_lost){0};
	if (p == NULL)
		return;
	l->asking = __atomic_load_n(&p->asking, __ATOMIC_SEQ_CST); /* before the others: what ends in between is in them */
	l->refusals = __atomic_load_n(&p->refusals, __ATOMIC_RELAXED);
	l->frames = __atomic_load_n(&p->lost, __ATOMIC_RELAXED);
	l->from = __atomic_load_n(&p->hopeless, __ATOMIC_RELAXED);
	if (l->from == UINT32_MAX)
		l->from = 0;
}

uint64_t ph_packet_refused(uint16_t id)
{
	return devices[id] == NULL ? 0 : devices[id]->refused;
}

struct ph_packet *ph_packet_of(uint16_t id)
{
	return devices[id];
}

int ph_packet_begin(void)
{
	opening = calloc(1, sizeof(*opening));
	if (opening == NULL)
		return -ENOMEM;
	opening->fd = -1;
	opening->hopeless = UINT32_MAX;
	return 0;
}

void ph_packet_opened(int id)
{
	struct ph_packet *p = opening;

	opening = NULL;
	if (id < 0)
		free(p);
	else
		devices[id] = p;
}

void ph_packet_closed(uint16_t id)
{
	free(devices[id]);
	devices[id] = NULL;
}

/* Its socket; -1: it has none. */
int ph_packet_socket(uint16_t id)
{
	return devices[id] == NULL ? -1 : devices[id]->fd;
}

/* Index of the interface that the device hears and sends by; 0: it has none, or it has gone. */
int ph_packet_bound(uint16_t id)
{
	struct sockaddr_ll at;
	socklen_t length = sizeof(at);

	if (getsockname(ph_packet_socket(id), (struct sockaddr *)&at, &length) < 0 || at.sll_ifindex < 0)
		return 0;
	return at.sll_protocol == htons(NOTHING) ? 0 : at.sll_ifindex;
}

/* Has the device hear and send by no interface. */
int ph_packet_unbind(uint16_t id)
{
	struct sockaddr_ll none = { .sll_family = AF_PACKET, .sll_protocol = htons(NOTHING) };

	return bind(ph_packet_socket(id), (struct sockaddr *)&none, sizeof(none)) < 0 ? -errno : 0;
}

/* Has the device hear and send by the interface of an index. Frames come from now on.
 * One whose interface has gone may be bound to another. */
int ph_packet_bind(uint16_t id, int index)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index };
	struct packet_mreq all = { .mr_ifindex = index, .mr_type = PACKET_MR_PROMISC };
	int fd = ph_packet_socket(id);

	/* Until the socket is closed; the driver would leave a flag behind. It may take
	 * the kernel a while, so it comes before frames do. */
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) < 0)
		return -errno;
	return bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? -errno : 0;
}

void ph_never_wait(void)
{
	worker = 1;
}

/* A socket without a protocol hears nothing. */
int ph_socket(int domain, int type, int protocol) __asm__("socket");

int ph_socket(int domain, int type, int protocol)
{
	NEXT(socket);

	if (opening != NULL && domain == AF_PACKET)
		return next(domain, type | SOCK_CLOEXEC, 0);
	return next(domain, type, protocol);
}

/* It is bound when somebody polls: ph_packet_bind. */
int ph_bind(int fd, const struct sockaddr *to, socklen_t length) __asm__("bind");

int ph_bind(int fd, const struct sockaddr *to, socklen_t length)
{
	NEXT(bind);

	return opening != NULL && to->sa_family == AF_PACKET ? 0 : next(fd, to, length);
}

/* A device has one queue: it shares its frames with nobody. Both rings are alike. */
int ph_setsockopt(int fd, int level, int name, const void *value, socklen_t length) __asm__("setsockopt");

int ph_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	NEXT(setsockopt);

	if (opening != NULL && level == SOL_PACKET && name == PACKET_FANOUT)
		return 0;
	if (opening != NULL && level == SOL_PACKET && name == PACKET_TX_RING) {
		memcpy(&opening->rings, value, sizeof(opening->rings));
		opening->fd = fd;
	}
	return next(fd, level, name, value, length);
}

/* Where the rings are. DPDK's own memory has another file, or none. */
void *ph_mmap(void *at, size_t length, int may, int flags, int fd, off_t from) __asm__("mmap64");

void *ph_mmap(void *at, size_t length, int may, int flags, int fd, off_t from)
{
	void *map = (void *)syscall(SYS_mmap, at, length, may, flags, fd, from);

	if (opening != NULL && fd == opening->fd && map != MAP_FAILED)
		opening->map = map;
	return map;
}

/* By it the driver asks the kernel to send what is in the ring; it counts what the
 * kernel does not send then, and forgets it. */
ssize_t ph_sendto(int fd, const void *b, size_t n, int flags, const struct sockaddr *to, socklen_t length) __asm__("sendto");

ssize_t ph_sendto(int fd, const void *b, size_t n, int flags, const struct sockaddr *to, socklen_t length)
{
	NEXT(sendto);
	ssize_t r = next(fd, b, n, flags, to, length);
	if (worker && r < 0)
		why = errno;
	return r;
}

/* A worker whose ring for sending is full goes on, and tries again in the next round. */
int ph_poll(struct pollfd *fds, nfds_t n, int timeout) __asm__("poll");

int ph_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	NEXT(poll);

	return next(fds, n, worker && timeout < 0 ? 0 : timeout);
}
