// SPDX-License-Identifier: Apache-2.0
/*
 * badges.c — numbers of a replay that should be small: energy balance error, drift of the momentum, residuals of
 * loops, and rotations between frames that the frames do not resolve.
 */
#include <math.h>
#include <string.h>

#include "view/packing.h"
#include "view/replay_run.h"

/* By how much the worst of some columns is off: the largest magnitude, or the change since the start. NAN: not known. */
static double worst_of(const CalResultsTable *table, const double *row, const char *prefix, bool change) {
	double worst = 0;
	for (int c = 1; c < table->column_count; c++) {
		const double off = fabs(row[c] - (change ? table->rows[c] : 0));
		if (strncmp(table->columns[c].name, prefix, strlen(prefix)) == 0)
			worst = isnan(off) || off > worst ? off : worst;
		if (isnan(worst))
			return worst;
	}
	return worst;
}

static double largest_of(const CalResultsTable *table, const char *prefix, bool change) {
	double largest = 0;
	for (size_t i = 0; i < table->row_count && !isnan(largest); i++) {
		const double worst = worst_of(table, table->rows + i * (size_t)table->column_count, prefix, change);
		largest = isnan(worst) || worst > largest ? worst : largest;
	}
	return largest;
}

typedef struct Badge {
	const char *label, *unit, *prefix, *scale, *text; // scale: prefix of the columns that a good value is small against
	bool change;
	double good; // of that scale; 0: of 1
} Badge;

/* Momentum is shown only where it is conserved to single precision: elsewhere it is no measure of quality. */
static void write_badge(JsonWriter *d, const Run *run, const Badge *badge) {
	const CalResultsTable *table = &run->tables[run->frames];
	bool there = false;
	for (int c = 1; c < table->column_count; c++)
		there |= strncmp(table->columns[c].name, badge->prefix, strlen(badge->prefix)) == 0;
	const double scale = badge->scale ? largest_of(table, badge->scale, false) : 1;
	const double largest = there ? largest_of(table, badge->prefix, badge->change) : 0;
	if (!there || !isfinite(largest) || (badge->change && !(largest <= 1e-6 * scale)))
		return;
	const size_t count = run_shown_count(run, table);
	json_writer_open(d, '{');
	json_writer_put_text(d, "label", badge->label);
	json_writer_put_text(d, "unit", badge->unit);
	json_writer_put_text(d, "text", badge->text);
	json_writer_put_number(d, "good", badge->good * scale);
	json_writer_key(d, "values");
	Packing values = packing_floats(d, 1, (size_t[]){count});
	for (size_t i = 0; i < count; i++)
		packing_put_float(&values, worst_of(table, run_shown_row(run, table, i), badge->prefix, badge->change));
	packing_end(&values);
	json_writer_close(d);
}

/* What a viewer gets wrong of the rotations between two shown frames, of one body or (-1) of the worst. */
static double doubt_at(const Run *run, size_t frame, int body) {
	const CalResultsTable *table = &run->tables[run->frames];
	const size_t from = run_shown_index(run, table, frame), to = run_shown_index(run, table, frame + 1);
	double worst = 0;
	for (int b = body < 0 ? 0 : body; b < (body < 0 ? run->body_count : body + 1); b++)
		worst = fmax(worst, turns_doubt(run->bodies[b], table, from, to));
	return worst;
}

/* "hub, panel and 3 more": bodies that turn in a way that the frames do not resolve. Returns how many there are. */
static int doubtful_bodies(const Run *run, char *text, size_t size) {
	enum { MOST_NAMES = 5 };
	const size_t count = run_shown_count(run, &run->tables[run->frames]);
	size_t used = 0;
	int found = 0;
	text[0] = '\0';
	for (int b = 0; b < run->body_count; b++) {
		size_t i = 0;
		while (i + 1 < count && !(doubt_at(run, i, b) > TURNS_LIMIT))
			i++;
		if (i + 1 >= count || found++ >= MOST_NAMES || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%.60s", found > 1 ? ", " : "", run_body_name(run, b));
	}
	if (found > MOST_NAMES && used < size)
		snprintf(text + used, size - used, " and %d more", found - MOST_NAMES);
	return found;
}

/* Only where there is something to doubt. */
static void write_turn_badge(JsonWriter *d, const Run *run) {
	char names[400], text[700];
	const size_t count = run_shown_count(run, &run->tables[run->frames]);
	if (doubtful_bodies(run, names, sizeof names) == 0)
		return;
	snprintf(
		text, sizeof text,
		"between frames these bodies turn in a way that the recorded poses do not determine: %s; what is shown between frames "
		"may be another motion. Record them closer together (calder run --replay SECONDS) or show more (calder view "
		"--frames N)",
		names);
	json_writer_open(d, '{');
	json_writer_put_text(d, "label", "Turns");
	json_writer_put_text(d, "unit", "rad");
	json_writer_put_text(d, "text", text);
	json_writer_put_number(d, "good", TURNS_LIMIT);
	json_writer_key(d, "values");
	Packing values = packing_floats(d, 1, (size_t[]){count});
	double before = 0;
	for (size_t i = 0; i < count; i++) {
		const double after = i + 1 < count ? doubt_at(run, i, -1) : 0;
		packing_put_float(&values, fmax(before, after));
		before = after;
	}
	packing_end(&values);
	json_writer_close(d);
}

void badges_write(JsonWriter *d, const Run *run) {
	static const Badge badges[] = {
		{"Energy", "J", "balance:error", "balance:groups", "what the account of energies misses since the start", false,
	     1e-6},
		{"Momentum", "N s", "total_momentum:p", "total_momentum:p", "change of the linear momentum since the start",
	     true, 1e-9},
		{"Loops", "1", "residual", NULL, "the largest residual of a row [m, rad]", false, 1e-6},
	};
	json_writer_key(d, "badges");
	json_writer_open(d, '[');
	for (size_t i = 0; i < sizeof badges / sizeof badges[0]; i++)
		write_badge(d, run, &badges[i]);
	write_turn_badge(d, run);
	json_writer_close(d);
}
