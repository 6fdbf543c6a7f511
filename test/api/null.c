// SPDX-License-Identifier: Apache-2.0
/*
 * null.c — no public function crashes on NULL, and those that return a status refuse it (docs/decisions/0030).
 *
 * The calls are generated from the headers (null_calls.py). Each runs in a process of its own, since it may write to the
 * fixture, or die. What was wrong is listed at the end, one line for each call.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/null_calls.h"
#include "support/check.h"

/* ---- the fixture ------------------------------------------------------------------------------ */

static const char model_text[] =
	"calder: 1\n"
	"bodies:\n"
	"  rod: {mass: 1 kg, rod: {from: [0, 0, 0], to: [0, 0, -1 m]}, nodes: {tip: [0, 0, -1 m]}}\n"
	"  boom: {beam: {length: 2 m, modes: 2, section: {shape: tube, diameter: 100 mm, thickness: 3 mm, "
	"youngs_modulus: 70 GPa, density: 2700}}}\n"
	"joints:\n"
	"  hinge: {type: revolute, to: rod, axis: y}\n"
	"  wrist: {type: revolute, from: rod/tip, to: boom, axis: y}\n"
	"devices:\n"
	"  left: {type: spring, from: ground, to: rod/tip, length: 2 m, stiffness: 10}\n"
	"loads: [{joint: hinge, effort: 1}]\n"
	"events:\n"
	"  half: {at: 2 s, do: {note: half of it is over}}\n"
	"run: {duration: 1 s, method: rk4, step: 10 ms}\n";
static const char plan_text[] =
	"sweep: 1\nmodel: model.yaml\ndesign: grid\nparameters:\n  a: {values: [1, 2]}\noutputs:\n  end: {signal: t}\n";

static CalState the_state;

static void make_model(Fixture *f) {
	CalModel *model = NULL;
	CalError error = {0};
	const CalStatus status =
		cal_model_file_parse(model_text, sizeof model_text - 1, "model.yaml", NULL, &f->file, &error);
	if (status != CAL_OK && status != CAL_ERR_UNSUPPORTED)
		fail_msg("%s", error.text);
	if (f->file)
		cal_model_compile(cal_setup_desc(f->file), NULL, &model, NULL);
	f->model = model;
	cal_desc_create(NULL, &f->desc);
	if (!model)
		return;
	if (cal_state_create(model, &the_state) == CAL_OK)
		f->state = &the_state;
	cal_work_create(model, &f->work);
	cal_integrator_create(model, f->work, &(CalIntegratorOptions){.method = CAL_METHOD_RK4, .step = 1e-3},
	                      &f->integrator);
	cal_branches_create(model, &(CalBranchOptions){.branches = 2, .forced = 1}, &f->branches, NULL);
	cal_batch_create(model, NULL, &f->batch);
	cal_derivatives_create(model, &f->derivatives);
	cal_setup_loads_create(f->file, model, &f->loads, NULL);
	cal_flex_modal(cal_setup_desc(f->file), cal_desc_find_body(cal_setup_desc(f->file), "boom"), 0, NULL, &f->modal,
	               NULL);
	cal_live_create(f->file, &(CalReplaySignal){"t", "s"}, 1, &f->live, NULL);
}

static void make_others(Fixture *f) {
	static const CalVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	static const int faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
	const CalShapeDef shape = {.name = "ball", .type = CAL_SHAPE_SPHERE, .radius = 1};
	const CalResultsColumn column = {.name = "t", .unit = "s"};
	const CalResultsStream stream = {.name = "main", .path = "results.csv", .columns = &column, .column_count = 1};
	cal_mesh_create("solid", corners, 4, faces, 4, NULL, &f->mesh, NULL);
	cal_contact_set_create(&shape, 1, NULL, &f->contacts, NULL);
	cal_contact_work_create(f->contacts, 4, &f->contact_work);
	cal_expression_create("t > 1", NULL, &f->expression, NULL);
	cal_results_create(&(CalResultsOptions){.streams = &stream, .stream_count = 1}, &f->results, NULL);
	if (cal_plan_parse(plan_text, sizeof plan_text - 1, "p.yaml", model_text, sizeof model_text - 1, NULL, &f->plan,
	                   NULL) == CAL_OK)
		cal_campaign_open("campaign", f->plan, NULL, NULL, &f->campaign, NULL);
	f->out = tmpfile();
}

static CalSim *make_sim(const Fixture *f) {
	CalSim *sim = NULL;
	if (f->file)
		cal_sim_create(cal_setup_desc(f->file), &(CalSimOptions){.method = {.method = CAL_METHOD_RK4, .step = 1e-3}},
		               &sim, NULL);
	if (sim) {
		cal_setup_apply_devices(f->file, sim, NULL);
		cal_sim_restart(sim, NULL);
	}
	return sim;
}

static void destroy(Fixture *f) {
	cal_scenario_destroy(f->scenario);
	cal_sim_destroy(f->sim);
	cal_campaign_close(f->campaign);
	cal_plan_destroy(f->plan);
	cal_results_destroy(f->results);
	cal_live_destroy(f->live);
	cal_modal_destroy(f->modal);
	cal_contact_work_destroy(f->contact_work);
	cal_contact_set_destroy(f->contacts);
	cal_mesh_destroy(f->mesh);
	cal_setup_loads_destroy(f->loads);
	cal_expression_destroy(f->expression);
	cal_batch_destroy(f->batch);
	cal_derivatives_destroy(f->derivatives);
	cal_branches_destroy(f->branches);
	cal_integrator_destroy(f->integrator);
	cal_work_destroy(f->work);
	cal_state_destroy(f->state);
	cal_model_destroy(f->model);
	cal_desc_destroy(f->desc);
	cal_setup_destroy(f->file);
	if (f->out)
		fclose(f->out);
}

/* ---- the calls -------------------------------------------------------------------------------- */

const char *const texts[] = {"x", "x", "x", "x"};

void *scratch(int k) {
	enum { SIZE = 1 << 16 };
	static double memory[NULL_CALL_MOST][SIZE / sizeof(double)];
	return memory[k];
}

static int in_child(const NullCall *call, const Fixture *fixture, const unsigned char *null) {
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	fflush(NULL);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
			signal(deadly[i], SIG_DFL); // cmocka catches them
		_exit(call->call(fixture, null));
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Returns 1 and says so where the function did not do what it must. */
static int check_call(const NullCall *call, const Fixture *fixture, const unsigned char *null, const char *what,
                      int required) {
	const int code = in_child(call, fixture, null);
	const int crashed = code != REFUSED && code != ACCEPTED && code != RETURNED;
	if (crashed)
		printf("%s: %s NULL: crashed (%d)\n", call->name, what, code);
	else if (required && code != REFUSED)
		printf("%s: %s NULL: accepted\n", call->name, what);
	return crashed || (required && code != REFUSED);
}

static int check_function(const NullCall *call, const Fixture *fixture) {
	unsigned char null[NULL_CALL_MOST] = {0}, all[NULL_CALL_MOST];
	int wrong = 0, required = 0;
	memset(all, 1, sizeof all);
	for (int i = 0; i < call->argument_count; i++) {
		if (!call->arguments[i].pointer)
			continue;
		const int refuse = call->returns_status && call->arguments[i].required;
		null[i] = 1;
		wrong += check_call(call, fixture, null, call->arguments[i].name, refuse);
		null[i] = 0;
		required |= refuse;
	}
	wrong += check_call(call, fixture, null, "nothing", 0); // empty definitions crash nothing either
	return wrong + check_call(call, fixture, all, "everything", required);
}

static CalStatus check_all(void *user, CalEvalContext *context) {
	Fixture *fixture = user;
	int wrong = 0;
	fixture->scene = context;
	for (int i = 0; i < null_call_count; i++)
		wrong += check_function(&null_calls[i], fixture);
	printf("%d functions, %d calls that crashed or were accepted\n", null_call_count, wrong);
	return wrong ? CAL_ERR_USER : CAL_OK;
}

static void no_function_crashes_on_null(void **state) {
	(void)state;
	char folder[] = "/tmp/calder-null-XXXXXX";
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	Fixture fixture = {0};
	make_model(&fixture);
	make_others(&fixture);
	fixture.sim = make_sim(&fixture);
#ifdef CALDER_WITH_YAML
	void *objects[sizeof fixture / sizeof(void *)]; // all but the scene and the scenario, which come
	memcpy(objects, &fixture, sizeof objects);
	for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
		if (!objects[i] && i != offsetof(Fixture, scene) / sizeof(void *) &&
		    i != offsetof(Fixture, scenario) / sizeof(void *))
			fail_msg("object %zu of the fixture could not be made", i);
#endif
	CalSim *outer = make_sim(&fixture); // in whose look the calls happen: they have its scene
	if (fixture.sim)
		cal_scenario_create(fixture.file, fixture.sim, &fixture.scenario, NULL);
	const CalStatus status = outer ? cal_sim_inspect(outer, check_all, &fixture) : check_all(&fixture, NULL);
	cal_sim_destroy(outer);
	destroy(&fixture);
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	(void)!system(command);
	assert_int_equal(status, CAL_OK);
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(no_function_crashes_on_null)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
