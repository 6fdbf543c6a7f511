// SPDX-License-Identifier: Apache-2.0
/*
 * clock.h — the wall clock of runs that are paced.
 */
#ifndef CALDER_CLI_CLOCK_H
#define CALDER_CLI_CLOCK_H

/** Seconds since some instant; never goes back. */
double clock_now(void);
/** Sleeps until clock_now() is `when`. */
void clock_sleep_until(double when);

#endif
