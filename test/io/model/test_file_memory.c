// SPDX-License-Identifier: Apache-2.0
/*
 * test_file_memory.c — reading a file survives the failure of any allocation and leaks nothing.
 *
 * First through the caller's allocator, then through malloc itself, which libyaml uses: there each call of
 * the whole program part fails in turn. A failure must show as CAL_ERR_MEMORY, never as a file.
 */
#include "support/fe_support.h"

#include "support/model_file_support.h"
#include "support/interpose.h"
#include "support/failing_allocator.h"

static const char *const format =
	"calder: 1\ntitle: x\ngravity: [0, 0, -9.81]\n"
	"define: [&n {at: [0, 0, 1]}]\n"
	"groups: {moon: {gravity: [0, 0, -1]}}\n"
	"ground: {nodes: {hook: *n}}\n"
	"bodies:\n"
	"  a: {mass: 1, box: [1, 1, 1], nodes: {tip: {<<: *n}}}\n"
	"  b: {mass: 1, inertia: [1, 1, 1], group: moon}\n"
	"  c: {nodes: {p: *n}, flexible: {frequencies: [1, 2], damping_ratio: 0.1, nodes: {p:\n"
	"    {mass: 1, phi: [[1, 0], [0, 1], [0, 0]], psi: [[0, 0], [0, 0], [0, 0]]}}}}\n"
	"  d: {modal: %s}\n"
	"joints: {j: {type: revolute, to: a, from: ground/hook}, k: {type: free, to: b},\n"
	"  l: {type: weld, to: c}, m: {type: weld, to: d}}\n"
	"state: {j: {q: 1}, k: {u: [0, 0, 0, 1, 0, 0]}, l: {eta: [1, 2], eta_dot: [3, 4]}}\n"
	"loads: [{joint: j, effort: 1}, {node: a/tip, force: [1, 0, 0]}]\n"
	"devices: {t: {type: contact, material: {stiffness: 1e5}, shapes: {f: {type: plane}, s: {type: mesh, node: a, mesh: %s}}}}\n"
	"subsystems: {s: {file: %s, set: {bodies.f.mass: 3}, attach: [{to: a/tip, joint: {type: revolute}},\n"
	"  {interface: e, to: a, joint: inplane}]}}\n"
	"run: {duration: 1, output: {signals: [q, 'node:a/tip.x']}}\n";

static char text[2000];

/* The text with the names of a modal file and a mesh that are there. */
static int make_text(void **state) {
	(void)state;
	snprintf(
		text, sizeof text, format,
		write_text("d.json", "calder_modal: 1\nmodes: 1\nstiffness: [9]\ndamping: [1]\nnodes: [{name: a, "
	                         "position: [1, 0, 0], mass: 1, phi: [[0], [1], [0]]}]\n"),
		write_text("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"),
		write_text(
			"p.yaml",
			"calder: 1\ninterface: [f, e]\nbodies: [{name: e, mass: 1, sphere: 1}, {name: f, mass: 1, sphere: 1}]\n"
			"joints: {x: {type: free, to: e}, y: {type: revolute, from: e, to: f}}\nstate: {y: {q: 1}}\n"
			"devices: {z: {type: applied_load, joint: y, effort: -q(y)}}\n"));
	return 0;
}

static void every_allocation_may_fail(void **state) {
	(void)state;
	long failures = 0;
	for (long k = 1;; k++) {
		FailingAllocator counter = {.fail_at = k};
		const CalAllocator allocator = failing_allocator(&counter);
		CalSetup *file = NULL;
		CalError error = {0};
		const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", &allocator, &file, &error);
		if (status == CAL_OK) {
			assert_true(counter.calls < k);
			cal_setup_destroy(file);
			assert_int_equal(counter.live, 0);
			break;
		}
		failures++;
		assert_int_equal(status, CAL_ERR_MEMORY);
		assert_int_equal(error.status, CAL_ERR_MEMORY);
		assert_non_null(strstr(error.text, "out of memory"));
		assert_null(file);
		assert_int_equal(counter.live, 0);
	}
	assert_true(failures > 20);
}

static void every_allocation_of_the_loads_may_fail(void **state) {
	(void)state;
	FailingAllocator counter = {0};
	const CalAllocator allocator = failing_allocator(&counter);
	CalSetup *file;
	CalError error;
	CalSetupLoads *loads;
	assert_int_equal(cal_model_file_parse(text, strlen(text), "t.yaml", &allocator, &file, &error), CAL_OK);
	CalModel *model = model_of(file, NULL);
	counter.fail_at = counter.calls + 1;
	assert_int_equal(cal_setup_loads_create(file, model, &loads, &error), CAL_ERR_MEMORY);
	assert_null(loads);
	assert_int_equal(cal_setup_loads_create(file, model, &loads, &error), CAL_OK);
	cal_setup_loads_destroy(loads);
	cal_model_destroy(model);
	cal_setup_destroy(file);
	assert_int_equal(counter.live, 0);
}

/* malloc itself, so that libyaml's own allocations fail too. */
static void every_malloc_may_fail(void **state) {
	(void)state;
	if (!INTERPOSE_ACTIVE)
		skip();
	long failures = 0;
	for (long k = 1;; k++) {
		CalSetup *file = NULL;
		CalError error = {0};
		interpose_begin(k);
		const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
		const int bodies = file ? cal_desc_body_count(cal_setup_desc(file)) : 6;
		cal_setup_destroy(file);
		const Interpose seen = interpose_end();
		assert_int_equal(bodies, 6); // a file is whole or not there
		assert_int_equal(seen.live, 0);
		if (seen.calls < k) {
			assert_int_equal(status, CAL_OK);
			break;
		}
		if (status == CAL_ERR_IO) { // of fopen, for the modal file and the mesh
			assert_non_null(strstr(error.text, "could not be opened"));
		} else if (status != CAL_OK) {
			failures++;
			assert_int_equal(status, CAL_ERR_MEMORY);
			assert_non_null(strstr(error.text, "out of memory"));
		}
	}
	assert_true(failures > 50);
}

static void the_input_of_loads_allocates_nothing(void **state) {
	(void)state;
	if (!INTERPOSE_ACTIVE)
		skip();
	CalSetup *file = file_of(text);
	CalModel *model = model_of(file, NULL);
	CalError error;
	CalSetupLoads *loads;
	CalState s;
	CalInput in;
	assert_int_equal(cal_setup_loads_create(file, model, &loads, &error), CAL_OK);
	assert_int_equal(cal_state_create(model, &s), CAL_OK);
	interpose_begin(0);
	const int rc = cal_setup_loads_input(loads, model, &s, &in);
	const double next = cal_setup_loads_next_switch(loads, 0);
	const Interpose seen = interpose_end();
	assert_int_equal(rc, 0);
	assert_true(next > 1e300);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(in.wrench_count, 1);
	cal_state_destroy(&s);
	cal_setup_loads_destroy(loads);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(every_allocation_of_the_loads_may_fail),
		cmocka_unit_test(every_malloc_may_fail),
		cmocka_unit_test(the_input_of_loads_allocates_nothing),
	};
	return cmocka_run_group_tests(tests, make_text, NULL);
}
