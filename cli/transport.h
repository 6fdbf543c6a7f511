// SPDX-License-Identifier: Apache-2.0
/*
 * transport.h — messages between the processes that `mpirun` has started, as a CalTransport.
 *
 * A process that nobody started as one of several is rank 0 of 1, without MPI. One that waits for another gives up when
 * that stays silent for too long, or shortly after a signal has asked it to end: when a rank dies, mpirun sends SIGTERM to
 * the others, and a second later SIGKILL.
 */
#ifndef CALDER_CLI_TRANSPORT_H
#define CALDER_CLI_TRANSPORT_H

#include "cli.h"

/** lost_after: silence of another rank that is taken for its end [s]. Returns an exit code; call it once. */
int transport_open(CalTransport *transport, double lost_after);
/** From now on gathers wait without limit: this rank has nothing to do but to wait for others. */
void transport_be_patient(const CalTransport *transport);
/** After a loss: returns when the others that are left have called it too, or after some seconds. */
void transport_meet_survivors(const CalTransport *transport);
/** Ends all ranks in order; with `lost` at once, with this code. */
void transport_close(CalTransport *transport, bool lost, int code);

#endif
