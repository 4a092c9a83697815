//go:build dpdk

/* What net_af_packet's driver (DPDK 22.11) does by itself loses, changes and mixes up
 * frames: its packet socket hears every interface of the namespace until it is bound,
 * and from then on fills its ring although nobody polls yet; it joins a group of
 * sockets in which the kernel puts IPv4 fragments together, and whose number, made of
 * those of the process and of the interface, another process may have; and a worker
 * waits in it without end when the kernel's ring for sending is full.
 *
 * So the functions of libc by which it does so are defined here once more: the dynamic
 * linker finds those of the program before libc's. They do something else for the
 * thread that is opening such a device, and for workers, and are libc's for all others. */
#define _GNU_SOURCE
#include "ph.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>

/* A device of net_af_packet. */
struct ph_packet {
	int fd;
};

static struct ph_packet *devices[RTE_MAX_ETHPORTS];
static __thread struct ph_packet *opening; /* by this thread */
static __thread int worker;		   /* it polls, and must not wait */

int ph_is_packet(const char *name)
{
	return strncmp(name, "net_af_packet", strlen("net_af_packet")) == 0;
}

int ph_packet_begin(void)
{
	opening = calloc(1, sizeof(*opening));
	if (opening == NULL)
		return -ENOMEM;
	opening->fd = -1;
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

/* libc's function of a name, that is what the program would call without this file. */
#define LIBC(name) \
	static __typeof__(&name) libc; \
	if (libc == NULL) \
		libc = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* A socket without a protocol hears nothing. */
int ph_socket(int domain, int type, int protocol) __asm__("socket");

int ph_socket(int domain, int type, int protocol)
{
	LIBC(socket);

	if (opening != NULL && domain == AF_PACKET)
		return libc(domain, type | SOCK_CLOEXEC, 0);
	return libc(domain, type, protocol);
}

/* It is bound when somebody polls: ph_packet_bind. */
int ph_bind(int fd, const struct sockaddr *to, socklen_t length) __asm__("bind");

int ph_bind(int fd, const struct sockaddr *to, socklen_t length)
{
	static int (*libc)(int, const struct sockaddr *, socklen_t);

	if (libc == NULL)
		libc = dlsym(RTLD_NEXT, "bind");
	if (opening == NULL || to->sa_family != AF_PACKET)
		return libc(fd, to, length);
	opening->fd = fd;
	return 0;
}

/* A device has one queue: it shares its frames with nobody. */
int ph_setsockopt(int fd, int level, int name, const void *value, socklen_t length) __asm__("setsockopt");

int ph_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	LIBC(setsockopt);

	if (opening != NULL && level == SOL_PACKET && name == PACKET_FANOUT)
		return 0;
	return libc(fd, level, name, value, length);
}

/* A worker whose ring for sending is full goes on, and tries again in the next round. */
int ph_poll(struct pollfd *fds, nfds_t n, int timeout) __asm__("poll");

int ph_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	LIBC(poll);

	return libc(fds, n, worker && timeout < 0 ? 0 : timeout);
}
