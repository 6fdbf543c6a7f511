// SPDX-License-Identifier: Apache-2.0
/*
 * transport.c — see transport.h.
 *
 * Messages are sent from slots of a ring, which are free again when MPI has done with them: no send waits for its receiver
 * unless all slots are under way. What is received goes through a buffer that stays, so that a message that arrives after
 * its receiver has given up does no harm.
 */
#define _POSIX_C_SOURCE 200809L // sched_yield

#include "transport.h"

#include <stdlib.h>
#include <string.h>

#ifdef CALDER_WITH_MPI

#include <mpi.h>
#include <sched.h>

#include "clock.h"
#include "interrupt.h"

enum { SLOTS = 256, SPINS = 200 };
static const double grace = 0.25;        // [s] to wait on when a signal has asked for the end
static const double survivors_wait = 10; // [s] at most, for the word of others that they have saved
enum { SAVED_TAG = 30000 };              // apart from those of messages between branches

/* Room for a message; it grows to the largest that was in it. */
typedef struct Room {
	double *x;
	int count;
} Room;

typedef struct Slot {
	MPI_Request request;
	Room room;
} Slot;

typedef struct Mpi {
	int rank, size;
	double lost_after;
	bool patient;
	Room inbox;
	int next;
	int *counts, *displacements; // [size]
	Slot slots[SLOTS];
} Mpi;

static bool fit_room(Room *room, int count) {
	if (count <= room->count)
		return true;
	double *x = realloc(room->x, (size_t)count * sizeof *x);
	if (!x)
		return false;
	*room = (Room){x, count};
	return true;
}

/* Until a request is done; false: it will not be. */
static bool wait_for(const Mpi *mpi, MPI_Request *request, bool for_ever) {
	const double start = clock_now();
	double since_signal = -1;
	for (int spin = 0, done = 0;; spin++) {
		if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return false;
		if (done)
			return true;
		if (spin < SPINS)
			continue;
		sched_yield();
		const double now = clock_now();
		if (since_signal < 0 && interrupt_caught())
			since_signal = now;
		if ((since_signal >= 0 && now - since_signal > grace) || (!for_ever && now - start > mpi->lost_after))
			return false;
	}
}

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): wait_for() waits for requests

static int mpi_send(void *user, int to, int tag, const double *x, int count) {
	Mpi *mpi = user;
	Slot *slot = &mpi->slots[mpi->next];
	mpi->next = (mpi->next + 1) % SLOTS;
	if (!wait_for(mpi, &slot->request, false) || !fit_room(&slot->room, count))
		return 1 + to;
	memcpy(slot->room.x, x, (size_t)count * sizeof(double));
	return MPI_Isend(slot->room.x, count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &slot->request) == MPI_SUCCESS ? 0
	                                                                                                          : 1 + to;
}

static int mpi_receive(void *user, int from, int tag, double *x, int count) {
	Mpi *mpi = user;
	MPI_Request request;
	if (!fit_room(&mpi->inbox, count) ||
	    MPI_Irecv(mpi->inbox.x, count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
	    !wait_for(mpi, &request, false))
		return 1 + from;
	memcpy(x, mpi->inbox.x, (size_t)count * sizeof(double));
	return 0;
}

static int mpi_gather(void *user, const int *starts, double *x) {
	Mpi *mpi = user;
	MPI_Request request;
	for (int r = 0; r < mpi->size; r++) {
		mpi->displacements[r] = starts[r];
		mpi->counts[r] = starts[r + 1] - starts[r];
	}
	if (MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, x, mpi->counts, mpi->displacements, MPI_DOUBLE, MPI_COMM_WORLD,
	                    &request) != MPI_SUCCESS)
		return -1;
	return wait_for(mpi, &request, mpi->patient) ? 0 : -1;
}

static int open_mpi(CalTransport *transport, double lost_after) {
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
		say_error("calder run", "MPI cannot be started; was the program started by the mpirun of its own MPI?");
		return EXIT_INPUT;
	}
	Mpi *mpi = calloc(1, sizeof *mpi);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (mpi) {
		MPI_Comm_rank(MPI_COMM_WORLD, &mpi->rank);
		MPI_Comm_size(MPI_COMM_WORLD, &mpi->size);
		mpi->counts = calloc(2 * (size_t)mpi->size, sizeof *mpi->counts);
	}
	if (!mpi || !mpi->counts) {
		say_status("calder run", CAL_ERR_MEMORY, NULL);
		MPI_Abort(MPI_COMM_WORLD, EXIT_INPUT);
	} else {
		mpi->displacements = mpi->counts + mpi->size;
		mpi->lost_after = lost_after;
		for (int i = 0; i < SLOTS; i++)
			mpi->slots[i].request = MPI_REQUEST_NULL;
		*transport = (CalTransport){.rank = mpi->rank,
		                            .size = mpi->size,
		                            .user = mpi,
		                            .send = mpi_send,
		                            .receive = mpi_receive,
		                            .gather = mpi_gather};
	}
	return EXIT_OK;
}

/* Says that this rank has saved, and waits for the same of all others but one: that one is gone. */
static void meet_survivors(const Mpi *mpi) {
	static const char word = 1;
	const double start = clock_now();
	for (int r = 0; r < mpi->size; r++) {
		MPI_Request request;
		if (r != mpi->rank && MPI_Isend(&word, 1, MPI_CHAR, r, SAVED_TAG, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
			MPI_Request_free(&request);
	}
	for (int heard = 0; heard < mpi->size - 2 && clock_now() - start < survivors_wait;) {
		MPI_Status status;
		int there = 0;
		char got;
		if (MPI_Iprobe(MPI_ANY_SOURCE, SAVED_TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
			return;
		if (there)
			heard += MPI_Recv(&got, 1, MPI_CHAR, status.MPI_SOURCE, SAVED_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS;
		else
			clock_pause(1e-3);
	}
}

static void close_mpi(Mpi *mpi, bool lost, int code) {
	if (lost)
		MPI_Abort(MPI_COMM_WORLD, code);
	for (int i = 0; i < SLOTS; i++)
		MPI_Wait(&mpi->slots[i].request, MPI_STATUS_IGNORE);
	MPI_Finalize();
	for (int i = 0; i < SLOTS; i++)
		free(mpi->slots[i].room.x);
	free(mpi->inbox.x);
	free(mpi->counts);
	free(mpi);
}

// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

void transport_be_patient(const CalTransport *transport) {
	Mpi *mpi = transport->user;
	if (mpi)
		mpi->patient = true;
}

void transport_meet_survivors(const CalTransport *transport) {
	if (transport->user)
		meet_survivors(transport->user);
}

#else

void transport_be_patient(const CalTransport *transport) { (void)transport; }
void transport_meet_survivors(const CalTransport *transport) { (void)transport; }

#endif

/* ---- alone ------------------------------------------------------------------------------------------------ */

static int send_nowhere(void *user, int to, int tag, const double *x, int count) {
	(void)user, (void)tag, (void)x, (void)count;
	return 1 + to;
}

static int receive_nothing(void *user, int from, int tag, double *x, int count) {
	(void)user, (void)tag, (void)x, (void)count;
	return 1 + from;
}

static int gather_own(void *user, const int *starts, double *x) {
	(void)user, (void)starts, (void)x;
	return 0;
}

/* Variables that mpirun, mpiexec and srun set for the processes that they start. */
static bool is_launched(void) {
	static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
	bool launched = false;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		launched |= getenv(variables[i]) != NULL;
	return launched;
}

int transport_open(CalTransport *transport, double lost_after) {
	*transport = (CalTransport){.size = 1, .send = send_nowhere, .receive = receive_nothing, .gather = gather_own};
	if (!is_launched())
		return EXIT_OK;
#ifdef CALDER_WITH_MPI
	return open_mpi(transport, lost_after);
#else
	(void)lost_after;
	say_error("calder run",
	          "this build has no MPI; install it (Debian: libopenmpi-dev) and build again, or run without "
	          "mpirun");
	return EXIT_INPUT;
#endif
}

void transport_close(CalTransport *transport, bool lost, int code) {
#ifdef CALDER_WITH_MPI
	if (transport->user)
		close_mpi(transport->user, lost, code);
#endif
	(void)lost, (void)code;
	*transport = (CalTransport){0};
}
