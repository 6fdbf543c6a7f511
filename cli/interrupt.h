// SPDX-License-Identifier: Apache-2.0
/*
 * interrupt.h — signals that ask a command to end: SIGINT (Ctrl-C) and SIGTERM. The first one is noted, and the command ends
 * in order with exit code 128 + its number; the second one kills.
 */
#ifndef CALDER_CLI_INTERRUPT_H
#define CALDER_CLI_INTERRUPT_H

/** From now on signals are noted. */
void interrupt_listen(void);
/** The signal that asks for an end, 0: none. */
int interrupt_caught(void);
/** Nonzero once a signal has been noted, for CalSimOptions.stop. */
const volatile int *interrupt_flag(void);

#endif
