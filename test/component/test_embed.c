// SPDX-License-Identifier: Apache-2.0
/*
 * test_embed.c — constraint embedding: machines with a four-bar of bodies in general position, a tool on its coupler and, in
 * some, a loop that stays, embedded and with multipliers. Mass matrix, forward and inverse dynamics, factors, compliance,
 * kinematics, dependent joints, energy and momentum at random states, motions, singular configurations, and what is refused.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <calder/calder.h>
#include "support/check.h"
#include "support/rng.h"

enum { CASES = 16, MOST = 20 };

/* ---- the machine ------------------------------------------------------------------------------------------- */

typedef struct Bodies {
	CalBodyId base;
	CalNodeId tip; // on the coupler
	CalLoopId pin; // the loop
} Bodies;

static CalBodyId add_body(CalDesc *desc, const char *name, double mass, CalVec3 com) {
	CalBodyDef def = {.name = name, .mass = mass, .com = com};
	CalBodyId id;
	const double k = 0.01 * mass;
	def.inertia =
		(CalMat3){{{1.3 * k, 0.1 * k, 0.05 * k}, {0.1 * k, 1.7 * k, -0.08 * k}, {0.05 * k, -0.08 * k, 2.1 * k}}};
	check_ok(0, cal_desc_add_body(desc, &def, &id, NULL));
	return id;
}

static CalNodeId add_node(CalDesc *desc, CalBodyId body, const char *name, double x, double y, double z) {
	CalNodeId id;
	const CalNodeDef def = {.name = name, .placement = {{x, y, z}, {0.8, 0, 0.6, 0}}};
	CalNodeDef plain = def;
	if (strcmp(name, "tip") != 0)
		plain.placement.orientation = (CalQuat){1, 0, 0, 0};
	check_ok(0, cal_desc_add_node(desc, body, &plain, &id, NULL));
	return id;
}

/* Of all joints with one dof that are attached next: a spring, a damper and a rotor, different for each. */
static bool loaded;

static void attach(CalDesc *desc, CalNodeId from, CalJointType type, const char *name, CalVec3 axis, CalBodyId to) {
	CalJointDef joint = cal_joint_def(type);
	joint.name = name;
	joint.axis = axis;
	if (loaded && type == CAL_JOINT_REVOLUTE)
		joint.dof[0] = (CalDofDef){.stiffness = 3 + name[0] % 7,
		                           .rest = 0.1 * (name[1] % 5),
		                           .damping = 0.02 * (name[1] % 6),
		                           .rotor_inertia = 0.01 * (name[2] % 4),
		                           .gear_ratio = 2};
	check_ok(0, cal_desc_attach(desc, from, &joint, cal_desc_body_node(desc, to), NULL, NULL));
}

static const CalVec3 z = {0, 0, 1};

/* Base, crank, coupler, rocker; the base stays to be attached. */
static Bodies build_bodies(CalDesc *desc) {
	Bodies b = {.base = add_body(desc, "base", 3, (CalVec3){0.1, -0.05, 0.02})};
	const CalNodeId a = add_node(desc, b.base, "a", 0.1, 0.2, 0.3), c = add_node(desc, b.base, "b", 0.6, 0.2, 0.3);
	const CalBodyId crank = add_body(desc, "crank", 1, (CalVec3){0.1, 0.02, 0.03});
	const CalBodyId coupler = add_body(desc, "coupler", 2.5, (CalVec3){0.2, 0.1, -0.05});
	const CalBodyId rocker = add_body(desc, "rocker", 2, (CalVec3){0.2, -0.03, 0.01});
	attach(desc, a, CAL_JOINT_REVOLUTE, "crank", z, crank);
	attach(desc, add_node(desc, crank, "end", 0.2, 0, 0), CAL_JOINT_REVOLUTE, "elbow", z, coupler);
	attach(desc, c, CAL_JOINT_REVOLUTE, "rocker", z, rocker);
	CalLoopDef pin = cal_loop_def(CAL_LOOP_REVOLUTE);
	pin.name = "pin";
	const CalNodeId from = add_node(desc, coupler, "end", 0.5, 0, 0), to = add_node(desc, rocker, "end", 0.4, 0, 0);
	check_ok(0, cal_desc_close_loop(desc, from, &pin, to, &b.pin, NULL));
	b.tip = add_node(desc, coupler, "tip", 0.3, 0.25, 0.1);
	return b;
}

/* stay: a loop from the tool to the ground that is not embedded. */
static void add_tool(CalDesc *desc, CalNodeId tip, int stay) {
	const CalBodyId tool = add_body(desc, "tool", 0.8, (CalVec3){0.05, 0.1, 0.2});
	attach(desc, tip, CAL_JOINT_UNIVERSAL, "tool", (CalVec3){1, 0, 0}, tool);
	CalLoopDef guide = cal_loop_def(CAL_LOOP_INPLANE);
	guide.name = "guide";
	guide.a.position.z = 0.4;
	const CalNodeId probe = add_node(desc, tool, "probe", 0.1, 0.2, 0.3);
	if (stay)
		check_ok(0, cal_desc_close_loop(desc, (CalNodeId){0}, &guide, probe, NULL, NULL));
}

typedef struct Machine {
	CalDesc *desc;
	CalModel *model;
	CalWork *work;
	CalState state;
	int nq, nu;
} Machine;

static Machine compile(CalDesc *desc) {
	Machine m = {.desc = desc};
	CalError error = {0};
	if (cal_model_compile(desc, &(CalCompileOptions){.solver = CAL_SOLVER_RECURSIVE}, &m.model, &error) != CAL_OK)
		fail_msg("%s", error.text);
	check_ok(0, cal_work_create(m.model, &m.work));
	m.nq = cal_model_q_count(m.model), m.nu = cal_model_u_count(m.model);
	m.state = (CalState){.q = calloc((size_t)m.nq, sizeof(double)), .u = calloc((size_t)m.nu, sizeof(double))};
	cal_config_neutral(m.model, m.state.q);
	return m;
}

static void machine_destroy(Machine *m) {
	cal_work_destroy(m->work);
	cal_model_destroy(m->model);
	cal_desc_destroy(m->desc);
	free(m->state.q), free(m->state.u);
}

static CalDesc *new_desc(CalVec3 gravity) {
	CalDesc *desc;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_desc_set_gravity(desc, (CalGroupId){0}, gravity));
	return desc;
}

/* The same machine with its loops and with the four-bar embedded. */
typedef struct Pair {
	Machine flat, link;
	CalProjection *projection; // of the first
	int same[MOST];            // speed of the first that a speed of the second is
	uint8_t independent[MOST]; // those of the first
} Pair;

static const CalVec3 earth = {0.3, -9.81, 1.2};
static const char *const inner[3] = {"crank", "elbow", "rocker"};
static const double start[3] = {1.2, -1.1, 1.6}; // of these: near the closed configuration

static int find_dof(const CalModel *model, const char *name) {
	for (int u = 0; u < cal_model_u_count(model); u++) {
		char text[64];
		cal_model_dof_name(model, u, text, sizeof text);
		if (strcmp(text, name) == 0)
			return u;
	}
	fail_msg("no dof %s", name);
	return -1;
}

static int coordinate_of(const CalModel *model, const char *dof) {
	CalDofInfo info;
	check_ok(0, cal_model_dof(model, find_dof(model, dof), &info));
	return info.q;
}

static CalStatus embed(CalDesc *desc, CalLoopId loop, const char *independent, CalError *error) {
	CalJointGuess guesses[3];
	for (int i = 0; i < 3; i++)
		guesses[i] = (CalJointGuess){cal_desc_find_joint(desc, inner[i]), &start[i], 0};
	const CalJointId chosen = cal_desc_find_joint(desc, independent ? independent : "");
	const CalEmbedDef def = {&loop, 1, &chosen, independent != NULL, guesses, 3};
	return cal_desc_embed(desc, &def, error);
}

static CalDesc *build(CalJointType root, CalVec3 gravity, int stay, CalLoopId *pin) {
	CalDesc *desc = new_desc(gravity);
	const Bodies b = build_bodies(desc);
	attach(desc, (CalNodeId){0}, root, "root", z, b.base);
	add_tool(desc, b.tip, stay);
	*pin = b.pin;
	return desc;
}

static Pair pair_create(CalJointType root, CalVec3 gravity, int stay, const char *independent) {
	Pair p = {0};
	CalError error = {0};
	CalLoopId pin;
	p.flat = compile(build(root, gravity, stay, &pin));
	CalDesc *desc = build(root, gravity, stay, &pin);
	if (embed(desc, pin, independent, &error) != CAL_OK)
		fail_msg("%s", error.text);
	p.link = compile(desc);
	check_that(0, p.link.nu == p.flat.nu - 2);
	check_ok(0, cal_projection_create(p.flat.model, &p.projection));
	for (int u = 0; u < p.link.nu; u++) {
		char name[64];
		cal_model_dof_name(p.link.model, u, name, sizeof name);
		p.same[u] = find_dof(p.flat.model, name);
		p.independent[p.same[u]] = 1;
	}
	return p;
}

static void pair_destroy(Pair *p) {
	cal_projection_destroy(p->projection);
	machine_destroy(&p->link);
	machine_destroy(&p->flat);
}

/* ---- states -------------------------------------------------------------------------------------------------- */

/* All coordinates and speeds of the first machine from those of the second. */
static void copy_state(Pair *p) {
	const double *q, *u;
	CalMechanismInfo info;
	for (int b = 0; b < cal_model_body_count(p->link.model); b++) {
		CalBodyInfo from, to;
		cal_model_body(p->link.model, b, &from);
		cal_model_body(p->flat.model, b, &to);
		memcpy(p->flat.state.q + to.q, p->link.state.q + from.q, sizeof *q * (size_t)from.nq);
		memcpy(p->flat.state.u + to.u, p->link.state.u + from.u, sizeof *q * (size_t)from.nu);
	}
	check_ok(0, cal_model_mechanism(p->link.model, 0, &info));
	check_ok(0, cal_mechanism_motion(p->link.model, 0, &p->link.state, NULL, p->link.work, &q, &u, NULL));
	for (int i = 0; i < 3; i++) {
		p->flat.state.q[coordinate_of(p->flat.model, inner[i])] = q[coordinate_of(info.model, inner[i])];
		p->flat.state.u[find_dof(p->flat.model, inner[i])] = u[find_dof(info.model, inner[i])];
	}
}

static void random_state(Pair *p, Rng *r) {
	double dq[MOST];
	cal_config_neutral(p->link.model, p->link.state.q);
	rng_fill(r, 1, p->link.nu, dq);
	cal_config_integrate(p->link.model, p->link.state.q, dq, p->link.state.q);
	rng_fill(r, 2, p->link.nu, p->link.state.u);
	check_ok(0, cal_loop_project(p->link.model, &p->link.state, NULL, p->link.work, NULL));
	copy_state(p);
	double residual[MOST], rate[MOST];
	check_ok(0, cal_loop_residual(p->flat.model, &p->flat.state, p->flat.work, residual, rate));
	check_that(0, max_abs(cal_model_row_count(p->flat.model), residual) < 1e-11);
	check_that(0, max_abs(cal_model_row_count(p->flat.model), rate) < 1e-11);
}

/* ---- comparisons --------------------------------------------------------------------------------------------- */

/* Place among the independent speeds of the first machine. */
static int column_of(const Pair *p, int u) {
	int column = 0;
	for (int k = 0; k < p->same[u]; k++)
		column += p->independent[k];
	return column;
}

static void compare_forward(Pair *p, Rng *r, double *worst) {
	const int n = p->link.nu;
	double udot[MOST], full[MOST], want[MOST], tau[MOST], applied[MOST] = {0};
	const double *accelerations;
	CalMechanismInfo info;
	rng_fill(r, 5, n, tau);
	for (int u = 0; u < n; u++)
		applied[p->same[u]] = tau[u];
	check_ok(0, cal_forward_dynamics(p->link.model, &p->link.state, &(CalInput){.tau = tau}, p->link.work, udot));
	check_ok(0, cal_forward_dynamics(p->flat.model, &p->flat.state, &(CalInput){.tau = applied}, p->flat.work, full));
	for (int u = 0; u < n; u++)
		want[u] = full[p->same[u]];
	*worst = fmax(*worst, max_difference(n, udot, want) / max_abs(n, want));
	check_close_scaled(0, "udot", n, udot, want, max_abs(n, want), 1e-12);
	check_ok(0, cal_model_mechanism(p->link.model, 0, &info));
	check_ok(0, cal_mechanism_motion(p->link.model, 0, &p->link.state, udot, p->link.work, NULL, NULL, &accelerations));
	for (int i = 0; i < 3; i++)
		check_close_scaled(0, inner[i], 1, &accelerations[find_dof(info.model, inner[i])],
		                   &full[find_dof(p->flat.model, inner[i])], fmax(100, max_abs(p->flat.nu, full)), 1e-10);
}

static void compare_inverse(Pair *p, Rng *r) {
	const int n = p->link.nu;
	double udot[MOST], vdot[MOST], Q[MOST], want[MOST], got[MOST];
	rng_fill(r, 3, n, udot);
	for (int u = 0; u < n; u++)
		vdot[column_of(p, u)] = udot[u];
	const CalProjectionOptions options = {.independent = p->independent};
	check_ok(0, cal_projection_update(p->projection, &p->flat.state, &options, p->flat.work));
	check_ok(0, cal_projected_inverse_dynamics(p->projection, &p->flat.state, vdot, NULL, p->flat.work, Q));
	check_ok(0, cal_inverse_dynamics(p->link.model, &p->link.state, udot, NULL, p->link.work, got));
	for (int u = 0; u < n; u++)
		want[u] = Q[column_of(p, u)];
	check_close_scaled(0, "inverse dynamics", n, got, want, fmax(10, max_abs(n, want)), 1e-11);
}

static void compare_mass(Pair *p) {
	const int n = p->link.nu;
	double M[MOST * MOST], want[MOST * MOST], a, b;
	check_ok(0, cal_mass_matrix(p->link.model, &p->link.state, p->link.work, M));
	check_ok(0, cal_projected_mass(p->projection, &p->flat.state, p->flat.work, want));
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			check_that(0,
			           fabs(M[i * n + j] - want[column_of(p, i) * n + column_of(p, j)]) < 1e-11 * max_abs(n * n, want));
	check_ok(0, cal_mass_factor(p->link.model, &p->link.state, p->link.work));
	check_ok(0, cal_mass_logdet(p->link.model, p->link.work, &a));
	check_ok(0, cal_projected_factor(p->projection, &p->flat.state, p->flat.work));
	check_ok(0, cal_projected_logdet(p->projection, &b));
	check_close_scaled(0, "log det", 1, &a, &b, fmax(1, fabs(b)), 1e-11);
}

static void compare_compliance(Pair *p) {
	double C[36], want[36], scratch[MOST];
	const int a = cal_model_find_node(p->link.model, "coupler/tip"),
			  b = cal_model_find_node(p->flat.model, "coupler/tip");
	check_ok(0, cal_mass_factor(p->link.model, &p->link.state, p->link.work));
	check_ok(0, cal_mass_factor(p->flat.model, &p->flat.state, p->flat.work));
	check_ok(0, cal_node_compliance(p->link.model, p->link.work, &a, 1, scratch, C));
	check_ok(0, cal_node_compliance(p->flat.model, p->flat.work, &b, 1, scratch, want));
	check_close_scaled(0, "compliance", 36, C, want, max_abs(36, want), 1e-10);
}

static void compare_kinematics(Pair *p) {
	double udot[2][MOST];
	const Machine *machine[2] = {&p->link, &p->flat};
	CalEnergy e[2];
	CalMomentum m[2];
	for (int i = 0; i < 2; i++) {
		check_ok(0, cal_energy(machine[i]->model, &machine[i]->state, machine[i]->work, &e[i]));
		check_ok(0, cal_momentum(machine[i]->model, &machine[i]->state, machine[i]->work, &m[i]));
		check_ok(0, cal_forward_dynamics(machine[i]->model, &machine[i]->state, NULL, machine[i]->work, udot[i]));
		check_ok(0, cal_kinematics(machine[i]->model, &machine[i]->state, udot[i], machine[i]->work));
	}
	check_close_scaled(0, "energy", 4, &e[0].kinetic, &e[1].kinetic, fmax(1, max_abs(4, &e[1].kinetic)), 1e-11);
	check_close_scaled(0, "momentum", 13, &m[0].mass, &m[1].mass, fmax(1, max_abs(13, &m[1].mass)), 1e-11);
	check_that(0, cal_model_node_count(p->link.model) == cal_model_node_count(p->flat.model));
	for (int node = 0; node < cal_model_node_count(p->link.model); node++) {
		CalPose pose[2];
		CalSpatial v[2], a[2];
		for (int i = 0; i < 2; i++) {
			check_ok(0, cal_node_pose(machine[i]->model, machine[i]->work, node, &pose[i]));
			check_ok(0, cal_node_velocity(machine[i]->model, machine[i]->work, node, &v[i]));
			check_ok(0, cal_node_acceleration(machine[i]->model, machine[i]->work, node, &a[i]));
		}
		check_close_scaled(0, "pose", 12, &pose[0].R.m[0][0], &pose[1].R.m[0][0], 1, 1e-11);
		check_close_scaled(0, "velocity", 6, &v[0].angular.x, &v[1].angular.x, fmax(1, max_abs(6, &v[1].angular.x)),
		                   1e-11);
		check_close_scaled(0, "acceleration", 6, &a[0].angular.x, &a[1].angular.x,
		                   fmax(100, max_abs(6, &a[1].angular.x)), 1e-10);
	}
}

static void embedded_equals_multipliers(void **state) {
	(void)state;
	static const CalJointType roots[] = {CAL_JOINT_FREE, CAL_JOINT_REVOLUTE, CAL_JOINT_UNIVERSAL, CAL_JOINT_WELD};
	double worst = 0;
	Rng r = rng_make(test_seed());
	for (int i = 0; i < CASES; i++) {
		const int stay = i >= CASES / 2;
		loaded = i / 4 % 2;
		Pair p = pair_create(roots[i % 4], earth, stay, "crank");
		loaded = false;
		for (int k = 0; k < 3; k++) {
			random_state(&p, &r);
			compare_forward(&p, &r, &worst);
			compare_kinematics(&p);
			if (stay)
				continue;
			compare_inverse(&p, &r);
			compare_mass(&p);
			compare_compliance(&p);
		}
		pair_destroy(&p);
	}
	print_message("embedded and with multipliers: accelerations within %.1e\n", worst);
}

/* ---- motions ------------------------------------------------------------------------------------------------- */

static void advance(Machine *m, double t) {
	CalIntegrator *integrator;
	const CalIntegratorOptions options = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-12, .atol = 1e-13};
	check_ok(0, cal_integrator_create(m->model, m->work, &options, &integrator));
	check_ok(0, cal_integrator_advance(integrator, &m->state, t));
	cal_integrator_destroy(integrator);
}

/* Coordinates after 10 s, the crank starting at a speed: how far it turned. */
static double compare_motions(double speed) {
	Pair p = pair_create(CAL_JOINT_WELD, (CalVec3){0}, 0, "crank"); // with gravity it would be chaotic
	const int crank = find_dof(p.link.model, "crank"), at = coordinate_of(p.link.model, "crank");
	const double from = p.link.state.q[at];
	check_close_scaled(0, "start", 1, &from, &start[0], 1, 1e-15); // neutral is where the loop was closed
	p.link.state.u[crank] = speed;
	copy_state(&p);
	advance(&p.link, 10);
	advance(&p.flat, 10);
	double got[MOST], want[MOST];
	for (int u = 0; u < p.link.nu; u++) {
		CalDofInfo a, b;
		cal_model_dof(p.link.model, u, &a);
		cal_model_dof(p.flat.model, p.same[u], &b);
		got[u] = p.link.state.q[a.q], want[u] = p.flat.state.q[b.q];
	}
	const double turned = p.link.state.q[at] - from;
	print_message("after 10 s: crank turned by %.1f rad, coordinates within %.1e\n", turned,
	              max_difference(p.link.nu, got, want));
	check_close_scaled(0, "motion", p.link.nu, got, want, max_abs(p.link.nu, want), 1e-9);
	pair_destroy(&p);
	return turned;
}

/* The crank turns over many times; no drift of the one, projections of the other. */
static void motions_agree(void **state) {
	(void)state;
	check_that(0, fabs(compare_motions(4)) > 20);
}

/* Springs make it swing, dampers and rotors slow it down. */
static void motions_with_springs_agree(void **state) {
	(void)state;
	loaded = true;
	check_that(0, fabs(compare_motions(1)) > 1e-3);
	loaded = false;
}

/* What was evaluated before does not count: the same bits from a new workspace. */
static void evaluations_have_no_history(void **state) {
	(void)state;
	Pair p = pair_create(CAL_JOINT_FREE, earth, 0, "crank");
	Rng r = rng_make(test_seed());
	double udot[MOST], again[MOST];
	CalWork *work;
	for (int i = 0; i < 20; i++) {
		random_state(&p, &r);
		check_ok(0, cal_forward_dynamics(p.link.model, &p.link.state, NULL, p.link.work, udot));
	}
	check_ok(0, cal_work_create(p.link.model, &work));
	check_ok(0, cal_forward_dynamics(p.link.model, &p.link.state, NULL, work, again));
	check_that(0, memcmp(udot, again, sizeof *udot * (size_t)p.link.nu) == 0);
	cal_work_destroy(work);
	pair_destroy(&p);
}

/* ---- choice and refusals ------------------------------------------------------------------------------------- */

static void check_refused(CalDesc *desc, CalLoopId pin, const char *independent, CalStatus want, const char *text) {
	CalError error = {0};
	check_status(0, embed(desc, pin, independent, &error), want);
	if (!strstr(error.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, error.text);
	check_that(0, cal_desc_loop_mechanism(desc, pin) == 0); // as it was
	check_that(0, cal_desc_joint_mechanism(desc, cal_desc_find_joint(desc, "crank")) == 0);
	cal_desc_destroy(desc);
}

static void refusals_name_what_is_wrong(void **state) {
	(void)state;
	CalLoopId pin;
	CalDesc *desc = build(CAL_JOINT_FREE, earth, 0, &pin);
	check_refused(desc, pin, "tool", CAL_ERR_UNSUPPORTED, "joint \"tool\" of an embedded loop: it is not part");
	desc = build(CAL_JOINT_FREE, earth, 0, &pin);
	check_refused(desc, (CalLoopId){7}, NULL, CAL_ERR_ARGUMENT, "no loop with id 7");
	CalError error = {0};
	desc = build(CAL_JOINT_FREE, earth, 0, &pin);
	const CalJointId both[] = {cal_desc_find_joint(desc, "crank"), cal_desc_find_joint(desc, "rocker")};
	check_status(0, cal_desc_embed(desc, &(CalEmbedDef){&pin, 1, both, 2, NULL, 0}, &error), CAL_ERR_MODEL);
	check_that(0, cal_desc_loop_mechanism(desc, pin) == 0);
	check_status(0, cal_desc_embed(NULL, NULL, &error), CAL_ERR_ARGUMENT);
	const CalLoopId twice[] = {pin, pin};
	check_status(0, cal_desc_embed(desc, &(CalEmbedDef){twice, 2, NULL, 0, NULL, 0}, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "loop \"pin\" cannot be embedded: it is embedded already, or listed twice"));
	check_ok(0, embed(desc, pin, "crank", &error)); // and now it can
	cal_desc_destroy(desc);
}

/* A loop with a drive depends on time. */
static void drives_are_refused(void **state) {
	(void)state;
	CalDesc *desc = new_desc(earth);
	const CalBodyId arm = add_body(desc, "arm", 1, (CalVec3){0.1, 0, 0});
	CalLoopDef loop = cal_loop_def(CAL_LOOP_DISTANCE);
	CalLoopId id;
	CalError error = {0};
	loop.name = "pin", loop.length = 1;
	loop.drive[0].speed = 1;
	attach(desc, (CalNodeId){0}, CAL_JOINT_REVOLUTE, "crank", z, arm);
	check_ok(0, cal_desc_close_loop(desc, (CalNodeId){0}, &loop, add_node(desc, arm, "end", 1, 0, 0), &id, NULL));
	check_status(0, cal_desc_embed(desc, &(CalEmbedDef){.loops = &id, .loop_count = 1}, &error), CAL_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.text, "loop \"pin\" cannot be embedded: it is driven"));
	cal_desc_destroy(desc);
}

/* The rocker cannot turn over: at its end the evaluation fails, and the fault names loop and joint. */
static void dead_center_is_named(void **state) {
	(void)state;
	Pair p = pair_create(CAL_JOINT_WELD, earth, 0, "rocker");
	CalError error = {0};
	double udot[MOST];
	check_ok(0, cal_forward_dynamics(p.link.model, &p.link.state, NULL, p.link.work, udot));
	check_ok(0, cal_mechanism_fault(p.link.model, &p.link.state, p.link.work, &error));
	p.link.state.q[coordinate_of(p.link.model, "rocker")] += 2.5;
	check_status(0, cal_forward_dynamics(p.link.model, &p.link.state, NULL, p.link.work, udot), CAL_NOT_FINITE);
	check_that(0, cal_mechanism_fault(p.link.model, &p.link.state, p.link.work, &error) == CAL_NOT_CONVERGED);
	assert_non_null(
		strstr(error.text, "embedded loop \"pin\": the loop cannot be closed where the independent joint \"rocker\""));
	pair_destroy(&p);
}

/* Without a name the choice is by rank; a known joint goes before. */
static void known_joints_are_independent(void **state) {
	(void)state;
	for (int i = 0; i < 3; i++) {
		CalLoopId pin;
		CalDesc *desc = build(CAL_JOINT_FREE, earth, 0, &pin);
		CalJointGuess guesses[3];
		for (int k = 0; k < 3; k++)
			guesses[k] = (CalJointGuess){cal_desc_find_joint(desc, inner[k]), &start[k], k == i};
		check_ok(0, cal_desc_embed(desc, &(CalEmbedDef){&pin, 1, NULL, 0, guesses, 3}, NULL));
		for (int k = 0; k < 3; k++)
			check_that(0, cal_desc_joint_independent(desc, guesses[k].joint) == (k == i));
		cal_desc_destroy(desc);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(embedded_equals_multipliers), cmocka_unit_test(motions_agree),
		cmocka_unit_test(motions_with_springs_agree),  cmocka_unit_test(evaluations_have_no_history),
		cmocka_unit_test(refusals_name_what_is_wrong), cmocka_unit_test(drives_are_refused),
		cmocka_unit_test(dead_center_is_named),        cmocka_unit_test(known_joints_are_independent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
