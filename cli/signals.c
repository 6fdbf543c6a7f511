// SPDX-License-Identifier: Apache-2.0
/*
 * signals.c — finding signals by name, naming their columns, and taking their values.
 *
 * Units of coordinates and speeds follow from the joint type; for sequences and joints of the user's own
 * they follow from the motion itself: a freedom that turns its body is an angle.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"

static const char *const angle_units[] = {"rad", "rad/s", "rad/s^2"};
static const char *const length_units[] = {"m", "m/s", "m/s^2"};

/* ---- columns ----------------------------------------------------------------------------------- */

static bool grow(void **array, int count, int *capacity, size_t element) {
	if (count < *capacity)
		return true;
	int wanted = *capacity ? 2 * *capacity : 32;
	void *more = realloc(*array, (size_t)wanted * element);
	if (!more)
		return false;
	*array = more;
	*capacity = wanted;
	return true;
}

/* Appends the column "prefix:label [unit]". */
static void add_column(SignalSet *set, const char *prefix, const char *label, const char *unit) {
	if (!grow((void **)&set->columns, set->column_count, &set->column_capacity, sizeof *set->columns)) {
		set->failed = true;
		return;
	}
	Column *column = &set->columns[set->column_count++];
	const char *colon = prefix[0] ? ":" : "";
	snprintf(column->name, sizeof column->name, "%s%s%s", prefix, colon, label);
	column->unit = unit;
	column->label = (int)(strlen(prefix) + strlen(colon));
}

static void add_columns(SignalSet *set, const char *prefix, const char *const *labels, int count, const char *unit) {
	for (int i = 0; i < count; i++)
		add_column(set, prefix, labels[i], unit);
}

static Signal *add_signal(SignalSet *set, SignalKind kind, const char *name, int group, int index) {
	if (!grow((void **)&set->signals, set->signal_count, &set->signal_capacity, sizeof *set->signals)) {
		set->failed = true;
		return NULL;
	}
	Signal *signal = &set->signals[set->signal_count++];
	*signal = (Signal){.kind = kind, .name = name, .group = group, .index = index, .first = set->column_count};
	return signal;
}

void signals_init(SignalSet *set) {
	*set = (SignalSet){0};
	add_column(set, "", "t", "s");
}

void signals_free(SignalSet *set) {
	free(set->signals);
	free(set->columns);
	*set = (SignalSet){0};
}

/* ---- coordinates and speeds -------------------------------------------------------------------- */

/* For joints whose type does not say it: does the freedom turn the body? Looks at the Jacobian. */
static bool dof_turns_body(CalSim *sim, int group, const CalBodyInfo *body, int u) {
	CalSimView view;
	int nu = cal_model_u_count(cal_sim_model(sim, group));
	double *jacobian = calloc(6 * (size_t)nu, sizeof(double));
	bool turns = false;
	if (jacobian && cal_sim_observe(sim, group, &view) == CAL_OK &&
	    cal_node_jacobian(view.model, view.work, body->head_node, jacobian) == CAL_OK)
		for (int row = 0; row < 3; row++)
			turns |= fabs(jacobian[row * nu + u]) > 1e-12;
	free(jacobian);
	return turns;
}

static bool dof_is_angle(CalSim *sim, int group, const CalBodyInfo *body, int u) {
	int i = u - body->u;
	switch (body->type) {
	case CAL_JOINT_PRISMATIC:
		return false;
	case CAL_JOINT_CYLINDRICAL:
		return i == 0;
	case CAL_JOINT_PLANAR:
		return i == 2;
	case CAL_JOINT_FREE:
		return i >= 3;
	case CAL_JOINT_SEQUENCE:
	case CAL_JOINT_USER:
		return dof_turns_body(sim, group, body, u);
	default:
		return true;
	}
}

/* order: 0 coordinates (of a freedom), 1 speeds, 2 accelerations. Modal coordinates have no unit of their own. */
static const char *dof_unit(CalSim *sim, int group, const CalBodyInfo *body, int u, int order) {
	static const char *const modal_units[] = {"1", "1/s", "1/s^2"};
	if (u >= body->u + body->nu)
		return modal_units[order];
	return dof_is_angle(sim, group, body, u) ? angle_units[order] : length_units[order];
}

/* Coordinates that belong to no freedom are parts of quaternions. */
static const char *q_unit(CalSim *sim, int group, const CalBodyInfo *body, int q) {
	for (int u = body->u; u < body->u + body->nu; u++) {
		CalDofInfo dof;
		if (cal_model_dof(cal_sim_model(sim, group), u, &dof) == CAL_OK && dof.q == q)
			return dof_unit(sim, group, body, u, 0);
	}
	return "1";
}

static void add_body_columns(SignalSet *set, CalSim *sim, SignalKind kind, int group, const CalBodyInfo *body) {
	static const char *const prefixes[] = {"q", "u", "udot"};
	const CalModel *model = cal_sim_model(sim, group);
	bool is_q = kind == SIGNAL_Q;
	int first = is_q ? body->q : body->u, count = (is_q ? body->nq : body->nu) + body->modes;
	for (int i = first; i < first + count; i++) {
		char name[128] = "";
		if (is_q)
			cal_model_q_name(model, i, name, sizeof name);
		else
			cal_model_dof_name(model, i, name, sizeof name);
		const char *unit = is_q ? q_unit(sim, group, body, i) : dof_unit(sim, group, body, i, (int)kind);
		add_column(set, prefixes[kind], name, unit);
	}
}

/* Of all joints of a group (body < 0) or of the joint that carries a body. */
static void add_joint_signal(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, int group, int body) {
	const CalModel *model = cal_sim_model(sim, group);
	CalBodyInfo info = {0};
	if (body >= 0)
		cal_model_body(model, body, &info);
	int first = kind == SIGNAL_Q ? info.q : info.u;
	if (!add_signal(set, kind, name, group, body >= 0 ? first : 0))
		return;
	for (int i = body >= 0 ? body : 0; i < (body >= 0 ? body + 1 : cal_model_body_count(model)); i++)
		if (cal_model_body(model, i, &info) == CAL_OK)
			add_body_columns(set, sim, kind, group, &info);
}

/* ---- the other signals ------------------------------------------------------------------------- */

static void add_group_signal(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, int group) {
	static const char *const energies[] = {"kinetic", "gravity", "elastic", "total"};
	static const char *const linear[] = {"px", "py", "pz"}, *const angular[] = {"Lx", "Ly", "Lz"};
	char prefix[128];
	bool several = cal_sim_group_count(sim) > 1;
	snprintf(prefix, sizeof prefix, "%s%s%s", name, several ? "@" : "",
	         several ? cal_model_name(cal_sim_model(sim, group)) : "");
	if (!add_signal(set, kind, name, group, 0))
		return;
	if (kind == SIGNAL_ENERGY) {
		add_columns(set, prefix, energies, 4, "J");
	} else {
		add_columns(set, prefix, linear, 3, "kg m/s");
		add_columns(set, prefix, angular, 3, "kg m^2/s");
	}
}

static void add_node_signal(SignalSet *set, const char *name, int group, int node) {
	static const char *const position[] = {"x", "y", "z"}, *const quaternion[] = {"qw", "qx", "qy", "qz"};
	static const char *const velocity[] = {"vx", "vy", "vz"}, *const turning[] = {"wx", "wy", "wz"};
	if (!add_signal(set, SIGNAL_NODE, name, group, node))
		return;
	add_columns(set, name, position, 3, "m");
	add_columns(set, name, quaternion, 4, "1");
	add_columns(set, name, velocity, 3, "m/s");
	add_columns(set, name, turning, 3, "rad/s");
}

static void add_reaction_signal(SignalSet *set, const char *name, int group, int body) {
	static const char *const moment[] = {"mx", "my", "mz"}, *const force[] = {"fx", "fy", "fz"};
	if (!add_signal(set, SIGNAL_REACTION, name, group, body))
		return;
	add_columns(set, name, moment, 3, "N m");
	add_columns(set, name, force, 3, "N");
}

/* ---- look-up ----------------------------------------------------------------------------------- */

static SignalFound add_object(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, const char *object) {
	for (int group = 0; group < cal_sim_group_count(sim); group++) {
		const CalModel *model = cal_sim_model(sim, group);
		int index = kind == SIGNAL_NODE ? cal_model_find_node(model, object) : cal_model_find_joint(model, object);
		if (index < 0)
			continue;
		if (kind == SIGNAL_NODE)
			add_node_signal(set, name, group, index);
		else if (kind == SIGNAL_REACTION)
			add_reaction_signal(set, name, group, index);
		else
			add_joint_signal(set, sim, kind, name, group, index);
		return SIGNAL_FOUND;
	}
	return SIGNAL_NO_OBJECT;
}

static SignalFound add_everywhere(SignalSet *set, CalSim *sim, SignalKind kind, const char *name) {
	for (int group = 0; group < cal_sim_group_count(sim); group++) {
		if (kind == SIGNAL_ENERGY || kind == SIGNAL_MOMENTUM)
			add_group_signal(set, sim, kind, name, group);
		else
			add_joint_signal(set, sim, kind, name, group, -1);
	}
	return SIGNAL_FOUND;
}

static SignalFound add_named(SignalSet *set, CalSim *sim, const char *name) {
	static const struct {
		const char *word;
		SignalKind kind;
		bool alone, with_object; // may stand alone, may be followed by ":OBJECT"
	} words[] = {
		{"q", SIGNAL_Q, true, true},
		{"u", SIGNAL_U, true, true},
		{"udot", SIGNAL_UDOT, true, true},
		{"energy", SIGNAL_ENERGY, true, false},
		{"momentum", SIGNAL_MOMENTUM, true, false},
		{"node", SIGNAL_NODE, false, true},
		{"reaction", SIGNAL_REACTION, false, true},
	};
	size_t length = strcspn(name, ":");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i].word) != length || strncmp(name, words[i].word, length) != 0)
			continue;
		if (!name[length] && words[i].alone)
			return add_everywhere(set, sim, words[i].kind, name);
		if (name[length] && words[i].with_object)
			return add_object(set, sim, words[i].kind, name, name + length + 1);
	}
	return SIGNAL_UNKNOWN;
}

SignalFound signals_add(SignalSet *set, CalSim *sim, const char *name) {
	for (int i = 0; i < set->signal_count; i++)
		if (strcmp(set->signals[i].name, name) == 0)
			return SIGNAL_FOUND;
	int before = set->signal_count;
	SignalFound found = add_named(set, sim, name);
	for (int i = before; i < set->signal_count; i++)
		set->signals[i].count =
			(i + 1 < set->signal_count ? set->signals[i + 1].first : set->column_count) - set->signals[i].first;
	return set->failed ? SIGNAL_NO_MEMORY : found;
}

void signals_complain(char *text, size_t size, const char *name, SignalFound found) {
	if (found == SIGNAL_NO_OBJECT)
		snprintf(text, size, "signal \"%s\": the model has no %s of that name; 'calder info' lists them", name,
		         strncmp(name, "node:", 5) == 0 ? "node" : "joint");
	else if (found == SIGNAL_UNKNOWN)
		snprintf(text, size,
		         "signal \"%s\" is not known; use q, u, udot, q:JOINT, u:JOINT, udot:JOINT, energy, momentum, "
		         "node:BODY/NODE or reaction:JOINT",
		         name);
	else
		snprintf(text, size, "signal \"%s\": out of memory", name);
}

/* ---- values ------------------------------------------------------------------------------------ */

static void put_vec3(double *to, CalVec3 v) {
	to[0] = v.x;
	to[1] = v.y;
	to[2] = v.z;
}

/* The quaternion of R with w >= 0; divides by its largest component. */
static void put_quaternion(double *to, const CalMat3 *R) {
	const double(*m)[3] = R->m;
	double square[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
	                    1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]};
	int k = 0;
	for (int i = 1; i < 4; i++)
		k = square[i] > square[k] ? i : k;
	double products[4][4] = {
		{square[0], m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]},
		{m[2][1] - m[1][2], square[1], m[0][1] + m[1][0], m[0][2] + m[2][0]},
		{m[0][2] - m[2][0], m[0][1] + m[1][0], square[2], m[1][2] + m[2][1]},
		{m[1][0] - m[0][1], m[0][2] + m[2][0], m[1][2] + m[2][1], square[3]},
	};
	double scale = 0.5 / sqrt(square[k]) * (products[k][0] < 0 ? -1 : 1);
	for (int i = 0; i < 4; i++)
		to[i] = scale * products[k][i];
}

static CalStatus sample_node(const CalSimView *view, int node, double *to) {
	CalPose pose;
	CalSpatial velocity;
	CalStatus status = cal_node_pose(view->model, view->work, node, &pose);
	if (status == CAL_OK)
		status = cal_node_velocity(view->model, view->work, node, &velocity);
	if (status != CAL_OK)
		return status;
	put_vec3(to, pose.r);
	put_quaternion(to + 3, &pose.R);
	put_vec3(to + 7, velocity.linear);
	put_vec3(to + 10, velocity.angular);
	return CAL_OK;
}

static CalStatus sample_reaction(const CalSimView *view, int body, double *to) {
	CalSpatial wrench;
	CalStatus status = cal_joint_reaction(view->model, view->work, body, &wrench);
	if (status != CAL_OK)
		return status;
	put_vec3(to, wrench.angular);
	put_vec3(to + 3, wrench.linear);
	return CAL_OK;
}

static CalStatus sample_monitor(CalSim *sim, const Signal *signal, double *to) {
	CalSimMonitor monitor;
	CalStatus status = cal_sim_monitor(sim, signal->group, &monitor);
	if (status != CAL_OK)
		return status;
	if (signal->kind == SIGNAL_ENERGY) {
		double energy[] = {monitor.energy.kinetic, monitor.energy.gravity, monitor.energy.elastic,
		                   monitor.energy.total};
		memcpy(to, energy, sizeof energy);
	} else {
		put_vec3(to, monitor.momentum.linear);
		put_vec3(to + 3, monitor.momentum.angular_origin);
	}
	return CAL_OK;
}

/* Everything that one forward dynamics gives; reactions come last because they use its workspace. */
static CalStatus sample_group(const SignalSet *set, CalSim *sim, int group, double *row) {
	CalSimView view;
	CalStatus status = cal_sim_observe(sim, group, &view);
	bool reactions = false;
	for (int i = 0; i < set->signal_count && status == CAL_OK; i++) {
		const Signal *s = &set->signals[i];
		if (s->group != group)
			continue;
		size_t size = (size_t)s->count * sizeof(double);
		if (s->kind == SIGNAL_Q)
			memcpy(row + s->first, view.state->q + s->index, size);
		else if (s->kind == SIGNAL_U)
			memcpy(row + s->first, view.state->u + s->index, size);
		else if (s->kind == SIGNAL_UDOT)
			memcpy(row + s->first, view.udot + s->index, size);
		else if (s->kind == SIGNAL_NODE)
			status = sample_node(&view, s->index, row + s->first);
		reactions |= s->kind == SIGNAL_REACTION;
	}
	if (reactions && status == CAL_OK)
		status = cal_reactions(view.model, view.state, view.udot, &view.input, view.work);
	for (int i = 0; i < set->signal_count && status == CAL_OK && reactions; i++)
		if (set->signals[i].group == group && set->signals[i].kind == SIGNAL_REACTION)
			status = sample_reaction(&view, set->signals[i].index, row + set->signals[i].first);
	return status;
}

CalStatus signals_sample(const SignalSet *set, CalSim *sim, double *row) {
	CalStatus status = CAL_OK;
	row[0] = cal_sim_time(sim);
	for (int group = 0; group < cal_sim_group_count(sim) && status == CAL_OK; group++)
		status = sample_group(set, sim, group, row);
	for (int i = 0; i < set->signal_count && status == CAL_OK; i++)
		if (set->signals[i].kind == SIGNAL_ENERGY || set->signals[i].kind == SIGNAL_MOMENTUM)
			status = sample_monitor(sim, &set->signals[i], row + set->signals[i].first);
	return status;
}
