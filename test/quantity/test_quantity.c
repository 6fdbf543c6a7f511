// SPDX-License-Identifier: Apache-2.0
/*
 * test_quantity.c — the catalogue of quantities: one row for each entry, the same value in results and in formulas, names of
 * columns that are names of quantities, names of earlier versions, topology changes, memory.
 */
#include "scenario/scenario_support.h"

#include <calder/expression.h>
#include <calder/quantity.h>

#include "sim/sim_internal.h"
#include "support/failing_allocator.h"

/* Every kind of object, in two groups; names with dots and blanks. */
static const char machine[] =
	"calder: 1\n"
	"gravity: [0, 0, -9.81]\n"
	"groups: {sky: {}}\n"
	"bodies:\n"
	"  arm: {mass: 2, rod: {from: [0, 0, 0], to: [1, 0, 0]}, nodes: {tip: [1, 0, 0]}}\n"
	"  boom: {beam: {length: 2, section: {shape: tube, diameter: 4 cm, thickness: 2 mm, youngs_modulus: 70 GPa, density: 2700},\n"
	"    elements: 2, modes: 3}}\n"
	"  ball: {mass: 1, inertia: [1, 2, 2.5]}\n"
	"  cross: {mass: 1, inertia: [1, 2, 2.5]}\n"
	"  bird 1.5: {group: sky, mass: 3, inertia: [1, 2, 2.5], nodes: {wing.a: [0, 1, 0]}}\n"
	"joints:\n"
	"  hinge: {type: revolute, to: arm, axis: y}\n"
	"  root: {type: revolute, from: arm/tip, to: boom, axis: y}\n"
	"  socket: {type: spherical, from: arm, to: ball}\n"
	"  card: {type: universal, from: ball, to: cross, outboard: {at: [0.3, 0, 0]}}\n"
	"  fly.a: {type: free, to: bird 1.5}\n"
	"loops: {rope: {type: distance, from: boom/tip, to: cross, length: 3}}\n"
	"state:\n"
	"  hinge: {q: 0.1, u: 0.3}\n"
	"  root: {q: -0.2, u: 0.1}\n"
	"  socket: {angular_velocity: [0.1, -0.2, 0.3]}\n"
	"  fly.a: {at: [1, 2, 3], orientation: {z: 30 deg}, velocity: [0.1, 0.2, -0.3], angular_velocity: [0.5, 0.1, -0.2]}\n"
	"loads: [{node: arm/tip, force: [1, 2, 3]}]\n"
	"devices:\n"
	"  spring.b: {type: spring, from: arm/tip, to: bird 1.5/wing.a, stiffness: 3 N/m, length: 1}\n"
	"events: {tick: {every: 0.03 s}}\n"
	"run: {duration: 1, method: rk4, step: 1 ms, assemble: any}\n";

/* One row for each entry: an object, and its columns. */
static const struct {
	const char *word, *object;
	int columns;
} rows[] = {
	{"q", "fly.a", 7},
	{"u", "fly.a", 6},
	{"udot", "socket", 3},
	{"force", "hinge", 1},
	{"energy", "sky", 4},
	{"momentum", "main", 6},
	{"pose", "arm/tip", 7},
	{"velocity", "bird 1.5/wing.a", 6},
	{"body_rate", "bird 1.5", 3},
	{"acceleration", "ball", 6},
	{"node", "boom", 13},
	{"wrench", "arm/tip", 6},
	{"deflection", "boom/tip", 6},
	{"distance", "arm/tip,bird 1.5/wing.a", 1},
	{"range_rate", "bird 1.5,ground", 1},
	{"angle", "bird 1.5,arm", 1},
	{"reaction", "root", 6},
	{"loop", "rope", 6},
	{"residual", "rope", 1},
	{"multiplier", "rope", 1},
	{"device", "spring.b", 2},
	{"event", "tick", 1},
	{"balance", NULL, 5},
	{"total_momentum", NULL, 6},
	{"formulation", NULL, 5},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static Run machine_at(double t) {
	Run r = run_text(machine);
	advance(&r, t);
	return r;
}

static CalSampler *sampler_new(void) {
	CalSampler *sampler = NULL;
	assert_int_equal(cal_sampler_create(NULL, &sampler, NULL), CAL_OK);
	return sampler;
}

static void add(CalSampler *sampler, CalSim *sim, const char *name) {
	CalError error = {0};
	if (cal_sampler_add(sampler, sim, name, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static const char *column_name(const CalSampler *sampler, int column) {
	CalSamplerColumn info;
	assert_int_equal(cal_sampler_column(sampler, column, &info), CAL_OK);
	return info.name;
}

static double *sample(CalSampler *sampler, CalSim *sim) {
	double *row = calloc((size_t)cal_sampler_column_count(sampler), sizeof *row);
	assert_int_equal(cal_sampler_sample(sampler, sim, row), CAL_OK);
	return row;
}

/* The value of a column of that name alone. */
static double value_of(CalSim *sim, const char *name) {
	CalSampler *sampler = sampler_new();
	add(sampler, sim, name);
	assert_int_equal(cal_sampler_column_count(sampler), 2);
	double *row = sample(sampler, sim);
	const double value = row[1];
	free(row);
	cal_sampler_destroy(sampler);
	return value;
}

static const char *refusal_of(CalSim *sim, const char *name) {
	static CalError error;
	CalSampler *sampler = sampler_new();
	error = (CalError){0};
	assert_int_equal(cal_sampler_add(sampler, sim, name, &error), CAL_ERR_INPUT);
	assert_int_equal(cal_sampler_column_count(sampler), 1);
	cal_sampler_destroy(sampler);
	return error.text;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* "q:fly.a.qw" as "q('fly.a.qw')". */
static void formula_of(const char *column, char *text, size_t size) {
	const char *colon = strchr(column, ':'), *comma = strchr(colon, ',');
	if (comma)
		snprintf(text, size, "%.*s('%.*s', '%s')", (int)(colon - column), column, (int)(comma - colon - 1), colon + 1,
		         comma + 1);
	else
		snprintf(text, size, "%.*s('%s')", (int)(colon - column), column, colon + 1);
}

static double formula_value(CalSim *sim, const char *text) {
	CalExpression *made = NULL;
	CalError error = {0};
	CalEvalContext context = context_now(sim, true);
	double value = 0;
	if (cal_expression_create(text, NULL, &made, &error) != CAL_OK ||
	    cal_expression_bind(made, &context, &error) != CAL_OK)
		fail_msg("%s", error.text);
	assert_int_equal(cal_expression_value(made, &context, &value), CAL_OK);
	cal_expression_destroy(made);
	return value;
}

static const char *formula_refusal(CalSim *sim, const char *text) {
	static CalError error;
	CalExpression *made = NULL;
	CalEvalContext context = context_now(sim, true);
	error = (CalError){0};
	if (cal_expression_create(text, NULL, &made, &error) == CAL_OK)
		assert_int_equal(cal_expression_bind(made, &context, &error), CAL_ERR_MODEL);
	cal_expression_destroy(made);
	return error.text;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

static void every_quantity_has_a_row_here(void **state) {
	(void)state;
	assert_int_equal(cal_quantity_count(), ROWS);
	for (int i = 0; i < ROWS; i++) {
		CalQuantityInfo info;
		const int entry = cal_quantity_find(rows[i].word);
		assert_int_equal(cal_quantity(entry, &info), CAL_OK);
		assert_string_equal(info.word, rows[i].word);
		assert_true(strlen(info.doc) > 10 && info.component_count <= rows[i].columns);
	}
	CalQuantityInfo info;
	assert_int_equal(cal_quantity(ROWS, &info), CAL_ERR_ARGUMENT);
	assert_int_equal(cal_quantity_find("moon"), -1);
}

/* The same bits as a column and in a formula; what formulas cannot know is refused there. */
static void results_and_formulas_agree_to_the_bit(void **state) {
	(void)state;
	Run r = machine_at(0.1);
	int compared = 0;
	for (int i = 0; i < ROWS; i++) {
		CalQuantityInfo info;
		char name[100], text[200];
		cal_quantity(cal_quantity_find(rows[i].word), &info);
		snprintf(name, sizeof name, "%s%s%s", rows[i].word, rows[i].object ? ":" : "",
		         rows[i].object ? rows[i].object : "");
		CalSampler *sampler = sampler_new();
		add(sampler, r.sim, name);
		if (cal_sampler_column_count(sampler) != 1 + rows[i].columns)
			fail_msg("%s has %d columns", name, cal_sampler_column_count(sampler) - 1);
		double *row = sample(sampler, r.sim);
		for (int c = 1; c <= rows[i].columns; c++) {
			const char *column = column_name(sampler, c);
			const bool readable = info.formula_count < 0 || c <= info.formula_count;
			formula_of(column, text, sizeof text);
			assert_true(isfinite(row[c]));
			assert_true(same_bits(value_of(r.sim, column), row[c])); // the name of a column is a name
			if (!readable && !formula_refusal(r.sim, text)[0])
				fail_msg("%s is accepted", text);
			if (readable && !same_bits(formula_value(r.sim, text), row[c]))
				fail_msg("%s = %a, %s = %a", column, row[c], text, formula_value(r.sim, text));
			compared += readable;
		}
		free(row);
		cal_sampler_destroy(sampler);
	}
	assert_int_equal(compared, 7 + 6 + 7 + 6 + 3 + 3 + 2);
	run_end(&r);
}

static void short_forms_and_relative_nodes(void **state) {
	(void)state;
	Run r = machine_at(0.1);
	static const char *const pairs[][2] = {
		{"x(arm/tip)", "pose:arm/tip.x"},
		{"wz('bird 1.5')", "velocity:bird 1.5.wz"},
		{"y('bird 1.5', arm/tip)", "pose:bird 1.5, arm/tip.y"},
		{"vx('bird 1.5', arm/tip)", "velocity:bird 1.5,arm/tip.vx"},
		{"wy(arm, 'bird 1.5')", "velocity:arm,bird 1.5.wy"},
		{"z(arm/tip, ground)", "pose:arm/tip.z"},
		{"q(boom.eta2)", "q:boom.eta2"},
		{"u(boom.etadot2)", "u:boom.etadot2"},
		{"q(card.angle2)", "q:card.angle2"},
		{"x(arm/tip)", "x:arm/tip"},
		{"qx('bird 1.5')", "pose:bird 1.5.qx"},
		{"qz(arm, 'bird 1.5')", "pose:arm,bird 1.5.qz"},
		{"body_rate(arm, 'bird 1.5.wy')", "body_rate:arm,bird 1.5.wy"},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (!same_bits(formula_value(r.sim, pairs[i][0]), value_of(r.sim, pairs[i][1])))
			fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
	// the speeds of a free joint are in the axes of its body, as rate gyros are; seen from it the ground turns backwards
	const char *const rate[] = {"body_rate:bird 1.5.wx", "body_rate:bird 1.5.wy", "body_rate:bird 1.5.wz"};
	const char *const speed[] = {"u:fly.a.wx", "u:fly.a.wy", "u:fly.a.wz"};
	const char *const seen[] = {"-wx(ground, 'bird 1.5')", "-wy(ground, 'bird 1.5')", "-wz(ground, 'bird 1.5')"};
	for (int i = 0; i < 3; i++) {
		assert_true(fabs(value_of(r.sim, rate[i])) > 1e-3);
		assert_true(fabs(value_of(r.sim, rate[i]) - value_of(r.sim, speed[i])) < 1e-15);
		assert_true(fabs(value_of(r.sim, rate[i]) - formula_value(r.sim, seen[i])) < 1e-15);
	}
	// the pose of a node seen from another brings it back to where it is
	CalSampler *sampler = sampler_new();
	add(sampler, r.sim, "pose:bird 1.5");
	add(sampler, r.sim, "pose:arm");
	add(sampler, r.sim, "pose:bird 1.5,arm");
	double *row = sample(sampler, r.sim);
	const double *a = row + 8, *q = a + 3, *rel = row + 15;
	const double tx = 2 * (q[2] * rel[2] - q[3] * rel[1]), ty = 2 * (q[3] * rel[0] - q[1] * rel[2]),
				 tz = 2 * (q[1] * rel[1] - q[2] * rel[0]);
	assert_true(fabs(a[0] + rel[0] + q[0] * tx + q[2] * tz - q[3] * ty - row[1]) < 1e-14);
	assert_true(fabs(a[1] + rel[1] + q[0] * ty + q[3] * tx - q[1] * tz - row[2]) < 1e-14);
	const double w = q[0] * rel[3] - q[1] * rel[4] - q[2] * rel[5] - q[3] * rel[6];
	assert_true(fabs(fabs(w) - row[4]) < 1e-14); // quaternions multiply
	free(row);
	cal_sampler_destroy(sampler);
	run_end(&r);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void names_and_units_of_columns(void **state) {
	(void)state;
	static const char want[] =
		"t [s]|q:hinge [rad]|q:root [rad]|q:boom.eta1 [1]|q:boom.eta2 [1]|q:boom.eta3 [1]|q:socket.qw [1]|q:socket.qx "
		"[1]|q:socket.qy [1]|q:socket.qz [1]|q:card.angle1 [rad]|q:card.angle2 [rad]|q:fly.a.x [m]|q:fly.a.y [m]|q:fly.a.z "
		"[m]|q:fly.a.qw [1]|q:fly.a.qx [1]|q:fly.a.qy [1]|q:fly.a.qz [1]|u:fly.a.vx [m/s]|u:fly.a.vy [m/s]|u:fly.a.vz "
		"[m/s]|u:fly.a.wx [rad/s]|u:fly.a.wy [rad/s]|u:fly.a.wz [rad/s]|force:hinge [N m]|energy:main.total "
		"[J]|energy:sky.total [J]|momentum:sky.Lz [kg m^2/s]|residual:rope.distance [m]|device:spring.b.length [m]|event:tick "
		"[1]|balance:error [J]|distance:arm,ground [m]|";
	static const char *const names[] = {"q",
	                                    "u:fly.a",
	                                    "force:hinge",
	                                    "energy:total",
	                                    "momentum:sky.Lz",
	                                    "residual",
	                                    "device:spring.b.length",
	                                    "event",
	                                    "balance:error",
	                                    "distance:arm , ground"};
	Run r = machine_at(0);
	CalSampler *sampler = sampler_new();
	char got[2000] = "";
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		add(sampler, r.sim, names[i]);
	for (int i = 0; i < cal_sampler_column_count(sampler); i++) {
		CalSamplerColumn c;
		cal_sampler_column(sampler, i, &c);
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s [%s]|", c.name, c.unit);
	}
	assert_string_equal(got, want);
	int first, count;
	assert_int_equal(cal_sampler_find(sampler, "u:fly.a", &first, &count), CAL_OK);
	assert_true(count == 6 && strcmp(column_name(sampler, first), "u:fly.a.vx") == 0);
	cal_sampler_find(sampler, "moon", &first, &count);
	assert_int_equal(count, 0);
	cal_sampler_destroy(sampler);
	run_end(&r);
}

static void what_is_wrong_with_a_name_is_said(void **state) {
	(void)state;
	static const char *const cases[][2] = {
		{"enrgy", "signal \"enrgy\" is not known; did you mean \"energy\"?"},
		{"zzzzzz", "'calder signals' lists them"},
		{"node", "write \"node:BODY/NODE\""},
		{"wrench:arm/tp", "the model has no node of that name; did you mean \"wrench:arm/tip\"?"},
		{"q:hinje", "no joint of that name; did you mean \"q:hinge\"?"},
		{"loop:rop", "no loop of that name; did you mean \"loop:rope\"?"},
		{"device:spring.c", "no device of that name; did you mean \"device:spring.b\"?"},
		{"event:tock", "no event of that name; did you mean \"event:tick\"?"},
		{"momentum:Ls", "there is no \"Ls\" among its components; did you mean \"momentum:Lx\"?"},
		{"momentum:sku.Lx", "no group of that name"},
		{"pose:arm/tip.w", "no \"w\" among its components"},
		{"balance:erorr", "did you mean \"balance:error\"?"},
		{"distance:arm", "write \"distance:BODY/NODE,BODY/NODE\""},
		// of earlier versions
		{"pose:arm/tip:x", "write \"pose:arm/tip.x\""},
		{"device:spring.b:length", "write \"device:spring.b.length\""},
		{"energy@sky:total", "write \"energy:sky.total\""},
		{"q:fly.a.3", "write \"q:fly.a.qw\""},
		{"u:fly.a.5", "write \"u:fly.a.wz\""},
		{"q:boom.eta0", "write \"q:boom.eta1\""},
	};
	Run r = machine_at(0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (!strstr(refusal_of(r.sim, cases[i][0]), cases[i][1]))
			fail_msg("%s: %s", cases[i][0], refusal_of(r.sim, cases[i][0]));
	run_end(&r);
}

static void old_formulas_are_answered_with_those_of_today(void **state) {
	(void)state;
	static const char *const cases[][2] = {
		{"q(fly.a, 2)", "write q(fly.a.y) instead of a number"},
		{"u(fly.a, 6)", "write u(fly.a.wz) instead of a number"},
		{"q(hinge, 1)", "write q(hinge) instead of a number"},
		{"q(fly.a, 4)", "joint \"fly.a\" has 7 coordinates: x, y, z, qw, qx, qy, qz"},
		{"q(fly.a)", "joint \"fly.a\" has 7 coordinates: x, y, z, qw, qx, qy, qz; write e.g. q(fly.a.x)"},
		{"q(fly.a.vx)", "joint \"fly.a\" has no coordinate \"vx\"; it has x, y"},
		{"eta(boom, 2)", "write q(boom.eta2)"},
		{"eta_dot(boom, 2)", "write u(boom.etadot2)"},
		{"q(boom.eta4)", "body \"boom\" has no \"eta4\"; it has 3 modes"},
		{"device(spring.b, length)", "write device(spring.b.length) instead of a comma"},
		{"device(spring.b)", "name an output of the device: device(spring.b.OUTPUT)"},
		{"device(spring.b.lenght)", "has no output \"lenght\"; did you mean \"length\"?"},
		{"device(hinge)", "name an output of the device"},
		{"energy(sky.total)", "energy() is not known within a step"},
		{"pose(arm/tip)", "pose() needs one of its components x to qz, e.g. pose(arm/tip.x)"},
		{"pose(arm/tip.qv)", "pose() needs one of its components x to qz"},
	};
	Run r = machine_at(0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (!strstr(formula_refusal(r.sim, cases[i][0]), cases[i][1]))
			fail_msg("%s: %s", cases[i][0], formula_refusal(r.sim, cases[i][0]));
	run_end(&r);
}

/* Without a simulation; of earlier versions too. */
static void names_are_divided(void **state) {
	(void)state;
	static const struct {
		const char *name, *word, *object, *component;
	} cases[] = {
		{"pose:arm/tip.x", "pose", "arm/tip", "x"},
		{"pose:arm/tip:x", "pose", "arm/tip", "x"},
		{"pose:a.b", "pose", "a.b", NULL},
		{"q:flight.qw", "q", "flight", "qw"},
		{"q:hinge", "q", "hinge", NULL},
		{"energy:total", "energy", NULL, "total"},
		{"energy@arm:total", "energy", "arm", "total"},
		{"energy:arm.total", "energy", "arm", "total"},
		{"residual:pin:dx", "residual", "pin", "dx"},
		{"event:a.b", "event", "a.b", NULL},
		{"distance:a,b", "distance", "a,b", NULL},
		{"odd:one", NULL, NULL, NULL},
		{"balance", "balance", NULL, NULL},
		{"device:c:x1", "device", "c", "x1"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		CalQuantityName parts;
		CalQuantityInfo info = {0};
		char object[40] = "";
		assert_int_equal(cal_quantity_split(cases[i].name, &parts), CAL_OK);
		cal_quantity(parts.quantity, &info);
		snprintf(object, sizeof object, "%.*s", parts.object_length, parts.object ? parts.object : "");
		if (strcmp(info.word ? info.word : "", cases[i].word ? cases[i].word : "") != 0 ||
		    strcmp(object, cases[i].object ? cases[i].object : "") != 0 || !parts.component != !cases[i].component ||
		    (parts.component && strcmp(parts.component, cases[i].component) != 0))
			fail_msg("%s: %s, %s, %s", cases[i].name, info.word, object, parts.component);
	}
}

/* ---- topology, memory --------------------------------------------------------------------------------------------- */

/* A joint between two bodies that are taken apart and put together again: NaN meanwhile, the same columns after. */
static void columns_follow_topology_changes(void **state) {
	(void)state;
	Run r =
		run_text("calder: 1\n"
	             "bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1], nodes: {n: [1, 0, 0]}}}\n"
	             "joints: {fly: {type: free, to: a}, bend: {type: revolute, from: a, to: b, axis: z}}\n"
	             "state: {bend: {q: 0.5, u: 1}}\n"
	             "events:\n"
	             "  part: {at: 0.1 s, do: {detach: bend, group: loose}}\n"
	             "  meet: {at: 0.2 s, do: {reattach: bend}}\n"
	             "run: {duration: 1, method: rk4, step: 1 ms}\n");
	CalSampler *sampler = sampler_new();
	static const char *const names[] = {"q:bend", "pose:b/n.x", "distance:a,b/n", "reaction:bend.fx"};
	for (int i = 0; i < 4; i++)
		add(sampler, r.sim, names[i]);
	advance(&r, 0.05);
	double *before = sample(sampler, r.sim);
	advance(&r, 0.15);
	double *apart = sample(sampler, r.sim);
	advance(&r, 0.3);
	double *after = sample(sampler, r.sim);
	for (int i = 1; i <= 4; i++)
		assert_true(isfinite(before[i]) && isfinite(after[i]));
	assert_true(isnan(apart[1]) && isfinite(apart[2]) && isfinite(apart[3]) && isnan(apart[4]));
	free(before);
	free(apart);
	free(after);
	cal_sampler_destroy(sampler);
	run_end(&r);
}

/* Every allocation fails once: nothing stays of the attempt, nothing leaks, and the next one succeeds. */
static void out_of_memory_leaves_a_sampler_whole(void **state) {
	(void)state;
	Run r = machine_at(0.01);
	static const char *const names[] = {
		"q", "pose", "energy", "residual", "device", "balance", "distance:arm,ball", "pose:arm,ball.x", "event:tick"};
	for (long fail_at = 1;; fail_at++) {
		FailingAllocator memory = {.fail_at = fail_at};
		const CalAllocator allocator = failing_allocator(&memory);
		CalSampler *sampler = NULL;
		CalStatus status = cal_sampler_create(&allocator, &sampler, NULL);
		if (status == CAL_OK) {
			for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
				const int columns = cal_sampler_column_count(sampler);
				status = cal_sampler_add(sampler, r.sim, names[i], NULL);
				if (status == CAL_OK)
					continue;
				assert_int_equal(status, CAL_ERR_MEMORY);
				assert_int_equal(cal_sampler_column_count(sampler), columns);
				add(sampler, r.sim, names[i]);
			}
			double *row = calloc((size_t)cal_sampler_column_count(sampler), sizeof *row);
			if (cal_sampler_sample(sampler, r.sim, row) == CAL_ERR_MEMORY)
				assert_int_equal(cal_sampler_sample(sampler, r.sim, row), CAL_OK);
			const long calls = memory.calls;
			assert_int_equal(cal_sampler_sample(sampler, r.sim, row), CAL_OK);
			assert_int_equal(memory.calls, calls); // samples take none
			for (int i = 0; i < cal_sampler_column_count(sampler); i++)
				assert_true(isfinite(row[i]));
			free(row);
		} else {
			assert_int_equal(status, CAL_ERR_MEMORY);
		}
		cal_sampler_destroy(sampler);
		assert_int_equal(memory.live, 0);
		if (memory.calls < fail_at)
			break;
		assert_true(fail_at < 10000);
	}
	run_end(&r);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_quantity_has_a_row_here),
		cmocka_unit_test(results_and_formulas_agree_to_the_bit),
		cmocka_unit_test(short_forms_and_relative_nodes),
		cmocka_unit_test(names_and_units_of_columns),
		cmocka_unit_test(what_is_wrong_with_a_name_is_said),
		cmocka_unit_test(old_formulas_are_answered_with_those_of_today),
		cmocka_unit_test(names_are_divided),
		cmocka_unit_test(columns_follow_topology_changes),
		cmocka_unit_test(out_of_memory_leaves_a_sampler_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
