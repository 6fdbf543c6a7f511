// SPDX-License-Identifier: Apache-2.0
/*
 * tables.c — fuzz targets: tables that say how a model moves or what acts on it.
 *
 * trajectory: any bytes as the motion of `calder inverse`, a table up to a byte 0x1e, then a formula of --drive.
 * table: any bytes as the CSV file that a load of a model names; the first byte says which column of it.
 */
#include "../../cli/trajectory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* Some steps; whatever goes wrong has a message. Releases the setup. */
static void simulate(CalSetup *setup) {
	Loaded loaded = {0};
	CalError error;
	memset(&error, 0x5a, sizeof error);
	CalStatus status = loaded_build(&loaded, setup, NULL, &error);
	if (status == CAL_OK)
		status = cal_sim_restart(loaded.sim, &error);
	for (int i = 0; i < 4 && status == CAL_OK; i++)
		status = cal_sim_step(loaded.sim, 1e3, &error);
	if (status != CAL_OK)
		fuzz_expect_error(&error);
	loaded_destroy(&loaded);
}

/* ---- motions -------------------------------------------------------------------------------------------- */

static int read_motion(Trajectory *t, CalSetup *setup, FuzzPart table, FuzzPart rest, char **formula) {
	const CalDesc *desc = cal_setup_desc(setup);
	FuzzPart part;
	int code = trajectory_read(t, desc, fuzz_write("motion.csv", table.data, table.size), NULL, NULL, 0);
	if (code == EXIT_OK && fuzz_next_part(&rest, &part)) {
		*formula = fuzz_text(part);
		code = trajectory_add_formula(t, desc, "inverse", *formula);
	}
	return code == EXIT_OK ? trajectory_drive(t, setup, "motion.csv") : code;
}

static void run_trajectory(const uint8_t *data, size_t size) {
	const FuzzModel model = fuzz_model(FUZZ_FOUR_BAR);
	FuzzPart rest = {data, size}, table;
	CalSetup *setup = NULL;
	CalError error;
	Trajectory t = {0};
	char *formula = NULL;
	if (!fuzz_next_part(&rest, &table))
		return;
	fuzz_expect(cal_model_file_parse(model.text, model.length, model.name, NULL, &setup, &error) == CAL_OK,
	            "an example is read");
	if (read_motion(&t, setup, table, rest, &formula) == EXIT_OK)
		simulate(setup);
	else
		cal_setup_destroy(setup);
	trajectory_free(&t);
	free(formula);
}

/* ---- loads ------------------------------------------------------------------------------------------------ */

static void run_table(const uint8_t *data, size_t size) {
	static const char *const columns[] = {"", ", column: 3", ", column: force", ", column: \"q:crank\""};
	static const char *const shapes[] = {"linear", "spline", "step"};
	char text[400];
	CalSetup *setup = NULL;
	CalError error;
	if (size < 1)
		return;
	memset(&error, 0x5a, sizeof error);
	fuzz_write("load.csv", data + 1, size - 1);
	const int length = snprintf(text, sizeof text,
	                            "calder: 1\nbodies: {a: {mass: 1}}\njoints: {j: {type: prismatic, axis: x, to: a}}\n"
	                            "loads: [{joint: j, effort: {csv: load.csv%s, shape: %s}}]\n",
	                            columns[data[0] % 4], shapes[data[0] / 4 % 3]);
	if (cal_model_file_parse(text, (size_t)length, fuzz_path("table.yaml"), NULL, &setup, &error) == CAL_OK)
		simulate(setup);
	else
		fuzz_expect_error(&error);
}

const FuzzTarget fuzz_trajectory = {"trajectory", NULL, run_trajectory};
const FuzzTarget fuzz_table = {"table", NULL, run_table};
