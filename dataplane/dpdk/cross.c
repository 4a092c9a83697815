//go:build dpdk

/* What a worker calls in C without a word to Go's scheduler (pin.go): each
 * function takes one argument, which has room for the results. */

#define _GNU_SOURCE
#include "ph.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

void ph_cross(void *worker)
{
	struct ph_worker *w = worker;

	w->now = ph_round(w);
}

void ph_swap(void *swap)
{
	struct ph_swap *s = swap;

	s->n = ph_balance(s->worker, s->slots, s->n, s->size);
}

void ph_count_sleeps(void *worker)
{
	struct ph_worker *w = worker;
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u) == 0)
		w->sleeps = u.ru_nvcsw;
}

void ph_processor(void *worker)
{
	struct ph_worker *w = worker;
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
		w->busy = (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void ph_nap(void *worker)
{
	struct ph_worker *w = worker;

	ph_sleep(w->nap);
	w->now = rte_rdtsc();
}

void ph_yield(void *worker)
{
	(void)worker;
	sched_yield();
}

/* Go's runtime interrupts a thread by SIGURG when its goroutine is to make room. A
 * worker's does not: it looks by itself. */
void ph_undisturbed(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGURG);
	pthread_sigmask(SIG_BLOCK, &s, NULL);
}
