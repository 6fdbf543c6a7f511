// SPDX-License-Identifier: Apache-2.0
/*
 * test_transition.c — random changes of topology on random systems: detach, attach, re-root, lock, loops, groups that are
 * split, rigid and flexible bodies that come and go, one after the other on rigid and flexible trees with loops.
 *
 * After every change: no pose and no modal coordinate has moved; velocities have not, unless there was an impulse; linear
 * and angular momentum of systems that nothing holds are what they were; the kinetic energy lost is the one reported; a
 * change that was refused has left every bit where it was. In every third scenario a checkpoint is restored into another
 * simulation, which then does the same with the same bits. CALDER_TEST_SCENARIOS runs more of them than the default,
 * CALDER_TEST_VERBOSE prints what happened and the largest errors.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "reference/joint_rows.h"
#include "support/random_loop.h"
#include "sim/sim_internal.h"
#include "topology/topology.h"

enum {
	SCENARIOS = 1000,
	CHANGES = 9,
	SHARING = 5,   // scenarios that start from one system
	RESTORING = 3, // every third one has a twin
	MAX_BODIES = 40,
	MAX_MODES = 40,
	FLEX_NODES = 5, // of a flexible body that comes in
	FLEX_MODES = 3
};

/* A body as it moves, and its modes. */
typedef struct Seen {
	int there;
	CalPose pose;
	CalSpatial velocity;
	int modes;
	double eta[MAX_MODES], eta_dot[MAX_MODES];
} Seen;

typedef struct Snapshot {
	Seen body[MAX_BODIES];
	double kinetic, mass, reach;
	CalVec3 linear, angular;
	int free; // nothing holds it: momentum is conserved
} Snapshot;

static CalVec3 plus(CalVec3 a, CalVec3 b) { return (CalVec3){a.x + b.x, a.y + b.y, a.z + b.z}; }

static void look_at_body(CalSim *sim, int g, int b, CalWork *work, Snapshot *s, uint64_t seed) {
	const CalModel *model = cal_sim_model(sim, g);
	const CalState *state = cal_sim_state(sim, g);
	CalBodyInfo info;
	check_ok(seed, cal_model_body(model, b, &info));
	assert_true(info.id.value < MAX_BODIES && info.modes <= MAX_MODES);
	Seen *seen = &s->body[info.id.value];
	seen->there = 1;
	seen->modes = info.modes;
	check_ok(seed, cal_node_pose(model, work, info.node, &seen->pose));
	check_ok(seed, cal_node_velocity(model, work, info.node, &seen->velocity));
	memcpy(seen->eta, state->q + info.q + info.nq, sizeof(double) * (size_t)info.modes);
	memcpy(seen->eta_dot, state->u + info.u + info.nu, sizeof(double) * (size_t)info.modes);
	s->reach = fmax(s->reach, fabs(seen->pose.r.x) + fabs(seen->pose.r.y) + fabs(seen->pose.r.z));
}

/* A dof of a root that is driven holds it on the ground. */
static int root_is_driven(const CalModel *model) {
	for (int u = 0; u < cal_model_u_count(model); u++) {
		CalDofInfo dof;
		CalBodyInfo body;
		if (cal_model_dof(model, u, &dof) == CAL_OK && dof.prescribed &&
		    cal_model_body(model, dof.body, &body) == CAL_OK && body.parent < 0 && dof.index < body.nu)
			return 1;
	}
	return 0;
}

static void look(CalSim *sim, Snapshot *s, uint64_t seed) {
	memset(s, 0, sizeof *s);
	s->free = 1;
	s->reach = 1;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		CalSimMonitor monitor;
		CalSimView view;
		check_ok(seed, cal_sim_monitor(sim, g, &monitor));
		s->kinetic += monitor.energy.kinetic;
		s->mass += monitor.momentum.mass;
		s->linear = plus(s->linear, monitor.momentum.linear);
		s->angular = plus(s->angular, monitor.momentum.angular_origin);
		s->free &= monitor.momentum_conserved && !root_is_driven(model);
		check_ok(seed, cal_sim_observe(sim, g, &view));
		for (int b = 0; b < cal_model_body_count(model); b++)
			look_at_body(sim, g, b, view.work, s, seed);
	}
}

typedef enum Kind {
	DETACH,
	ATTACH,
	REROOT,
	LOCK,
	UNLOCK,
	LOCK_MODES,
	UNLOCK_MODES,
	OPEN,
	RECLOSE,
	REATTACH,
	SPLIT,
	ADD,
	ADD_FLEXIBLE,
	REMOVE,
	KINDS
} Kind;

static const char *const names[] = {"detach", "attach",  "reroot",   "lock",  "unlock", "lock modes",   "unlock modes",
                                    "open",   "reclose", "reattach", "split", "add",    "add flexible", "remove"};

static int verbose(void) { return getenv("CALDER_TEST_VERBOSE") != NULL; }

/* The largest errors so far, relative to what the tolerances are relative to. */
typedef struct Worst {
	double position, orientation, velocity, momentum, energy;
} Worst;

static void note(double *worst, int n, const double *got, const double *want, double scale) {
	*worst = fmax(*worst, max_difference(n, got, want) / fmax(scale, max_abs(n, want)));
}

/* Poses and modal coordinates stay where they were; velocities too, if the change was a smooth one. */
static void check_continuous(const Snapshot *before, const Snapshot *after, Kind kind, Worst *worst, uint64_t seed) {
	const int impulse = kind == ATTACH || kind == LOCK || kind == LOCK_MODES || kind == RECLOSE || kind == REATTACH;
	double speed = 1; // as drawn at the start
	for (int i = 0; i < MAX_BODIES; i++)
		speed = fmax(speed, before->body[i].there ? fmax(max_abs(3, &before->body[i].velocity.angular.x),
		                                                 max_abs(3, &before->body[i].velocity.linear.x))
		                                          : 0);
	for (int i = 0; i < MAX_BODIES; i++) {
		const Seen *a = &before->body[i], *b = &after->body[i];
		if (kind != ADD && kind != ADD_FLEXIBLE && kind != REMOVE)
			check_that(seed, a->there == b->there && a->modes == b->modes);
		if (!a->there || !b->there)
			continue;
		check_close_scaled(seed, "position", 3, &b->pose.r.x, &a->pose.r.x, before->reach, 1e-13);
		check_close_scaled(seed, "orientation", 9, &b->pose.R.m[0][0], &a->pose.R.m[0][0], 1, 1e-13);
		check_close(seed, "modes", a->modes, b->eta, a->eta, 0);
		note(&worst->position, 3, &b->pose.r.x, &a->pose.r.x, before->reach);
		note(&worst->orientation, 9, &b->pose.R.m[0][0], &a->pose.R.m[0][0], 1);
		if (impulse)
			continue;
		check_close(seed, "modal speeds", a->modes, b->eta_dot, a->eta_dot, 0);
		check_close_scaled(seed, "angular velocity", 3, &b->velocity.angular.x, &a->velocity.angular.x, speed, 1e-13);
		check_close_scaled(seed, "velocity", 3, &b->velocity.linear.x, &a->velocity.linear.x, speed * before->reach,
		                   1e-13);
		note(&worst->velocity, 3, &b->velocity.angular.x, &a->velocity.angular.x, speed);
		note(&worst->velocity, 3, &b->velocity.linear.x, &a->velocity.linear.x, speed * before->reach);
	}
}

static void check_conserved(const Snapshot *before, const Snapshot *after, const CalTransition *report, Kind kind,
                            Worst *worst, uint64_t seed) {
	if (kind == ADD || kind == ADD_FLEXIBLE || kind == REMOVE)
		return;
	const double energy = fmax(before->kinetic, 1e-3 * before->mass); // speeds were about 1 at the start
	const double size = sqrt(2 * energy * before->mass);
	const double lost = before->kinetic - after->kinetic;
	check_close_scaled(seed, "energy lost", 1, &report->kinetic_lost, &lost, energy, 1e-10);
	note(&worst->energy, 1, &report->kinetic_lost, &lost, energy);
	if (!before->free || !after->free)
		return;
	check_close_scaled(seed, "linear momentum", 3, &after->linear.x, &before->linear.x, size, 1e-12);
	check_close_scaled(seed, "angular momentum", 3, &after->angular.x, &before->angular.x, size * before->reach, 1e-12);
	note(&worst->momentum, 3, &after->linear.x, &before->linear.x, size);
	note(&worst->momentum, 3, &after->angular.x, &before->angular.x, size * before->reach);
}

/* ---- a scenario ------------------------------------------------------------------------------------------ */

typedef struct Scenario {
	Fixture *f;
	CalSim *sim;
	Rng r;
	uint64_t seed;
	int joints, bodies, loops, nodes; // ids so far
	int counter;
	uint32_t opened, detached; // the last loop and joint that were, 0: none
	int done[KINDS], refused[KINDS];
	Worst worst;
} Scenario;

/* The system of a seed: SHARING seeds have one, since making it takes longer than what is tested here. */
static Fixture *system_create(uint64_t seed) {
	LoopOptions options = loop_any(seed);
	Rng r = rng_make(seed);
	options.tree.no_gravity = 1;
	options.tree.floating = rng_chance(&r, 0.75);
	options.tree.bodies = 3 + rng_int(&r, 8);
	options.tree.springs = rng_chance(&r, 0.3);
	options.tree.prescribed = rng_chance(&r, 0.2);
	options.tree.massless = 0;
	options.tree.flexible = rng_chance(&r, 0.5) ? 0.4 : 0;
	options.tree.max_modes = 4;
	options.driven = 0;
	options.loops = 1 + rng_int(&r, 2);
	const int with_loops = rng_chance(&r, 0.4);
	Fixture *f = with_loops ? fixture_random_loop(seed, options, CAL_SOLVER_RECURSIVE)
	                        : fixture_random(seed, options.tree, CAL_SOLVER_RECURSIVE);
	if (with_loops)
		fixture_close_loops(f);
	return f;
}

/* A simulation of a system, made always in the same way. */
static CalSim *sim_of(const Fixture *f, uint64_t seed) {
	CalError error = {0};
	CalSim *sim;
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
	const CalSimCapacity capacity = {
		.groups = 4, .bodies = 3, .nodes = 2 * FLEX_NODES, .joints = 8, .loops = 2, .modes = 2 * FLEX_MODES};
	check_ok(seed, cal_sim_create(f->desc, &options, &sim, &error));
	cal_state_copy(cal_sim_model(sim, 0), &f->state, cal_sim_state(sim, 0));
	if (cal_sim_reserve(sim, f->desc, &capacity, &error) != CAL_OK)
		check_fail_at(__FILE__, __LINE__, seed, "%s", error.text);
	check_ok(seed, cal_sim_restart(sim, &error));
	return sim;
}

static void scenario_create(Scenario *s, uint64_t seed) {
	const uint64_t of = seed - seed % SHARING;
	if (!s->f || s->f->seed != of) {
		fixture_destroy(s->f);
		s->f = system_create(of);
	}
	s->seed = seed;
	s->r = rng_make(seed);
	s->counter = 0;
	s->opened = s->detached = 0;
	s->sim = sim_of(s->f, seed);
	s->joints = cal_desc_joint_count(s->f->desc);
	s->bodies = cal_desc_body_count(s->f->desc);
	s->loops = cal_desc_loop_count(s->f->desc);
	s->nodes = s->f->ref->node_count + s->bodies;
}

static CalJointDef random_joint(Scenario *s, char *name, size_t size) {
	CalJointType types[CAL_JOINT_TYPE_COUNT + 1];
	int count = joint_rows_of_loops(types);
	types[count++] = CAL_JOINT_SEQUENCE;
	CalJointDef def = cal_joint_def(types[rng_int(&s->r, count)]);
	snprintf(name, size, "new%d", s->counter++);
	def.name = name;
	def.axis = rng_direction(&s->r);
	def.pitch = def.type == CAL_JOINT_SCREW ? 0.3 : 0;
	if (def.type == CAL_JOINT_SEQUENCE) {
		def.element_count = 2;
		def.elements[0] = (CalElement){CAL_JOINT_REVOLUTE, rng_direction(&s->r), 0};
		def.elements[1] = (CalElement){CAL_JOINT_PRISMATIC, rng_direction(&s->r), 0};
	}
	def.inboard = rng_placement(&s->r);
	return def;
}

static uint32_t pick(Scenario *s, int count) { return 1 + (uint32_t)rng_int(&s->r, count); }

/* The modes of a body that comes in: shapes of all nodes, some rotary inertia. */
typedef struct NewModes {
	CalFlexDef def;
	CalNodeDef places[FLEX_NODES];
	CalFlexNode nodes[FLEX_NODES];
	double phi[FLEX_NODES][3 * FLEX_MODES], psi[FLEX_NODES][3 * FLEX_MODES];
	double stiffness[FLEX_MODES * FLEX_MODES], eta[FLEX_MODES], eta_dot[FLEX_MODES];
} NewModes;

static void random_modes(Scenario *s, NewModes *m, CalNewBody *body) {
	static const char *const places[FLEX_NODES] = {"n0", "n1", "n2", "n3", "n4"};
	const int modes = 1 + rng_int(&s->r, FLEX_MODES);
	*m = (NewModes){.def = {.modes = modes, .stiffness = m->stiffness, .nodes = m->nodes, .node_count = FLEX_NODES}};
	for (int n = 0; n < FLEX_NODES; n++) {
		rng_fill(&s->r, 0.6, 3 * modes, m->phi[n]);
		rng_fill(&s->r, 0.5, 3 * modes, m->psi[n]);
		m->places[n] = (CalNodeDef){.name = places[n], .placement = rng_placement(&s->r)};
		m->nodes[n] = (CalFlexNode){
			.node = {(uint32_t)n + 1}, .mass = rng_uniform(&s->r, 0.3, 1), .phi = m->phi[n], .psi = m->psi[n]};
		m->nodes[n].inertia.m[n % 3][n % 3] = 0.05;
	}
	for (int k = 0; k < modes; k++)
		m->stiffness[k * (modes + 1)] = rng_uniform(&s->r, 20, 60);
	rng_fill(&s->r, 0.1, modes, m->eta);
	rng_fill(&s->r, 1, modes, m->eta_dot);
	body->flex = &m->def, body->eta = m->eta, body->eta_dot = m->eta_dot;
	body->nodes = m->places, body->node_count = FLEX_NODES;
}

/* It is where it was put, and moves as it was commanded. */
static void check_added(const Scenario *s, const CalNewBody *body, CalBodyId id) {
	Snapshot now;
	look(s->sim, &now, s->seed);
	const Seen *seen = &now.body[id.value];
	check_that(s->seed, seen->there && seen->modes == (body->flex ? body->flex->modes : 0));
	check_close(s->seed, "eta", seen->modes, seen->eta, body->eta, 0);
	check_close(s->seed, "modal speeds", seen->modes, seen->eta_dot, body->eta_dot, 0);
	check_close_scaled(s->seed, "place", 3, &seen->pose.r.x, &body->placement.position.x, 1, 1e-15);
	check_close_scaled(s->seed, "angular", 3, &seen->velocity.angular.x, &body->velocity.angular.x, 1, 1e-14);
	check_close_scaled(s->seed, "linear", 3, &seen->velocity.linear.x, &body->velocity.linear.x, 1, 1e-14);
}

static CalStatus add_body(Scenario *s, int flexible, CalTransition *report, CalError *error) {
	char name[32];
	CalNewBody body = {.group = name, .placement = rng_placement(&s->r)};
	NewModes modes;
	CalBodyId id;
	body.body.name = name;
	snprintf(name, sizeof name, "extra%d", s->counter++);
	rng_mass(&s->r, 1, &body.body.mass, &body.body.com, &body.body.inertia);
	body.velocity = (CalSpatial){rng_vector(&s->r, 1), rng_vector(&s->r, 1)};
	if (flexible)
		random_modes(s, &modes, &body);
	const CalStatus status = cal_sim_add_body(s->sim, &body, &id, NULL, report, error);
	if (status == CAL_OK) {
		s->bodies = (int)id.value;
		const CalModel *model = cal_sim_model(s->sim, cal_sim_group_of(s->sim, id));
		CalNodeInfo node;
		CalBodyInfo info;
		check_ok(s->seed, cal_model_body(model, 0, &info));
		check_ok(s->seed, cal_model_node(model, info.node, &node));
		s->nodes = (int)node.id.value + body.node_count;
		check_added(s, &body, id);
	}
	return status;
}

static CalStatus change(Scenario *s, Kind kind, CalTransition *report, CalError *error) {
	char name[32];
	CalSim *sim = s->sim;
	switch (kind) {
	case DETACH:
		snprintf(name, sizeof name, "part%d", rng_int(&s->r, 4));
		s->detached = pick(s, s->joints);
		return cal_sim_detach(sim, (CalJointId){s->detached}, rng_chance(&s->r, 0.9) ? name : NULL, report, error);
	case ATTACH: {
		const CalJointDef def = random_joint(s, name, sizeof name);
		const CalAttachOptions options = {.fit = rng_chance(&s->r, 0.5) ? CAL_FIT_AT_A : CAL_FIT_AT_B,
		                                  .loop = rng_chance(&s->r, 0.2)};
		CalJointId id;
		const CalNodeId a = {(uint32_t)rng_int(&s->r, s->nodes + 1)}, b = {pick(s, s->nodes)};
		const CalStatus status = cal_sim_attach(sim, a, &def, b, &options, &id, report, error);
		s->joints += status == CAL_OK && (int)id.value > s->joints ? (int)id.value - s->joints : 0;
		return status;
	}
	case REROOT:
		return cal_sim_reroot(sim, (CalBodyId){pick(s, s->bodies)}, report, error);
	case LOCK:
		return cal_sim_lock(sim, (CalJointId){pick(s, s->joints)}, rng_int(&s->r, 3) - 1, report, error);
	case UNLOCK:
		return cal_sim_unlock(sim, (CalJointId){pick(s, s->joints)}, rng_int(&s->r, 3) - 1, report, error);
	case LOCK_MODES:
		return cal_sim_lock_modes(sim, (CalBodyId){pick(s, s->bodies)}, rng_int(&s->r, 3) - 1, report, error);
	case UNLOCK_MODES:
		return cal_sim_unlock_modes(sim, (CalBodyId){pick(s, s->bodies)}, rng_int(&s->r, 3) - 1, report, error);
	case OPEN:
		s->opened = pick(s, s->loops + 1);
		return cal_sim_open_loop(sim, (CalLoopId){s->opened}, report, error);
	case RECLOSE:
		return cal_sim_reclose_loop(sim, (CalLoopId){s->opened ? s->opened : 1}, report, error);
	case REATTACH:
		return cal_sim_reattach(sim, (CalJointId){s->detached ? s->detached : 1}, NULL, report, error);
	case SPLIT:
		snprintf(name, sizeof name, "part%d", rng_int(&s->r, 4));
		return cal_sim_split(sim, (CalBodyId){pick(s, s->bodies)}, name, report, error);
	case ADD:
		return add_body(s, 0, report, error);
	case ADD_FLEXIBLE:
		return add_body(s, 1, report, error);
	default:
		return cal_sim_remove_body(sim, (CalBodyId){pick(s, s->bodies)}, report, error);
	}
}

/* ---- twins ----------------------------------------------------------------------------------------------- */

/* Another simulation that was brought to the state of a scenario by a checkpoint, and continues as that does. */
typedef struct Twin {
	Scenario s;
	CalSim *sim;          // NULL: there is none
	int flexible, locked; // checkpoints with flexible bodies that came in, and with modes that were locked
	int changes;          // after a checkpoint
} Twin;

static void count_modes(Twin *twin, const CalSim *sim) {
	const Topology *t = sim->topology;
	int locked = 0, added = 0;
	for (int k = 0; k < t->mode_count; k++)
		locked |= t->mode_locked[k];
	for (int b = sim->origin.bodies + 1; b < t->desc->body_count; b++)
		added |= t->desc->bodies[b].flex != NULL;
	twin->flexible += added;
	twin->locked += locked;
}

/* What a checkpoint has but for the clocks: nothing else of a simulation goes from one step to the next. */
static char *bytes_of(CalSim *sim, size_t *size, uint64_t seed) {
	*size = cal_checkpoint_size(sim);
	sim->wall_s = sim->cpu_s = 0;
	char *bytes = test_alloc(1, *size);
	check_ok(seed, cal_checkpoint_take(sim, bytes, *size, NULL));
	return bytes;
}

static void check_twins(CalSim *sim, CalSim *twin, uint64_t seed) {
	size_t sizes[2];
	char *a = bytes_of(sim, &sizes[0], seed), *b = bytes_of(twin, &sizes[1], seed);
	check_that(seed, sizes[0] == sizes[1] && memcmp(a, b, sizes[0]) == 0);
	free(a);
	free(b);
}

/* Into a fresh simulation, or into one that has gone another way. */
static void twin_create(Twin *twin, Scenario *s) {
	CalTransition report;
	CalError error = {0};
	size_t size;
	char *bytes = bytes_of(s->sim, &size, s->seed);
	twin->s = *s;
	twin->sim = twin->s.sim = sim_of(s->f, s->seed);
	count_modes(twin, s->sim);
	if (s->seed / RESTORING % 5 < 2) {
		Scenario other = twin->s;
		other.bodies = cal_desc_body_count(s->f->desc), other.joints = cal_desc_joint_count(s->f->desc);
		other.nodes = s->f->ref->node_count + other.bodies;
		for (int i = 0; i < 4; i++)
			change(&other, i == 0 ? ADD_FLEXIBLE : (Kind)rng_int(&other.r, KINDS), &report, &error);
		check_ok(s->seed, cal_sim_advance(twin->sim, cal_sim_time(twin->sim) + 1e-3, &error));
	}
	if (cal_checkpoint_restore(twin->sim, bytes, size, &error) != CAL_OK)
		check_fail_at(__FILE__, __LINE__, s->seed, "%s", error.text);
	free(bytes);
	check_twins(s->sim, twin->sim, s->seed);
}

/* The change that the scenario has made, with the same numbers. */
static void twin_follow(Twin *twin, const Scenario *s, Kind kind, CalStatus status, const CalError *error) {
	CalTransition report;
	CalError own = {0};
	check_that(s->seed, (Kind)rng_int(&twin->s.r, KINDS) == kind);
	const CalStatus got = change(&twin->s, kind, &report, &own);
	if (got != status || strcmp(own.text, error->text) != 0)
		check_fail_at(__FILE__, __LINE__, s->seed, "%s: \"%s\", its twin: \"%s\"", names[kind], error->text, own.text);
	check_twins(s->sim, twin->sim, s->seed);
	twin->changes += status == CAL_OK;
}

static void advance(const Scenario *s) {
	CalError error;
	if (cal_sim_advance(s->sim, cal_sim_time(s->sim) + 2e-3, &error) < 0)
		check_fail_at(__FILE__, __LINE__, s->seed, "%s", error.text);
}

static void scenario_run(Scenario *s, Twin *twin) {
	Snapshot before, after;
	const int taken = s->seed % RESTORING ? -1 : (int)(s->seed / RESTORING % (CHANGES - 1));
	look(s->sim, &before, s->seed);
	for (int i = 0; i < CHANGES; i++) {
		const Kind kind = (Kind)rng_int(&s->r, KINDS);
		CalTransition report;
		CalError error = {0};
		const CalStatus status = change(s, kind, &report, &error);
		look(s->sim, &after, s->seed);
		if (verbose())
			print_message("seed %llu, %s: %s\n", (unsigned long long)s->seed, names[kind],
			              status == CAL_OK ? "done" : error.text);
		if (status == CAL_OK) {
			s->done[kind]++;
			check_continuous(&before, &after, kind, &s->worst, s->seed);
			check_conserved(&before, &after, &report, kind, &s->worst, s->seed);
		} else {
			s->refused[kind]++;
			check_that(s->seed, error.text[0] != 0 && error.status == status);
			check_that(s->seed, memcmp(&before, &after, sizeof before) == 0);
		}
		before = after;
		if (twin->sim)
			twin_follow(twin, s, kind, status, &error);
		if (i == taken)
			twin_create(twin, s);
	}
	advance(s);
	if (twin->sim) {
		advance(&twin->s);
		check_twins(s->sim, twin->sim, s->seed);
	}
	cal_sim_destroy(twin->sim);
	twin->sim = NULL;
}

static void random_changes_conserve_momentum(void **state) {
	(void)state;
	const char *asked = getenv("CALDER_TEST_SCENARIOS");
	const int count = asked ? atoi(asked) : SCENARIOS;
	Scenario s = {0};
	Twin twin = {0};
	for (uint64_t seed = test_seed(); seed < test_seed() + (uint64_t)count; seed++) {
		scenario_create(&s, seed);
		scenario_run(&s, &twin);
		cal_sim_destroy(s.sim);
	}
	fixture_destroy(s.f);
	for (int k = 0; k < KINDS; k++) {
		if (verbose())
			print_message("%s: %d done, %d refused\n", names[k], s.done[k], s.refused[k]);
		assert_true(count < SCENARIOS || s.done[k] > (k == SPLIT ? 2 : 20)); // few groups are of two parts
	}
	assert_true(count < SCENARIOS || (twin.flexible > 20 && twin.locked > 10 && twin.changes > 200));
	if (verbose())
		print_message(
			"checkpoints with flexible bodies that came in: %d, with locked modes: %d; changes after one: %d\n",
			twin.flexible, twin.locked, twin.changes);
	if (verbose())
		print_message("worst: position %.2e, orientation %.2e, velocity %.2e, momentum %.2e, energy lost %.2e\n",
		              s.worst.position, s.worst.orientation, s.worst.velocity, s.worst.momentum, s.worst.energy);
}

/* A free-flying tree is cut in two; its parts are joined at any two nodes, in the tree and as a loop: one motion. */
static void attaching_in_the_tree_equals_a_loop(void **state) {
	(void)state;
	int compared = 0;
	for (uint64_t seed = test_seed(); seed < test_seed() + 100; seed++) {
		CalJointType types[CAL_JOINT_TYPE_COUNT];
		Rng r = rng_make(seed);
		TreeOptions options = seed % 2 ? tree_flexible(seed) : tree_any(seed);
		options.bodies = 3 + (int)(seed % 5), options.floating = 1, options.springs = options.massless = 0;
		options.prescribed = seed % 3 == 0, options.max_modes = 4, options.no_gravity = 1;
		Fixture *f = fixture_random(seed, options, CAL_SOLVER_RECURSIVE);
		const CalSimOptions sim = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
		const int nodes = f->ref->node_count + f->nb;
		const CalJointId cut = {2 + (uint32_t)rng_int(&r, f->nb - 1)};
		const CalNodeId a = {1 + (uint32_t)rng_int(&r, nodes)}, b = {1 + (uint32_t)rng_int(&r, nodes)};
		CalJointDef joint = cal_joint_def(types[rng_int(&r, joint_rows_of_loops(types))]);
		joint.name = "new", joint.axis = rng_direction(&r), joint.pitch = joint.type == CAL_JOINT_SCREW ? 0.3 : 0;
		Snapshot seen[2];
		CalTransition report[2];
		CalStatus status[2];
		CalError error = {0};
		int trees[2] = {0};
		for (int loop = 0; loop < 2; loop++) {
			CalSim *s;
			CalJointId id;
			CalJointState now = CAL_JOINT_OPEN;
			check_ok(seed, cal_sim_create(f->desc, &sim, &s, &error));
			cal_state_copy(cal_sim_model(s, 0), &f->state, cal_sim_state(s, 0));
			check_ok(seed, cal_sim_reserve(s, f->desc, &(CalSimCapacity){.groups = 1, .joints = 1}, &error));
			status[loop] = cal_sim_detach(s, cut, "part", NULL, &error);
			const CalAttachOptions how = {.fit = CAL_FIT_AT_A, .loop = loop};
			if (status[loop] == CAL_OK)
				status[loop] = cal_sim_attach(s, a, &joint, b, &how, &id, &report[loop], &error);
			if (status[loop] == CAL_OK)
				check_ok(seed, cal_sim_joint_state(s, id, &now, NULL));
			trees[loop] = now == CAL_JOINT_IN_TREE;
			look(s, &seen[loop], seed);
			cal_sim_destroy(s);
		}
		if (status[0] == CAL_OK && status[1] == CAL_OK && trees[0] && !trees[1]) {
			compared++;
			check_close_scaled(seed, "energy lost", 1, &report[0].kinetic_lost, &report[1].kinetic_lost,
			                   seen[0].kinetic, 1e-11);
			for (int i = 0; i < MAX_BODIES; i++) {
				const Seen *x = &seen[0].body[i], *y = &seen[1].body[i];
				check_close_scaled(seed, "w", 3, &x->velocity.angular.x, &y->velocity.angular.x, 1, 1e-10);
				check_close_scaled(seed, "v", 3, &x->velocity.linear.x, &y->velocity.linear.x, seen[0].reach, 1e-10);
				check_close_scaled(seed, "modal speeds", x->modes, x->eta_dot, y->eta_dot, 1, 1e-10);
			}
		}
		fixture_destroy(f);
	}
	assert_true(compared > 20);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes_conserve_momentum),
		cmocka_unit_test(attaching_in_the_tree_equals_a_loop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
