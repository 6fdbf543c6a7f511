// SPDX-License-Identifier: Apache-2.0
/*
 * test_fe_read.c — CalculiX matrices and NASTRAN DMIG: what is read, and what is said about files that are wrong.
 *
 * rod.* is a job of CalculiX 2.20 (examples/fe/make_decks.py --rod), beam.pch and beam.bdf are written by
 * test/data/fe/make_dmig.py.
 */
#include "support/fe_support.h"

static void calculix_gives_mass_and_frames(void **state) {
	(void)state;
	CalFeModel *fe = fe_of(FIXTURE("rod.inp"));
	const CalFeInfo info = cal_fe_info(fe);
	CalFeFrame frame;
	assert_string_equal(info.format, "CalculiX");
	assert_int_equal(info.dof_count, 60);
	assert_int_equal(info.frame_count, 2);
	const double m = 0.2 * 0.02 * 0.02 * 2700; // a bar
	assert_near(info.mass, m, 1e-12);
	assert_near(info.com.x, 0.1, 1e-12);
	assert_near(info.inertia.m[0][0], m * (2 * 0.02 * 0.02) / 12, 1e-14);
	assert_near(info.inertia.m[1][1], m * (0.2 * 0.2 + 0.02 * 0.02) / 12, 1e-14);
	assert_true(info.rigid_residual < 1e-12);
	assert_true(info.mass_spread < 1e-12);
	assert_int_equal(cal_fe_frame(fe, 1, &frame), CAL_OK);
	assert_string_equal(frame.name, "tip");
	assert_near(frame.position.x, 0.2, 0);
	assert_int_equal(cal_fe_frame(fe, 2, &frame), CAL_ERR_ARGUMENT);
	cal_fe_destroy(fe);
}

static void any_file_of_the_job_names_it(void **state) {
	(void)state;
	const char *const names[] = {FIXTURE("rod.dof"), FIXTURE("rod.sti"), FIXTURE("rod.mas"), FIXTURE("rod")};
	for (int i = 0; i < 4; i++) {
		CalFeModel *fe = fe_of(names[i]);
		assert_int_equal(cal_fe_info(fe).dof_count, 60);
		cal_fe_destroy(fe);
	}
}

static void included_names_may_be_quoted(void **state) {
	(void)state;
	static const char *const files[] = {"rod_mesh.inp", "rod.dof", "rod.sti", "rod.mas"};
	for (int k = 0; k < 4; k++) {
		char fixture[512];
		snprintf(fixture, sizeof fixture, "%s/%s", FIXTURE(""), files[k]);
		changed_copy(fixture, files[k], NULL, NULL);
	}
	CalFeModel *fe = fe_of(changed_copy(FIXTURE("rod.inp"), "rod.inp", "rod_mesh.inp", "\"rod_mesh.inp\""));
	assert_int_equal(cal_fe_info(fe).frame_count, 2);
	cal_fe_destroy(fe);
}

static void all_files_that_were_read_are_named(void **state) {
	(void)state;
	static const char *const expected[] = {FIXTURE("rod.inp"), FIXTURE("rod_mesh.inp"), FIXTURE("rod.dof"),
	                                       FIXTURE("rod.sti"), FIXTURE("rod.mas")};
	CalFeModel *fe = fe_of(FIXTURE("rod.inp"));
	assert_int_equal(cal_fe_source_count(fe), 5);
	for (int i = 0; i < 5; i++)
		assert_string_equal(cal_fe_source(fe, i), expected[i]);
	assert_null(cal_fe_source(fe, 5));
	assert_null(cal_fe_source(fe, -1));
	cal_fe_destroy(fe);
}

static void write_includes(const char *path, const char *name, int count) {
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	for (int i = 0; i < count; i++)
		fprintf(out, "INCLUDE '%s'\n", name);
	fclose(out);
}

/* Each of eight files includes the next one 100 times: 1e16 openings, if nobody counted them. */
static void includes_that_multiply_end(void **state) {
	(void)state;
	char path[512], name[32];
	CalFeModel *fe = NULL;
	CalError error = {0};
	for (int k = 8; k >= 0; k--) {
		snprintf(path, sizeof path, "%s/many%d.bdf", temp_dir(), k);
		snprintf(name, sizeof name, "many%d.bdf", k + 1);
		write_includes(path, name, k < 8 ? 100 : 0);
	}
	assert_int_equal(cal_fe_read(path, NULL, NULL, &fe, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "more than 1000 files are included"));
}

static void units_are_scaled(void **state) {
	(void)state;
	const CalFeUnits units = {.length = 1e-3, .mass = 1e3};
	CalFeModel *fe = NULL, *si = fe_of(FIXTURE("rod.inp"));
	CalError error = {0};
	assert_int_equal(cal_fe_read(FIXTURE("rod.inp"), &units, NULL, &fe, &error), CAL_OK);
	const CalFeInfo a = cal_fe_info(si), b = cal_fe_info(fe);
	assert_near(b.mass, 1e3 * a.mass, 1e-9);
	assert_near(b.com.x, 1e-3 * a.com.x, 1e-15);
	assert_near(b.inertia.m[1][1], 1e-3 * a.inertia.m[1][1], 1e-15);
	assert_near(b.inertia.m[0][0], 1e-3 * a.inertia.m[0][0], 1e-17);
	cal_fe_destroy(fe);
	cal_fe_destroy(si);
}

static void dmig_is_read_in_all_forms(void **state) {
	(void)state;
	CalFeModel *fe = fe_of(FIXTURE("beam.pch"));
	CalFeInfo info = cal_fe_info(fe);
	assert_string_equal(info.format, "DMIG");
	assert_int_equal(info.dof_count, 30);
	assert_int_equal(info.frame_count, 5);
	assert_near(info.mass, 1.08, 1e-8);
	assert_near(info.com.x, 0.5, 1e-8);
	assert_near(info.inertia.m[0][0], 1.2e-4, 1e-12);
	assert_near(info.inertia.m[1][1], 1.08 / 12, 1e-8);
	assert_true(info.rigid_residual < 1e-9);
	cal_fe_destroy(fe);
	fe = fe_of(FIXTURE("beam.bdf"));
	info = cal_fe_info(fe);
	assert_int_equal(info.dof_count, 30);
	assert_near(info.mass, 1.08, 1e-7);
	assert_near(info.inertia.m[2][2], 1.08 / 12, 1e-7);
	assert_true(info.rigid_residual < 1e-9);
	cal_fe_destroy(fe);
}

static void matrices_are_found_by_name(void **state) {
	(void)state;
	CalFeModel *fe = NULL;
	CalError error = {0};
	assert_int_equal(cal_fe_read_dmig(FIXTURE("beam.bdf"), "K2", "M2", NULL, NULL, &fe, &error), CAL_OK);
	cal_fe_destroy(fe);
	assert_int_equal(cal_fe_read_dmig(FIXTURE("beam.bdf"), "KX", "M2", NULL, NULL, &fe, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "none of them the stiffness matrix (KX)"));
	assert_null(fe);
}

static void square_matrices_must_be_symmetric(void **state) {
	(void)state;
	static const char *const text =
		"GRID,1,,0.,0.,0.\nDMIG,K,0,1,2,0\nDMIG,K,1,1,,1,1,2.\n,1,2,-1.\nDMIG,K,1,2,,1,1,%s\n"
		",1,2,2.\nDMIG,M,0,6,2,0\nDMIG,M,1,1,,1,1,1.\nDMIG,M,1,2,,1,2,1.\n";
	char made[512];
	CalFeModel *fe = NULL;
	CalError error = {0};
	snprintf(made, sizeof made, text, "-1.");
	assert_int_equal(cal_fe_read(write_text("square.dmig", made), NULL, NULL, &fe, &error), CAL_OK);
	cal_fe_destroy(fe);
	snprintf(made, sizeof made, text, "-.5");
	assert_int_equal(cal_fe_read(write_text("square.dmig", made), NULL, NULL, &fe, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "matrix K is not symmetric"));
}

/* ---- files that are wrong ---------------------------------------------------------------------- */

typedef struct Wrong {
	const char *file, *from, *to; // the change
	CalStatus status;
	const char *place, *what; // in the message
} Wrong;

static void expect_error(const char *path, const Wrong *w) {
	CalFeModel *fe = NULL;
	CalError error = {0};
	const CalStatus status = cal_fe_read(path, NULL, NULL, &fe, &error);
	if (status != w->status || !strstr(error.text, w->place) || !strstr(error.text, w->what))
		fail_msg("\"%s\" to \"%s\" in %s: status %d, %s", w->from ? w->from : "", w->to ? w->to : "", w->file, status,
		         error.text);
	assert_null(fe);
	assert_int_equal(error.status, status);
}

static void calculix_errors_have_places(void **state) {
	(void)state;
	static const Wrong list[] = {
		{"rod.dof", "2.1\n", "2.7\n", CAL_ERR_INPUT, "rod.dof:1:", "expected node.direction"},
		{"rod.dof", "3.1\n", "2.1\n", CAL_ERR_INPUT, "rod.dof:", "twice"},
		{"rod.dof", "3.1\n", "777.1\n", CAL_ERR_INPUT, "rod.dof:", "node 777 has an equation but no coordinates"},
		{"rod.dof", "36.3\n", "", CAL_ERR_INPUT, "rod.sti:", "but "},
		{"rod.sti", "\n1 2 ", "\n1 99 ", CAL_ERR_INPUT, "rod.sti:2:", "entry (1, 99)"},
		{"rod.sti", "1 1 ", "1 1 x", CAL_ERR_INPUT, "rod.sti:1:", "expected row, column"},
		{"rod.sti", "1 1 ", "1 1 1e999 ", CAL_ERR_INPUT, "rod.sti:1:", "finite value"},
		{"rod.sti", "1 1  ", "1 1 -", CAL_ERR_INPUT, "rod.inp", "stiffness matrix is singular: equation 1"},
		{"rod.mas", "1 1  ", "1 1 -", CAL_ERR_INPUT, "rod.inp", "is negative"},
		{"rod_mesh.inp", "*NODE, NSET=ALL\n1, 0", "*NODE, NSET=ALL\n1, zero", CAL_ERR_INPUT,
	     "rod_mesh.inp:3:", "coordinate 1 of node 1"},
		{"rod_mesh.inp", ", ROT NODE=34", "", CAL_ERR_INPUT, "rod_mesh.inp:", "needs REF NODE and ROT NODE"},
		{"rod_mesh.inp", "REF NODE=33", "REF NODE=99", CAL_ERR_INPUT, "rod.dof:", "node 99"},
		{"rod_mesh.inp", "*NODE, NSET=ALL\n", "*NODE\n2, 9, 9, 9\n", CAL_ERR_INPUT, "rod.inp", "node 2 is given twice"},
		{"rod.inp", "rod_mesh.inp", "none.inp", CAL_ERR_IO, "none.inp", "could not be opened"},
		{"rod.inp", "INPUT=rod_mesh.inp", "", CAL_ERR_INPUT, "rod.inp:2:", "needs INPUT=file"},
		{"rod.inp", "rod_mesh.inp", "rod.inp", CAL_ERR_INPUT, "rod.inp:2:", "too deep"},
	};
	static const char *const files[] = {"rod.inp", "rod_mesh.inp", "rod.dof", "rod.sti", "rod.mas"};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		for (int k = 0; k < 5; k++) {
			char fixture[512];
			const int this = strcmp(files[k], list[i].file) == 0;
			snprintf(fixture, sizeof fixture, "%s/%s", FIXTURE(""), files[k]);
			changed_copy(fixture, files[k], this ? list[i].from : NULL, this ? list[i].to : NULL);
		}
		expect_error(temp_path("rod.inp"), &list[i]);
	}
}

static void interfaces_must_be_free(void **state) {
	(void)state;
	// Node 35 has lost an equation, as if *BOUNDARY held it.
	static const char *const files[] = {"rod.inp", "rod_mesh.inp", "rod.sti", "rod.mas"};
	const Wrong w = {"rod.dof", "35.3\n", "", CAL_ERR_INPUT, "rod.inp", "interface \"tip\": of nodes 35"};
	char fixture[512];
	for (int k = 0; k < 2; k++) {
		snprintf(fixture, sizeof fixture, "%s/%s", FIXTURE(""), files[k]);
		changed_copy(fixture, files[k], NULL, NULL);
	}
	changed_copy(FIXTURE("rod.dof"), "rod.dof", "35.3\n", "");
	char matrix[16384] = "";
	for (int i = 1; i < 60; i++)
		sprintf(matrix + strlen(matrix), "%d %d 1.\n", i, i);
	write_text("rod.sti", matrix);
	write_text("rod.mas", matrix);
	expect_error(temp_path("rod.inp"), &w);
}

static void dmig_errors_have_places(void **state) {
	(void)state;
	static const Wrong list[] = {
		{"beam.pch", "GRID*                 50", "GRID*                 51", CAL_ERR_INPUT,
	     "beam.pch:", "no GRID card"},
		{"beam.pch", "GRID*                 50                ", "GRID*                 50               7",
	     CAL_ERR_INPUT, "beam.pch:10:", "basic coordinate system"},
		{"beam.pch", "GRID*                 50                      1.0",
	     "GRID*                 50                      x.0", CAL_ERR_INPUT, "beam.pch:10:", "coordinate is no number"},
		{"beam.pch", "KAAX           0       6       2", "KAAX           0       6       3", CAL_ERR_INPUT,
	     "beam.pch:12:", "complex"},
		{"beam.pch", "KAAX           0       6", "KAAX           0       9", CAL_ERR_INPUT, "beam.pch:12:", "form 6"},
		{"beam.pch", "DMIG    KAAX           0", "DMIG    KXXX           0", CAL_ERR_INPUT,
	     "beam.pch:13:", "before the header"},
		{"beam.pch", "1.120000000D+08", "1.12000zz00D+08", CAL_ERR_INPUT, "beam.pch:13:", "finite value for each row"},
		{"beam.pch", "DMIG    MAAX", "$MIG    MAAX", CAL_ERR_INPUT, "beam.pch", "before the header"},
		{"beam.pch", "$ a free beam", "INCLUDE 'none.bdf'\n$", CAL_ERR_IO, "none.bdf", "could not be opened"},
		{"beam.pch", "$ a free beam", "INCLUDE 'beam.pch'\n$", CAL_ERR_INPUT, "beam.pch:1:", "too deep"},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		expect_error(changed_copy(FIXTURE("beam.pch"), "beam.pch", list[i].from, list[i].to), &list[i]);
}

static void binary_and_missing_files_are_refused(void **state) {
	(void)state;
	CalFeModel *fe = NULL;
	CalError error = {0};
	assert_int_equal(cal_fe_read(temp_path("missing.inp"), NULL, NULL, &fe, &error), CAL_ERR_IO);
	assert_int_equal(cal_fe_read(NULL, NULL, NULL, &fe, &error), CAL_ERR_ARGUMENT);
	const char *path = temp_path("binary.pch");
	FILE *out = fopen(path, "wb");
	assert_non_null(out);
	fwrite("\0\1\2", 1, 3, out);
	fclose(out);
	assert_int_equal(cal_fe_read(path, NULL, NULL, &fe, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "is the file binary?"));
	assert_int_equal(cal_fe_read(write_text("empty.pch", "$\n"), NULL, NULL, &fe, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "0 matrices"));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calculix_gives_mass_and_frames),
		cmocka_unit_test(any_file_of_the_job_names_it),
		cmocka_unit_test(included_names_may_be_quoted),
		cmocka_unit_test(all_files_that_were_read_are_named),
		cmocka_unit_test(includes_that_multiply_end),
		cmocka_unit_test(units_are_scaled),
		cmocka_unit_test(dmig_is_read_in_all_forms),
		cmocka_unit_test(matrices_are_found_by_name),
		cmocka_unit_test(square_matrices_must_be_symmetric),
		cmocka_unit_test(calculix_errors_have_places),
		cmocka_unit_test(interfaces_must_be_free),
		cmocka_unit_test(dmig_errors_have_places),
		cmocka_unit_test(binary_and_missing_files_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
