// SPDX-License-Identifier: Apache-2.0
/*
 * thread_ranks.h — ranks that are threads of one process, with mailboxes for a transport (calder/distribute.h).
 *
 * What a rank does is a function that must not end the test: it keeps what it found for the caller to check. A rank whose
 * function has returned is gone to those who still wait for it.
 */
#ifndef TEST_SUPPORT_THREAD_RANKS_H
#define TEST_SUPPORT_THREAD_RANKS_H

#include <calder/distribute.h>

typedef void (*RankFn)(void *user, const CalTransport *transport);

/** Runs a function on so many ranks at once and returns when all have. */
void thread_ranks_run(int size, RankFn run, void *user);

#endif
