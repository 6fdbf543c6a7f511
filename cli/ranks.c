// SPDX-License-Identifier: Apache-2.0
/*
 * ranks.c — see ranks.h.
 *
 * When a rank is lost, nobody knows who is left. So everyone who is writes the checkpoint, each under a name of its own,
 * and moves it to its place: they are all the same, and whoever comes last wins. Then they wait for each other, because the
 * first to end ends them all.
 */
#define _POSIX_C_SOURCE 200809L // dup, fileno

#include "ranks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "transport.h"

enum { RANKS_WIDTH = 6 }; // most numbers of a rank at a meeting

/* ---- meeting ------------------------------------------------------------------------------------------------ */

/* Each rank gives x[width]; room then holds those of all. False: a rank is lost. */
static bool gather_numbers(RunRanks *ranks, const double *x, int width) {
	const CalTransport *t = &ranks->transport;
	for (int r = 0; r <= t->size; r++)
		ranks->starts[r] = r * width;
	memcpy(ranks->room + ranks->starts[t->rank], x, (size_t)width * sizeof(double));
	ranks->lost = ranks->lost || t->gather(t->user, ranks->starts, ranks->room) != 0;
	return !ranks->lost;
}

int ranks_meet(RunRanks *ranks, int code, int *signal) {
	if (!ranks)
		return code;
	const double own[] = {code, *signal};
	if (!gather_numbers(ranks, own, 2))
		return EXIT_LOST;
	for (int r = ranks->transport.size - 1; r >= 0; r--) {
		code = ranks->room[2 * r] != 0 ? (int)ranks->room[2 * r] : code;
		*signal = ranks->room[2 * r + 1] != 0 ? (int)ranks->room[2 * r + 1] : *signal;
	}
	return code;
}

int ranks_agree(RunRanks *ranks, int code) {
	int signal = 0;
	return ranks_meet(ranks, code, &signal);
}

/* ---- messages ----------------------------------------------------------------------------------------------- */

static void hold_messages(RunRanks *ranks) {
	fflush(stderr);
	ranks->messages = tmpfile();
	ranks->held = ranks->messages ? dup(STDERR_FILENO) : -1;
	if (ranks->held >= 0)
		dup2(fileno(ranks->messages), STDERR_FILENO);
}

static void release_messages(RunRanks *ranks, bool aloud) {
	if (ranks->held < 0)
		return;
	fflush(stderr);
	dup2(ranks->held, STDERR_FILENO);
	close(ranks->held);
	ranks->held = -1;
	rewind(ranks->messages);
	char text[512];
	while (aloud && fgets(text, sizeof text, ranks->messages))
		fputs(text, stderr);
	fclose(ranks->messages);
	ranks->messages = NULL;
}

int ranks_agree_aloud(RunRanks *ranks, int code, bool last) {
	const int own = code;
	code = ranks_agree(ranks, code);
	if (ranks && (last || code != EXIT_OK))
		release_messages(ranks, own != EXIT_OK && (ranks->lost || ranks->room[0] == 0));
	return code;
}

bool ranks_is_first(const RunRanks *ranks) { return !ranks || ranks->transport.rank == 0; }

/* ---- beginning and end -------------------------------------------------------------------------------------- */

int ranks_open(RunRanks *ranks) {
	if (!ranks)
		return EXIT_OK;
	ranks->held = -1;
	int code = transport_open(&ranks->transport, ranks->lost_after);
	ranks->opened = code == EXIT_OK;
	if (code != EXIT_OK)
		return code;
	const size_t size = (size_t)ranks->transport.size;
	ranks->room = calloc(size * RANKS_WIDTH, sizeof *ranks->room);
	ranks->starts = calloc(size + 1, sizeof *ranks->starts);
	if (!ranks->room || !ranks->starts) {
		ranks->lost = ranks->loss_reported = true; // to the others, at once
		return say_status("calder run", CAL_ERR_MEMORY, NULL);
	}
	interrupt_listen();
	if (ranks->transport.rank > 0)
		hold_messages(ranks);
	return EXIT_OK;
}

int ranks_close(RunRanks *ranks, int code) {
	if (!ranks)
		return code;
	release_messages(ranks, true);
	if (ranks->lost && !ranks->loss_reported && ranks->transport.rank <= 1)
		say_error("calder run", cal_status_text(CAL_ERR_LOST));
	fflush(NULL);
	if (ranks->opened)
		transport_close(&ranks->transport, ranks->lost, code);
	free(ranks->room);
	free(ranks->starts);
	return code;
}

uint64_t ranks_hash(uint64_t hash, const void *bytes, size_t size) {
	const unsigned char *b = bytes;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
	return hash;
}

uint64_t ranks_hash_text(uint64_t hash, const char *text) {
	return ranks_hash(hash, text ? text : "\1", text ? strlen(text) + 1 : 1);
}

int ranks_distribute(RunRanks *ranks, CalSim *sim, uint64_t fingerprint, const char *path) {
	if (!ranks)
		return EXIT_OK;
	CalError error = {0};
	CalDistributionInfo info = {0};
	const CalDistribution how = {.transport = &ranks->transport,
	                             .branches = ranks->branches,
	                             .forced = ranks->forced,
	                             .cross_loops = ranks->cross_loops,
	                             .inputs_of_time = 1, // loads of files are
	                             .fingerprint = fingerprint};
	const CalStatus status = cal_sim_distribute(sim, &how, &error);
	ranks->lost |= status == CAL_ERR_LOST;
	ranks->loss_reported |= ranks->lost;
	if (status != CAL_OK)
		return ranks_is_first(ranks) ? say_status(path, status, &error) : exit_code_of(status);
	cal_sim_distribution(sim, &info);
	if (info.own == 0 || info.interfaces == 0)
		transport_be_patient(&ranks->transport);
	if (ranks_is_first(ranks) && info.busy < info.size) {
		snprintf(error.text, sizeof error.text,
		         "%d of %d ranks have nothing to do: the model is partitioned into %d %s%s", info.size - info.busy,
		         info.size, info.branches, info.branches == 1 ? "branch" : "branches",
		         ranks->forced ? "" : ", as more would not be faster");
		say_warning(path, error.text);
	}
	return EXIT_OK;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static bool is_same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

/* The first file and stdout are of rank 0, the second file of rank 1, and so on. */
int ranks_share_files(const RunRanks *ranks, Record *record, const CalSim *sim) {
	int files = 0, code = EXIT_OK;
	for (int i = 0; ranks && i < record->stream_count && code == EXIT_OK; i++) {
		RecordStream *stream = &record->streams[i];
		int before = 0;
		if (ranks->parts && ranks->transport.size > 1 && stream->path && cal_results_is_hdf5(stream->path)) {
			code = record_divide(record, i, sim, ranks->transport.rank, ranks->transport.size);
			continue;
		}
		while (before < i && !is_same(record->streams[before].path, stream->path))
			before++;
		const bool known = before < i;
		if (known)
			stream->elsewhere = record->streams[before].elsewhere;
		else if (stream->path && strcmp(stream->path, "-") != 0)
			stream->elsewhere = files++ % ranks->transport.size != ranks->transport.rank;
		else
			stream->elsewhere = ranks->transport.rank != 0;
	}
	return code;
}

int ranks_count_streams(RunRanks *ranks, const Record *record, CalResultsCount *counts) {
	for (int i = 0; i < record->stream_count; i++) {
		const RecordStream *stream = &record->streams[i];
		counts[i] = stream->index >= 0 ? cal_results_count(record->results, stream->index) : (CalResultsCount){0};
		if (!ranks)
			continue;
		const bool counted = !stream->parts || stream->parts->own == 0; // all parts have as many records
		const double own[] = {counted ? (double)counts[i].written : 0, counted ? (double)counts[i].dropped : 0};
		if (!gather_numbers(ranks, own, 2))
			return EXIT_LOST;
		counts[i] = (CalResultsCount){0};
		for (int r = 0; r < ranks->transport.size; r++) {
			counts[i].written += (int64_t)ranks->room[2 * r];
			counts[i].dropped += (int64_t)ranks->room[2 * r + 1];
		}
	}
	return EXIT_OK;
}

int ranks_sum_up(RunRanks *ranks, CalSim *sim, CalDistributionInfo *sum) {
	if (!ranks || cal_sim_distribution(sim, sum) != CAL_OK)
		return EXIT_OK;
	const double own[] = {(double)sum->messages, (double)sum->numbers, (double)sum->gathered};
	if (!gather_numbers(ranks, own, 3))
		return EXIT_LOST;
	sum->messages = sum->numbers = sum->gathered = 0;
	for (int r = 0; r < ranks->transport.size; r++) {
		sum->messages += (int64_t)ranks->room[3 * r];
		sum->numbers += (int64_t)ranks->room[3 * r + 1];
		sum->gathered += (int64_t)ranks->room[3 * r + 2];
	}
	return EXIT_OK;
}

/* ---- failures ----------------------------------------------------------------------------------------------- */

static bool save_by_all(const RunRanks *ranks, CalSim *sim, const char *path) {
	char own[4096];
	CalError error = {0};
	const int length = snprintf(own, sizeof own, "%s.rank%d", path, ranks->transport.rank);
	if (length < 0 || (size_t)length >= sizeof own)
		return false;
	return cal_checkpoint_save(sim, own, &error) == CAL_OK && rename(own, path) == 0;
}

int ranks_failed(RunRanks *ranks, CalSim *sim, const char *path, const char *checkpoint, CalStatus status,
                 const CalError *error) {
	const bool speaks = !ranks || ranks->transport.rank == 0 || (status == CAL_ERR_LOST && ranks->transport.rank == 1);
	const int code = speaks ? say_status(path, status, error) : exit_code_of(status);
	if (!ranks || status != CAL_ERR_LOST)
		return code;
	ranks->lost = ranks->loss_reported = true;
	checkpoint = checkpoint ? checkpoint : "calder-lost.ckpt";
	const bool saved = save_by_all(ranks, sim, checkpoint);
	if (speaks && saved)
		fprintf(stderr, "calder run: rank %d: resume from t = %.9g s with --restart %s\n", ranks->transport.rank,
		        cal_sim_time(sim), checkpoint);
	else if (speaks)
		say_warning(checkpoint, "the checkpoint cannot be written; one of before, if there is one, is as it was");
	transport_meet_survivors(&ranks->transport);
	return code;
}
