// SPDX-License-Identifier: Apache-2.0
/*
 * setup.c — a model with all that a model file can hold, built in C: two vehicles dock, and a wheel turns them afterwards.
 *
 * A probe of 10 kg drifts towards the port of a station of 100 kg, pushed by a constant force for the first four seconds. When
 * its tip is near enough, an event attaches it by a weld joint, an impulse that keeps the momentum of both together; the
 * wheel, switched off until then, is switched on. docs/setup.md explains the calls; test/setup/test_setup.c runs the same
 * model from a YAML text and compares the states bit by bit.
 */
#include <calder/calder.h>
#include <stdio.h>

/* ---- the model: calder/build.h ------------------------------------------------------------------- */

static CalStatus add_vehicle(CalDesc *desc, const CalBodyDef *body, const CalNodeDef *node, const char *flight,
                             CalError *error) {
	CalJointDef joint = cal_joint_def(CAL_JOINT_FREE);
	CalBodyId id = {0};
	joint.name = flight;
	CalStatus status = cal_desc_add_body(desc, body, &id, error);
	if (status == CAL_OK)
		status = cal_desc_add_node(desc, id, node, NULL, error);
	if (status == CAL_OK)
		status = cal_desc_attach(desc, (CalNodeId){0}, &joint, cal_desc_body_node(desc, id), NULL, error);
	return status;
}

static CalStatus add_vehicles(CalDesc *desc, CalError *error) {
	CalGroupDef visitor = cal_group_def();
	CalBodyDef station = cal_body_def(), probe = cal_body_def();
	CalNodeDef port = cal_node_def(), tip = cal_node_def();
	visitor.name = "visitor";
	station.name = "station", station.mass = 100;
	station.inertia = (CalMat3){{{70, 0, 0}, {0, 80, 0}, {0, 0, 90}}};
	port.name = "port", port.placement.position = (CalVec3){1, 0, 0};
	probe.name = "probe", probe.mass = 10;
	probe.inertia = (CalMat3){{{1, 0, 0}, {0, 2, 0}, {0, 0, 2.5}}};
	tip.name = "tip", tip.placement.position = (CalVec3){-0.25, 0, 0};
	CalStatus status = cal_desc_add_group(desc, &visitor, &probe.group, error);
	if (status == CAL_OK)
		status = add_vehicle(desc, &station, &port, "fly", error);
	return status == CAL_OK ? add_vehicle(desc, &probe, &tip, "visit", error) : status;
}

/* ---- how it starts and what acts on it: calder/setup.h --------------------------------------------- */

static CalStatus add_states(CalSetup *setup, CalError *error) {
	static const double turn[6] = {0, 0, 0, 0.002, 0, 0.004}; // velocity, angular velocity
	static const double place[7] = {2, 0.02, 0.01, 1, 0, 0, 0}, approach[6] = {-0.05, 0.001, 0, 0, 0.01, 0};
	const CalDesc *desc = cal_setup_desc(setup);
	const CalStateDef station = {.u = turn}, probe = {.q = place, .u = approach};
	CalStatus status = cal_setup_set_state(setup, cal_desc_find_joint(desc, "fly"), &station, error);
	if (status == CAL_OK)
		status = cal_setup_set_state(setup, cal_desc_find_joint(desc, "visit"), &probe, error);
	return status;
}

static CalStatus add_forces(CalSetup *setup, CalError *error) {
	const CalDesc *desc = cal_setup_desc(setup);
	CalLoadDef push = cal_load_def();
	push.node = cal_desc_find_node(desc, "probe");
	push.wrench.linear = (CalVec3){-0.05, 0, 0};
	push.end = 4;
	CalStatus status = cal_setup_add_load(setup, &push, error);
	const CalWheelDef wheel = {
		.name = "wheel",
		.node = cal_desc_find_node(desc, "station"),
		.axis = {0, 0, 1},
		.inertia = 0.05,
		.torque.table = {CAL_TABLE_LINEAR, 2, (const double[]){0, 20}, (const double[]){0.1, 0.3}}};
	return status == CAL_OK ? cal_setup_add_device(setup, "wheel", &wheel, error) : status;
}

/* ---- what happens ------------------------------------------------------------------------------------ */

static CalStatus add_events(CalSetup *setup, CalError *error) {
	CalActionDef rest = cal_action_def(CAL_ACTION_SWITCH_OFF), turn = cal_action_def(CAL_ACTION_SWITCH_ON);
	CalActionDef latch = cal_action_def(CAL_ACTION_ATTACH);
	rest.name = turn.name = "wheel";
	latch.name = "latch", latch.from = "station/port", latch.to = "probe/tip";
	latch.options.fit = CAL_FIT_AT_B;
	const CalActionDef dock[] = {latch, turn};
	CalSetupEvent start = cal_setup_event_def(), docking = cal_setup_event_def();
	start.name = "start", start.at = 0, start.actions = &rest, start.action_count = 1;
	docking.name = "docking", docking.when = "distance(probe/tip, station/port) < 8 cm";
	docking.actions = dock, docking.action_count = 2;
	CalStatus status = cal_setup_add_event(setup, &start, error);
	return status == CAL_OK ? cal_setup_add_event(setup, &docking, error) : status;
}

/* ---- visuals and run settings --------------------------------------------------------------------------- */

static CalStatus add_settings(CalSetup *setup, CalError *error) {
	const CalDesc *desc = cal_setup_desc(setup);
	const CalPlacement center = {.orientation = {1, 0, 0, 0}};
	const CalVisual hull = {CAL_VISUAL_BOX, center, {2, 1, 1}, NULL, 0xc9ccd2};
	const CalVisual ball = {CAL_VISUAL_SPHERE, center, {0.25, 0, 0}, NULL, -1};
	const char *const signals[] = {"pose", "energy"};
	const CalRunStream stream = {.interval = 0.1, .signal_count = 2, .signals = signals};
	const CalRunSettings run = {.title = "Docking",
	                            .duration = 20,
	                            .method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-9, .atol = 1e-9},
	                            .stream_count = 1,
	                            .streams = &stream};
	CalStatus status = cal_setup_add_visual(setup, cal_desc_find_body(desc, "station"), &hull, error);
	if (status == CAL_OK)
		status = cal_setup_add_visual(setup, cal_desc_find_body(desc, "probe"), &ball, error);
	return status == CAL_OK ? cal_setup_set_run(setup, &run, error) : status;
}

static CalStatus docking_create(const CalAllocator *allocator, CalSetup **setup, CalError *error) {
	CalStatus status = cal_setup_create(allocator, setup);
	if (status == CAL_OK)
		status = add_vehicles(cal_setup_edit_desc(*setup), error);
	if (status == CAL_OK)
		status = add_states(*setup, error);
	if (status == CAL_OK)
		status = add_forces(*setup, error);
	if (status == CAL_OK)
		status = add_events(*setup, error);
	return status == CAL_OK ? add_settings(*setup, error) : status;
}

int main(void) {
	CalSetup *setup = NULL;
	CalSim *sim = NULL;
	CalScenario *scenario = NULL;
	CalError error = {0};
	CalStatus status = docking_create(NULL, &setup, &error);
	if (status == CAL_OK)
		status = cal_setup_simulate(setup, NULL, &sim, &scenario, &error);
	const double duration = cal_setup_run(setup).duration;
	for (int i = 1; i <= 10 && status == CAL_OK; i++)
		status = cal_sim_advance(sim, duration * i / 10, &error);
	for (int64_t i = 0; i < cal_scenario_entry_count(scenario); i++) {
		CalScenarioEntry entry;
		if (cal_scenario_entry(scenario, i, &entry) == CAL_OK)
			printf("t = %6.3f s   %s: %s (%.3g J lost)\n", entry.time, entry.event, entry.text, entry.kinetic_lost);
	}
	if (status != CAL_OK)
		fprintf(stderr, "%s\n", error.text);
	cal_scenario_destroy(scenario);
	cal_sim_destroy(sim);
	cal_setup_destroy(setup);
	return status != CAL_OK;
}
