// SPDX-License-Identifier: Apache-2.0
/* thread_ranks.c — see thread_ranks.h. One lock for all mailboxes: simple, and TSan sees every handover. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/thread_ranks.h"

enum { TAG_GATHER = -1 };

typedef struct Letter {
	struct Letter *next;
	int from, to, tag, count;
	double x[];
} Letter;

typedef struct Office {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	Letter *first, **end;
	bool *gone; // [size]
	int size;
	RankFn run;
	void *user;
} Office;

typedef struct Desk {
	Office *office;
	int rank;
} Desk;

static int post(void *user, int to, int tag, const double *x, int count) {
	const Desk *desk = user;
	Office *o = desk->office;
	Letter *letter = test_alloc(1, sizeof *letter + (size_t)count * sizeof(double));
	*letter = (Letter){.from = desk->rank, .to = to, .tag = tag, .count = count};
	if (count > 0)
		memcpy(letter->x, x, (size_t)count * sizeof(double));
	pthread_mutex_lock(&o->lock);
	const bool gone = o->gone[to];
	*o->end = letter;
	o->end = &letter->next;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
	return gone ? 1 + to : 0;
}

/* The first that fits, taken out; NULL: none. */
static Letter *find(Office *o, int from, int to, int tag) {
	for (Letter **at = &o->first; *at; at = &(*at)->next) {
		Letter *letter = *at;
		if (letter->from != from || letter->to != to || letter->tag != tag)
			continue;
		*at = letter->next;
		if (o->end == &letter->next)
			o->end = at;
		return letter;
	}
	return NULL;
}

static int fetch(void *user, int from, int tag, double *x, int count) {
	const Desk *desk = user;
	Office *o = desk->office;
	Letter *letter;
	pthread_mutex_lock(&o->lock);
	while (!(letter = find(o, from, desk->rank, tag)) && !o->gone[from])
		pthread_cond_wait(&o->changed, &o->lock);
	pthread_mutex_unlock(&o->lock);
	if (!letter || letter->count != count) {
		free(letter);
		return 1 + from;
	}
	if (count > 0)
		memcpy(x, letter->x, (size_t)count * sizeof(double));
	free(letter);
	return 0;
}

static int collect(void *user, const int *starts, double *x) {
	const Desk *desk = user;
	const int size = desk->office->size, own = desk->rank;
	int lost = 0;
	for (int r = 0; r < size && !lost; r++)
		lost = r == own ? 0 : post(user, r, TAG_GATHER, x + starts[own], starts[own + 1] - starts[own]);
	for (int r = 0; r < size && !lost; r++)
		lost = r == own ? 0 : fetch(user, r, TAG_GATHER, x + starts[r], starts[r + 1] - starts[r]);
	return lost;
}

static void *work(void *context) {
	Desk *desk = context;
	Office *o = desk->office;
	const CalTransport transport = {
		.rank = desk->rank, .size = o->size, .user = desk, .send = post, .receive = fetch, .gather = collect};
	o->run(o->user, &transport);
	pthread_mutex_lock(&o->lock);
	o->gone[desk->rank] = true;
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

void thread_ranks_run(int size, RankFn run, void *user) {
	Office o = {.size = size, .run = run, .user = user, .gone = test_alloc((size_t)size, sizeof(bool))};
	Desk *desks = test_alloc((size_t)size, sizeof *desks);
	pthread_t *threads = test_alloc((size_t)size, sizeof *threads);
	o.end = &o.first;
	assert_int_equal(pthread_mutex_init(&o.lock, NULL), 0);
	assert_int_equal(pthread_cond_init(&o.changed, NULL), 0);
	for (int r = 0; r < size; r++) {
		desks[r] = (Desk){&o, r};
		assert_int_equal(pthread_create(&threads[r], NULL, work, &desks[r]), 0);
	}
	for (int r = 0; r < size; r++)
		pthread_join(threads[r], NULL);
	for (Letter *letter = o.first, *next; letter; letter = next) {
		next = letter->next;
		free(letter);
	}
	pthread_cond_destroy(&o.changed);
	pthread_mutex_destroy(&o.lock);
	free(threads);
	free(desks);
	free(o.gone);
}
