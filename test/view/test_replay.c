// SPDX-License-Identifier: Apache-2.0
/*
 * test_replay.c — documents of runs for the viewer: what is in them is what was recorded, and nothing in a name gets out
 * of its text.
 */
#define _GNU_SOURCE // open_memstream, mkstemps

#include <math.h>
#include <unistd.h>

#include <calder/replay.h>
#include <calder/results.h>

#include "io/yaml/yaml_tree.h"
#include "support/model_file_support.h"
#include "view/packing.h"

/* ---- reading a document, without the code that wrote it -------------------------------------------------- */

static int digit(char c) {
	const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", *at = strchr(digits, c);
	return at && c ? (int)(at - digits) : -1;
}

static size_t decode(const char *text, uint8_t *out) {
	size_t count = 0;
	for (; *text; text += 4) {
		int bits = 0, given = 0;
		for (int i = 0; i < 4; i++) {
			assert_true(text[i] == '=' || digit(text[i]) >= 0);
			given += text[i] != '=';
			bits = bits << 6 | (text[i] == '=' ? 0 : digit(text[i]));
		}
		for (int i = 0; i + 1 < given; i++)
			out[count++] = (uint8_t)(bits >> (16 - 8 * i));
	}
	return count;
}

static double number(const TreeNode *node) {
	assert_non_null(node);
	assert_int_equal(node->kind, TREE_SCALAR);
	return strtod(node->text, NULL);
}

/* A number of seven bits a byte. */
static uint64_t varying(const uint8_t **at, const uint8_t *end) {
	uint64_t value = 0;
	for (int shift = 0;; shift += 7) {
		assert_true(*at < end && shift < 63);
		value |= (uint64_t)(**at & 127) << shift;
		if (*(*at)++ < 128)
			return value;
	}
}

static double decoded_number(const TreeNode *array, int64_t whole, size_t column) {
	const TreeNode *scale = tree_get(array, "scale");
	if (strcmp(tree_get(array, "type")->text, "i32") == 0)
		return whole == INT32_MIN
		           ? (double)NAN
		           : (double)whole * number(scale->count ? scale->items[column % (size_t)scale->count] : scale);
	const int64_t size = (whole < 0 ? -whole : whole) * (1 << (int)number(tree_get(array, "dropped")));
	const uint32_t bits = (uint32_t)size | (whole < 0 ? UINT32_C(1) << 31 : 0);
	float value;
	memcpy(&value, &bits, sizeof value);
	return (double)value;
}

/* Entry `index` of an array coded by differences; that it fills its shape is checked. */
static double coded_entry(const TreeNode *array, const uint8_t *bytes, size_t length, size_t count, size_t index) {
	const size_t rows = (size_t)number(tree_get(array, "shape")->items[0]), columns = count / rows;
	const uint8_t *at = bytes, *end = bytes + length;
	double found = 0;
	for (size_t column = 0; column < columns; column++) {
		int64_t before[2] = {0, 0}; // the last, and the one before it
		uint64_t zeros = 0;
		for (size_t row = 0; row < rows; row++) {
			const uint64_t code = zeros > 0 ? 0 : varying(&at, end);
			zeros = zeros > 0 ? zeros - 1 : code == 0 ? varying(&at, end) : 0;
			const int64_t left = code % 2 ? -(int64_t)(code / 2) - 1 : (int64_t)(code / 2);
			const int64_t whole = row < 2 ? before[0] + left : 2 * before[0] - before[1] + left;
			before[1] = before[0];
			before[0] = whole;
			if (row * columns + column == index)
				found = decoded_number(array, whole, column);
		}
		assert_true(zeros == 0);
	}
	assert_ptr_equal(at, end);
	return found;
}

/* Entry `index` of an array; its length is checked against its shape. */
static double entry(const TreeNode *array, size_t index) {
	const TreeNode *shape = tree_get(array, "shape"), *data = tree_get(array, "data");
	const char *type = tree_get(array, "type")->text;
	const size_t width = strcmp(type, "f64") == 0 ? 8 : 4;
	size_t count = 1;
	for (int i = 0; i < shape->count; i++)
		count *= (size_t)number(shape->items[i]);
	uint8_t *bytes = malloc(strlen(data->text) + 4);
	assert_non_null(bytes);
	const size_t length = decode(data->text, bytes);
	assert_true(index < count);
	double value = 0;
	if (tree_get(array, "coding")) {
		value = coded_entry(array, bytes, length, count, index);
		free(bytes);
		return value;
	}
	assert_int_equal(length, count * width);
	float narrow;
	uint32_t whole;
	if (width == 8) {
		memcpy(&value, bytes + 8 * index, 8);
	} else if (type[0] == 'f') {
		memcpy(&narrow, bytes + 4 * index, 4);
		value = (double)narrow;
	} else {
		memcpy(&whole, bytes + 4 * index, 4);
		value = whole;
	}
	free(bytes);
	return value;
}

static const TreeNode *named(const TreeNode *list, const char *name) {
	for (int i = 0; i < list->count; i++)
		if (strcmp(tree_get(list->items[i], "name")->text, name) == 0)
			return list->items[i];
	fail_msg("nothing is called %s", name);
	return NULL;
}

/* ---- a run -------------------------------------------------------------------------------------------------- */

static const char model[] =
	"calder: 1\n"
	"title: '</script><b>'\n"
	"gravity: [0, -9.81, 0.5]\n"
	"ground: {nodes: {port: [0, 0, 2]}}\n"
	"bodies:\n"
	"  hub: {mass: 5, box: [1, 2, 3], nodes: {side: {at: [1, 0, 0], orientation: {z: 90 deg}}}}\n"
	"  boom: {beam: {length: 2, section: {shape: circle, diameter: 2 cm, youngs_modulus: 70 GPa, density: 2700}}}\n"
	"  '<i>': {mass: 6, inertia: [5, 5, 4]}\n"
	"joints:\n"
	"  flight: {type: free, to: hub}\n"
	"  root: {type: revolute, from: hub/side, to: boom/root, axis: y}\n"
	"  tip: {type: weld, from: boom/tip, to: '<i>', outboard: [0, 0, -1]}\n";

enum { ROWS = 40 };

static bool earlier_names; // columns as earlier versions wrote them: "pose:hub:x", modes from 0

static void pose_of(int row, int body, double *pose) {
	pose[0] = row;
	pose[1] = 10 * body;
	pose[2] = 0.5;
	pose[3] = cos(0.1 * row);
	pose[4] = sin(0.1 * row);
	pose[5] = pose[6] = 0;
}

/* A result file with made-up numbers in it; poses of the first two bodies only, if `poses`. */
static void record(const char *path, int poses) {
	static const char *const parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
	static const char *const bodies[] = {"hub", "boom"};
	static char names[21][32];
	CalResultsColumn columns[23] = {{"t", "s"}, {"q:root", "rad"}};
	int count = 2;
	for (int b = 0; b < 2 * poses; b++)
		for (int k = 0; k < 7; k++, count++) {
			snprintf(names[count - 2], sizeof names[0], "pose:%s%c%s", bodies[b], earlier_names ? ':' : '.', parts[k]);
			columns[count] = (CalResultsColumn){names[count - 2], k < 3 ? "m" : "1"};
		}
	for (int a = 0; a < 4; a++, count++) {
		snprintf(names[count - 2], sizeof names[0], "q:boom.eta%d", a + !earlier_names);
		columns[count] = (CalResultsColumn){names[count - 2], "1"};
	}
	for (int k = 0; k < 3; k++, count++) {
		snprintf(names[count - 2], sizeof names[0], "reaction:root%cf%c", earlier_names ? ':' : '.', "xyz"[k]);
		columns[count] = (CalResultsColumn){names[count - 2], "N"};
	}
	const CalResultsStream stream = {
		.name = "main", .path = path, .interval = 0.1, .columns = columns, .column_count = count};
	const CalResultsOptions options = {
		.streams = &stream, .stream_count = 1, .title = "</script><b>", .model_name = "m.yaml", .model_text = model};
	CalResults *results = NULL;
	CalError error = {0};
	if (cal_results_create(&options, &results, &error) != CAL_OK)
		fail_msg("%s", error.text);
	for (int row = 0; row < ROWS; row++) {
		double values[23] = {0.1 * row, 2.0 * row};
		for (int b = 0; b < 2 * poses; b++)
			pose_of(row, b, values + 2 + 7 * b);
		for (int a = 0; a < 4; a++)
			values[2 + 14 * poses + a] = 0.01 * row + a;
		for (int k = 0; k < 3; k++)
			values[6 + 14 * poses + k] = row + 10 * k;
		assert_int_equal(cal_results_put(results, 0, values), CAL_OK);
	}
	assert_int_equal(cal_results_finish(results, &error), CAL_OK);
	cal_results_destroy(results);
}

typedef struct Fixture {
	char path[32];
	char *text;
	Tree *tree;
} Fixture;

static const TreeNode *replay(Fixture *f, int poses, const CalReplayOptions *options) {
	CalError error = {0};
	size_t length = 0;
	*f = (Fixture){.path = "replay-XXXXXX.h5"};
	close(mkstemps(f->path, 3));
	record(f->path, poses);
	FILE *out = open_memstream(&f->text, &length);
	const CalStatus status = cal_replay_write(f->path, options, out, &error);
	fclose(out);
	if (status != CAL_OK)
		fail_msg("%s", error.text);
	if (tree_parse(f->text, length, "document", NULL, &f->tree, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return tree_root(f->tree);
}

static void finish(Fixture *f) {
	unlink(f->path);
	tree_destroy(f->tree);
	free(f->text);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static void frames_and_signals_are_those_recorded(void **state) {
	(void)state;
	Fixture f;
	const TreeNode *root = replay(&f, 1, NULL), *frames = tree_get(root, "frames"), *pose = tree_get(frames, "pose");
	assert_string_equal(tree_get(root, "format")->text, "calder-replay");
	const TreeNode *stated = tree_get(frames, "error");
	const double error[] = {number(tree_get(stated, "position")), number(tree_get(stated, "rotation"))};
	assert_true(error[0] > 0 && error[0] < 1e-5 && error[1] < 1e-5);
	for (int row = 0; row < ROWS; row += 13)
		for (int b = 0; b < 2; b++) {
			double wanted[7];
			pose_of(row, b, wanted);
			assert_true(entry(tree_get(frames, "t"), (size_t)row) == 0.1 * row);
			for (int k = 0; k < 7; k++)
				assert_near(entry(pose, (size_t)(21 * row + 7 * b + k)), wanted[k], 1.0001 * error[k >= 3]);
		}
	assert_true(isnan(entry(pose, 14))); // the third body was not recorded
	const TreeNode *eta = tree_get(frames, "eta");
	assert_int_equal(eta->count, 1);
	assert_int_equal(number(tree_get(eta->items[0], "body")), 1);
	assert_near(entry(tree_get(eta->items[0], "values"), 4 * 7 + 2), 2.07,
	            number(tree_get(stated, "relative")) * (3 + 0.01 * ROWS)); // of the largest
	const TreeNode *signals = tree_get(root, "signals"), *q = named(signals, "q:root");
	assert_int_equal(signals->count, 8); // without the poses
	assert_near(entry(tree_get(q, "values"), 11), 22, 0);
	assert_true(entry(tree_get(root, "times")->items[(int)number(tree_get(q, "t"))], 11) == 0.1 * 11);
	assert_string_equal(tree_get(tree_get(q, "about"), "kind")->text, "joint");
	assert_string_equal(tree_get(tree_get(named(signals, "q:boom.eta2"), "about"), "name")->text, "boom");
	finish(&f);
}

static void files_of_earlier_versions_are_viewed(void **state) {
	Fixture f;
	earlier_names = true;
	frames_and_signals_are_those_recorded(state);
	const TreeNode *root = replay(&f, 1, NULL), *force = named(tree_get(root, "signals"), "reaction:root:fy");
	assert_string_equal(tree_get(tree_get(force, "about"), "name")->text, "root");
	assert_non_null(named(tree_get(root, "arrows"), "reaction:root:fx"));
	finish(&f);
	earlier_names = false;
}

static void the_scene_is_that_of_the_model(void **state) {
	(void)state;
	Fixture f;
	const TreeNode *root = replay(&f, 1, NULL), *bodies = tree_get(root, "bodies");
	const TreeNode *hub = named(bodies, "hub"), *boom = named(bodies, "boom"), *last = named(bodies, "<i>");
	assert_string_equal(tree_get(tree_get(hub, "shapes")->items[0], "kind")->text, "box");
	assert_near(number(tree_get(tree_get(hub, "shapes")->items[0], "dimensions")->items[2]), 3, 0);
	assert_string_equal(tree_get(root, "up")->text, "y"); // against gravity
	assert_near(number(tree_get(hub, "mass")), 5, 0);
	assert_near(number(tree_get(hub, "inertia")->items[0]), 5.0 / 12 * (4 + 9), 1e-8);
	assert_near(number(tree_get(boom, "mass")), 2 * 2700 * 3.14159265 * 1e-4, 1e-6); // its nodes carry it
	assert_null(tree_get(boom, "inertia"));
	assert_int_equal(number(tree_get(boom, "parent")), 0);
	assert_int_equal(number(tree_get(last, "parent")), 1);
	// a body given by its inertia is drawn as the box that has it: 12/6 (half trace - Ixx) = 2 (7 - 5)
	const TreeNode *size = tree_get(tree_get(last, "shapes")->items[0], "dimensions");
	assert_near(number(size->items[0]), 2, 1e-8);
	assert_near(number(size->items[2]), sqrt(6), 1e-8);
	const TreeNode *root_joint = named(tree_get(root, "joints"), "root"), *from = tree_get(root_joint, "from");
	assert_near(number(tree_get(from, "at")->items[0]), 1, 0);
	assert_near(number(tree_get(from, "orientation")->items[3]), sqrt(0.5), 1e-9);
	const TreeNode *tip = named(tree_get(root, "joints"), "tip"), *node = tree_get(tree_get(tip, "from"), "node");
	assert_string_equal(tree_get(tree_get(boom, "nodes")->items[(int)number(node)], "name")->text, "tip");
	assert_near(number(tree_get(tree_get(tip, "to"), "at")->items[2]), 1, 0); // the inverse of its outboard placement
	finish(&f);
}

/* The joint "root" is at the origin of the boom. */
static void forces_stand_where_they_act(void **state) {
	(void)state;
	Fixture f;
	const TreeNode *arrows = tree_get(replay(&f, 1, NULL), "arrows"), *arrow = named(arrows, "reaction:root.fx");
	assert_int_equal(arrows->count, 1);
	assert_string_equal(tree_get(arrow, "kind")->text, "reaction");
	for (int row = 0; row < ROWS; row += 13)
		for (int k = 0; k < 3; k++) {
			double pose[7];
			pose_of(row, 1, pose);
			assert_near(entry(tree_get(arrow, "at"), (size_t)(3 * row + k)), pose[k], 1e-6);
			assert_near(entry(tree_get(arrow, "vector"), (size_t)(3 * row + k)), row + 10 * k, 1e-6);
		}
	finish(&f);
}

/* The first bending frequency of a clamped round bar: 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)). */
static void modes_have_their_frequencies_and_shapes(void **state) {
	(void)state;
	Fixture f;
	const TreeNode *root = replay(&f, 1, NULL),
				   *flexible = tree_get(named(tree_get(root, "bodies"), "boom"), "flexible");
	const TreeNode *points = tree_get(flexible, "points"), *shapes = tree_get(flexible, "shapes");
	const double first = 1.875104 * 1.875104 / (2 * 3.14159265 * 4) * sqrt(70e9 / 2700) * 0.02 / 4;
	assert_near(number(tree_get(flexible, "frequencies")->items[0]), first, 2e-3 * first);
	const int count = (int)number(tree_get(points, "shape")->items[0]);
	assert_int_equal(number(tree_get(tree_get(flexible, "lines"), "shape")->items[0]), count - 1); // a chain
	assert_null(tree_get(flexible, "triangles"));
	double longest = 0, far = 0;
	for (int i = 0; i < count; i++) { // it moves across the axis, most at the tip, not at the root
		const double x = entry(points, (size_t)(3 * i));
		const double move = hypot(entry(shapes, (size_t)(3 * i + 1)), entry(shapes, (size_t)(3 * i + 2)));
		assert_true(x > 0 || move == 0);
		far = move > longest ? x : far;
		longest = fmax(longest, move);
	}
	assert_near(far, 2, 1e-6);
	finish(&f);
}

static void long_runs_are_thinned_out(void **state) {
	(void)state;
	Fixture f;
	const TreeNode *root = replay(&f, 1, &(CalReplayOptions){.max_frames = 10}),
				   *t = tree_get(tree_get(root, "frames"), "t");
	const int count = (int)number(tree_get(t, "shape")->items[0]);
	assert_in_range(count, 8, 11);
	assert_true(entry(t, 0) == 0);
	assert_near(entry(t, 1), 0.4, 1e-12);
	assert_true(entry(t, (size_t)count - 1) == 0.1 * (ROWS - 1));
	finish(&f);
}

static void names_stay_inside_their_texts(void **state) {
	(void)state;
	Fixture f;
	const TreeNode *root = replay(&f, 1, NULL);
	assert_string_equal(tree_get(root, "title")->text, "</script><b>");
	assert_null(strchr(f.text, '<'));
	finish(&f);
}

static void the_page_keeps_what_surrounds_the_document(void **state) {
	(void)state;
	static const char page[] = "<p>@CALDER_REPLAY_JSON@</p>";
	char path[] = "replay-XXXXXX.h5", *text = NULL;
	size_t length = 0;
	CalError error = {0};
	close(mkstemps(path, 3));
	record(path, 1);
	FILE *out = open_memstream(&text, &length);
	CalReplayOptions options = {.page = page, .page_length = sizeof page - 1, .title = "other", .ghost = path};
	assert_int_equal(cal_replay_write(path, &options, out, &error), CAL_OK);
	fflush(out);
	assert_memory_equal(text, "<p>{", 4);
	assert_memory_equal(text + length - 5, "}</p>", 5);
	assert_non_null(strstr(text, "\"title\":\"other\""));
	assert_non_null(strstr(text, "\"ghost\":{"));
	options.page_length = 10;
	assert_int_equal(cal_replay_write(path, &options, out, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "no place for the document"));
	fclose(out);
	free(text);
	unlink(path);
}

static void what_cannot_be_shown_is_reported(void **state) {
	(void)state;
	char path[] = "replay-XXXXXX.h5";
	CalError error = {0};
	FILE *out = fopen("/dev/null", "wb");
	close(mkstemps(path, 3));
	record(path, 0);
	assert_int_equal(cal_replay_write(path, NULL, out, &error), CAL_ERR_INPUT);
	assert_non_null(strstr(error.text, "holds no poses"));
	assert_int_equal(cal_replay_write("not-there.h5", NULL, out, &error), CAL_ERR_IO);
	assert_non_null(strstr(error.text, "not-there.h5"));
	FILE *broken = fopen(path, "wb");
	fputs("no HDF5", broken);
	fclose(broken);
	assert_int_equal(cal_replay_write(path, NULL, out, &error), CAL_ERR_IO);
	assert_int_equal(cal_replay_write(NULL, NULL, out, &error), CAL_ERR_ARGUMENT);
	fclose(out);
	unlink(path);
}

/* Values at the ends of what steps and floats hold, and gaps, against what each is to become. */
static void packed_numbers_are_within_their_error(void **state) {
	(void)state;
	static const double values[] = {
		0,      1,   -1,  3.14159265,        1e-12, -1e-30, (double)NAN, (double)INFINITY, 3.4e38, -3.4028e38,
		1e-310, 7e6, 7e6, (double)-INFINITY, 5,     5};
	enum { COUNT = (int)(sizeof values / sizeof values[0]) };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	JsonWriter d = {.out = out};
	json_writer_open(&d, '[');
	Packing floats = packing_floats(&d, 1, (size_t[]){COUNT});
	for (int i = 0; i < COUNT; i++)
		packing_put_float(&floats, values[i]);
	packing_end(&floats);
	Packing steps = packing_steps(&d, 2, (size_t[]){COUNT / 2, 2}, (double[]){0.01, 2e-5});
	for (int i = 0; i < COUNT; i++)
		packing_put_step(&steps, values[i], i < COUNT / 2 ? 0.01 : 2e-5);
	packing_end(&steps);
	json_writer_close(&d);
	fclose(out);
	Tree *tree;
	assert_int_equal(tree_parse(text, length, "document", NULL, &tree, NULL), CAL_OK);
	for (int i = 0; i < COUNT; i++) {
		const double got = entry(tree_root(tree)->items[0], (size_t)i);
		const size_t at = (size_t)(2 * (i % (COUNT / 2)) + i / (COUNT / 2)); // of the second: by columns
		const double step = i < COUNT / 2 ? 0.01 : 2e-5, stepped = entry(tree_root(tree)->items[1], at);
		if (isfinite(values[i]))
			assert_near(got, values[i], 0x1p-20 * fabs(values[i]) + 1e-40);
		else
			assert_true(!isfinite(got));
		if (fabs(values[i]) < 2e9 * step)
			assert_near(stepped, values[i], 0.5001 * step);
		else
			assert_true(isnan(stepped));
	}
	assert_true(packing_step(0) == 1 && packing_step(0.0003) == 0.0002 && fabs(packing_step(7.3e-9) - 5e-9) < 1e-24);
	tree_destroy(tree);
	free(text);
}

/* RFC 4648, section 10; and what is no UTF-8. */
static void documents_are_encoded_as_they_should(void **state) {
	(void)state;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	JsonWriter d = {.out = out};
	json_writer_open(&d, '[');
	json_writer_array(&d, "u32", 1, (size_t[]){1});
	json_writer_u32(&d, 0x626f6f66); // "foob"
	json_writer_array_end(&d);
	json_writer_text(&d, "a\"\\\n\xff\xc3\xa4\xed\xa0\x80<");
	json_writer_number(&d, 0.1);
	json_writer_number(&d, (double)INFINITY);
	json_writer_close(&d);
	fclose(out);
	assert_string_equal(text, "[{\"type\":\"u32\",\"shape\":[1],\"data\":\"Zm9vYg==\"},"
	                          "\"a\\\"\\\\\\u000a\\ufffd\xc3\xa4\\ufffd\\ufffd\\ufffd\\u003c\",0.1,null]");
	free(text);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_and_signals_are_those_recorded),
		cmocka_unit_test(files_of_earlier_versions_are_viewed),
		cmocka_unit_test(the_scene_is_that_of_the_model),
		cmocka_unit_test(modes_have_their_frequencies_and_shapes),
		cmocka_unit_test(forces_stand_where_they_act),
		cmocka_unit_test(long_runs_are_thinned_out),
		cmocka_unit_test(names_stay_inside_their_texts),
		cmocka_unit_test(the_page_keeps_what_surrounds_the_document),
		cmocka_unit_test(what_cannot_be_shown_is_reported),
		cmocka_unit_test(packed_numbers_are_within_their_error),
		cmocka_unit_test(documents_are_encoded_as_they_should),
	};
#ifdef CALDER_WITH_HDF5
	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	(void)tests;
	return print_message("built without HDF5: skipped\n"), 0;
#endif
}
