//go:build dpdk

/* memif's driver (DPDK 22.11) handles its control channel on DPDK's interrupt
 * thread, whatever the workers do: when a peer goes away, its memory is unmapped
 * while a worker copies frames from it; a device that is being closed is
 * disconnected a second time; and if a peer has gone before it was greeted, its
 * closed socket stays registered. Each of them ends the process.
 *
 * So the driver's callbacks take turns with polls, and with what opens and closes
 * memifs. A worker that does not get its turn leaves its memifs alone for the
 * round: it never waits. To get hold of the callbacks, the functions by which the
 * driver registers them are defined here once more: the dynamic linker finds
 * those of the program before those of DPDK's libraries. */
#define _GNU_SOURCE
#define ALLOW_EXPERIMENTAL_API /* rte_intr_fd_get, which became stable later */
#include "ph.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_interrupts.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* of whoever is no worker */
static int wanted;				         /* somebody has it, or waits for the workers to be done */
static int polling;					 /* workers within a round */
static __thread int within;				 /* this thread has the turn */

/* What memif wants to be called. */
struct callback {
	rte_intr_callback_fn call;
	rte_intr_unregister_callback_fn gone; /* to be called when it is not registered any more */
	void *arg;
	const struct rte_intr_handle *handle; /* the driver's */
	int over; /* it was to be unregistered while it waited for its turn */
	unsigned long number; /* of registration, from 1 */
	struct callback *next;
};

static struct callback *callbacks;
static unsigned long registered; /* how many there ever were */
static int opened; /* memifs there are */
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

static struct callback *find(rte_intr_callback_fn call, void *arg)
{
	struct callback *c;

	pthread_mutex_lock(&list);
	for (c = callbacks; c != NULL; c = c->next)
		if (c->call == call && c->arg == arg)
			break;
	pthread_mutex_unlock(&list);
	return c;
}

static void forget(struct callback *c)
{
	struct callback **at;

	pthread_mutex_lock(&list);
	for (at = &callbacks; *at != c; at = &(*at)->next)
		;
	*at = c->next;
	pthread_mutex_unlock(&list);
	free(c);
}

static void in_turn(void *arg)
{
	struct callback *c = arg;
	struct pollfd on = { .events = POLLIN };

	ph_memif_begin();
	on.fd = c->over ? -1 : rte_intr_fd_get(c->handle);
	/* The event may be that of a socket which had the number before: the driver would wait. */
	if (poll(&on, 1, 0) > 0)
		c->call(c->arg);
	ph_memif_end();
}

static void unregistered(struct rte_intr_handle *handle, void *arg)
{
	rte_intr_unregister_callback_fn gone = ((struct callback *)arg)->gone;
	void *its = ((struct callback *)arg)->arg;

	forget(arg);
	if (gone != NULL)
		gone(handle, its);
}

int rte_intr_callback_register(const struct rte_intr_handle *handle, rte_intr_callback_fn call, void *arg)
{
	NEXT(rte_intr_callback_register);
	struct callback *c;
	int r;

	if (!within)
		return next(handle, call, arg);
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	c->call = call;
	c->arg = arg;
	c->handle = handle;
	pthread_mutex_lock(&list);
	c->number = ++registered;
	c->next = callbacks;
	callbacks = c;
	pthread_mutex_unlock(&list);
	r = next(handle, in_turn, c);
	if (r < 0)
		forget(c);
	return r;
}

static int unregister(const struct rte_intr_handle *handle, struct callback *c, rte_intr_callback_fn call, void *arg)
{
	NEXT(rte_intr_callback_unregister);
	int r;

	if (c == NULL)
		return next(handle, call, arg);
	r = next(handle, in_turn, c);
	if (r > 0)
		forget(c);
	return r;
}

static int unregister_pending(const struct rte_intr_handle *handle, struct callback *c, rte_intr_callback_fn call, void *arg,
			      rte_intr_unregister_callback_fn gone)
{
	NEXT(rte_intr_callback_unregister_pending);
	int r;

	if (c == NULL)
		return next(handle, call, arg, gone);
	c->gone = gone;
	c->over = 1;
	r = next(handle, in_turn, c, unregistered);
	if (r != -EAGAIN)
		return r;
	/* It is not active, as it was when the other way was tried: it has just ended. */
	r = unregister(handle, c, call, arg);
	if (r > 0 && gone != NULL)
		gone((struct rte_intr_handle *)(uintptr_t)handle, arg);
	return r;
}

int rte_intr_callback_unregister(const struct rte_intr_handle *handle, rte_intr_callback_fn call, void *arg)
{
	return unregister(handle, find(call, arg), call, arg);
}

int rte_intr_callback_unregister_pending(const struct rte_intr_handle *handle, rte_intr_callback_fn call, void *arg,
					 rte_intr_unregister_callback_fn gone)
{
	return unregister_pending(handle, find(call, arg), call, arg, gone);
}

/* The first callback of a handle, or of any; none of those that are to go. */
static struct callback *first(const struct rte_intr_handle *handle)
{
	struct callback *c;

	pthread_mutex_lock(&list);
	for (c = callbacks; c != NULL && (c->over || (handle != NULL && c->handle != handle)); c = c->next)
		;
	pthread_mutex_unlock(&list);
	return c;
}

/* Who frees a handle has no use for its callback any more. */
void rte_intr_instance_free(struct rte_intr_handle *handle)
{
	NEXT(rte_intr_instance_free);
	struct callback *c = within && handle != NULL ? first(handle) : NULL;

	if (c != NULL && unregister(handle, c, c->call, c->arg) == -EAGAIN)
		unregister_pending(handle, c, c->call, c->arg, NULL);
	next(handle);
}

/* A server that hangs has who connects wait once its queue is full, and all memifs with
 * it: they have no turn. The driver is told at once that it cannot connect; it is made to
 * try again. */
int ph_connect(int fd, const struct sockaddr *to, socklen_t length) __asm__("connect");

int ph_connect(int fd, const struct sockaddr *to, socklen_t length)
{
	NEXT(connect);
	int flags, r, why;

	if (!within)
		return next(fd, to, length);
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	r = next(fd, to, length);
	why = errno;
	fcntl(fd, F_SETFL, flags);
	errno = why;
	return r;
}

static void hang_up(struct rte_intr_handle *handle, void *arg)
{
	(void)arg;
	close(rte_intr_fd_get(handle));
}

/* When the last memif is closed, what is still registered belongs to nobody: peers
 * that have not said what they want, and the listener of a client in this process. */
void ph_memif_opened(int n)
{
	struct callback *c;

	opened += n;
	while (opened == 0 && (c = first(NULL)) != NULL) {
		struct rte_intr_handle *handle = (struct rte_intr_handle *)(uintptr_t)c->handle;

		if (unregister(handle, c, c->call, c->arg) == -EAGAIN)
			unregister_pending(handle, c, c->call, c->arg, hang_up);
		else
			hang_up(handle, NULL);
	}
}

/* A client connects when it starts. If there is no server then it does not start, and if
 * the server goes away it stays alone: it has to be started anew. */
static unsigned long connection[RTE_MAX_ETHPORTS]; /* number of the callback of its socket */
static uint8_t away[RTE_MAX_ETHPORTS]; /* it did not start */

int ph_memif_start(uint16_t id)
{
	unsigned long before;
	int r;

	ph_memif_begin();
	before = registered; /* who has not got the turn registers nothing that is counted */
	r = rte_eth_dev_start(id);
	connection[id] = registered > before ? registered : 0;
	away[id] = r < 0;
	ph_memif_end();
	return r;
}

int ph_memif_away(uint16_t id)
{
	return away[id];
}

enum ph_memif ph_memif_state(uint16_t id)
{
	enum ph_memif state = PH_MEMIF_ALONE;
	struct callback *c;
	uint32_t mbps;
	int up;

	ph_memif_begin();
	ph_link(id, &up, &mbps);
	if (up)
		state = PH_MEMIF_UP;
	pthread_mutex_lock(&list);
	for (c = callbacks; c != NULL && !up; c = c->next)
		if (c->number == connection[id] && !c->over)
			state = PH_MEMIF_GREETING;
	pthread_mutex_unlock(&list);
	ph_memif_end();
	return state;
}

int ph_memif_again(uint16_t id)
{
	ph_memif_begin();
	rte_eth_dev_stop(id);
	away[id] = 1; /* until it starts, polls would meet a port that is not ready */
	ph_memif_end();
	return ph_memif_start(id);
}

void ph_memif_begin(void)
{
	pthread_mutex_lock(&turn);
	within = 1;
	__atomic_store_n(&wanted, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&polling, __ATOMIC_SEQ_CST) > 0)
		sched_yield(); /* the worker may have to share this core */
}

void ph_memif_end(void)
{
	__atomic_store_n(&wanted, 0, __ATOMIC_SEQ_CST);
	within = 0;
	pthread_mutex_unlock(&turn);
}

int ph_memif_try(void)
{
	if (__atomic_load_n(&wanted, __ATOMIC_RELAXED))
		return 0;
	__atomic_add_fetch(&polling, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&wanted, __ATOMIC_SEQ_CST))
		return 1;
	ph_memif_done();
	return 0;
}

void ph_memif_done(void)
{
	__atomic_sub_fetch(&polling, 1, __ATOMIC_SEQ_CST);
}
