// SPDX-License-Identifier: Apache-2.0
/*
 * clock.h — the wall clock of runs that are paced.
 */
#ifndef CALDER_CLI_CLOCK_H
#define CALDER_CLI_CLOCK_H

/** Seconds since some instant; never goes back. */
double clock_now(void);
/** Sleeps until clock_now() is `when`, or until a signal asks for an end (interrupt.h). */
void clock_sleep_until(double when);
/** Sleeps for a moment, whatever happens. */
void clock_pause(double seconds);

#endif
