// SPDX-License-Identifier: Apache-2.0
/*
 * share.c — the runs of a table on several threads. Each run stays on one thread, whose CPU time it counts.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "papers.h"

enum { THREADS_MOST = 64 };

typedef struct Share {
	int count;
	int (*work)(void *user, int index);
	void *user;
	atomic_int next, failed;
} Share;

static void *work_on(void *argument) {
	Share *share = argument;
	for (int i; !share->failed && (i = share->next++) < share->count;)
		if (share->work(share->user, i))
			share->failed = 1;
	return NULL;
}

int paper_share(const PaperJob *job, int count, int (*work)(void *user, int index), void *user) {
	Share share = {.count = count, .work = work, .user = user};
	pthread_t threads[THREADS_MOST];
	int begun = 0;
	while (begun < THREADS_MOST && begun < job->jobs - 1 && begun < count - 1 &&
	       pthread_create(&threads[begun], NULL, work_on, &share) == 0)
		begun++;
	work_on(&share);
	while (begun > 0)
		pthread_join(threads[--begun], NULL);
	return share.failed;
}
