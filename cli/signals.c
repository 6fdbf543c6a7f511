// SPDX-License-Identifier: Apache-2.0
/*
 * signals.c — finding signals by name and naming their columns.
 *
 * Units of coordinates and speeds follow from the joint type; for sequences and joints of the user's own
 * they follow from the motion itself: a dof that turns its body is an angle.
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "signals.h"

/* Of coordinates, speeds, accelerations and forces. */
static const char *const angle_units[] = {"rad", "rad/s", "rad/s^2", "N m"};
static const char *const length_units[] = {"m", "m/s", "m/s^2", "N"};
static const char *const modal_units[] = {"1", "1/s", "1/s^2", "J"};

const SignalWord signal_words[] = {
	{"q", SIGNAL_Q, true, true},
	{"u", SIGNAL_U, true, true},
	{"udot", SIGNAL_UDOT, true, true},
	{"force", SIGNAL_FORCE, true, true},
	{"energy", SIGNAL_ENERGY, true, false},
	{"momentum", SIGNAL_MOMENTUM, true, false},
	{"pose", SIGNAL_POSE, true, true},
	{"velocity", SIGNAL_VELOCITY, true, true},
	{"acceleration", SIGNAL_ACCELERATION, true, true},
	{"node", SIGNAL_NODE, false, true},
	{"wrench", SIGNAL_WRENCH, false, true},
	{"deflection", SIGNAL_DEFLECTION, false, true},
	{"reaction", SIGNAL_REACTION, true, true},
	{"loop", SIGNAL_LOOP, false, true},
	{"residual", SIGNAL_RESIDUAL, true, true},
	{"multiplier", SIGNAL_MULTIPLIER, true, true},
	{"device", SIGNAL_DEVICE, true, true},
	{"event", SIGNAL_EVENT, true, true},
	{"balance", SIGNAL_BALANCE, true, false},
	{"total_momentum", SIGNAL_TOTAL, true, false},
};
const int signal_word_count = sizeof signal_words / sizeof signal_words[0];

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

/* A text that lives as long as the set; "" when out of memory. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static const char *
keep_text(SignalSet *set, const char *format, ...) {
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	if (!text || !grow((void **)&set->texts, set->text_count, &set->text_capacity, sizeof *set->texts)) {
		free(text);
		set->failed = true;
		return "";
	}
	set->texts[set->text_count++] = text;
	return text;
}

/* The name that the library gives an element of a model, in the scratch of the set; "" when out of memory. */
static const char *element_name(SignalSet *set, int (*name)(const CalModel *, int, char *, size_t),
                                const CalModel *model, int index) {
	int length = name(model, index, set->scratch, set->scratch_size);
	if (length >= 0 && (size_t)length >= set->scratch_size) {
		char *more = realloc(set->scratch, (size_t)length + 1);
		if (!more) {
			set->failed = true;
			return "";
		}
		set->scratch = more;
		set->scratch_size = (size_t)length + 1;
		name(model, index, set->scratch, set->scratch_size);
	}
	return length >= 0 && set->scratch ? set->scratch : "";
}

/* Appends the column "prefix:label [unit]". */
static void add_column(SignalSet *set, const char *prefix, const char *label, const char *unit) {
	const char *colon = prefix[0] ? ":" : "";
	if (!grow((void **)&set->columns, set->column_count, &set->column_capacity, sizeof *set->columns) ||
	    !grow((void **)&set->places, set->column_count, &set->place_capacity, sizeof *set->places)) {
		set->failed = true;
		return;
	}
	set->places[set->column_count] = (ColumnPlace){.at = -1, .dof = -1};
	set->columns[set->column_count++] = (Column){.name = keep_text(set, "%s%s%s", prefix, colon, label),
	                                             .unit = unit,
	                                             .label = (int)(strlen(prefix) + strlen(colon))};
}

static void add_columns(SignalSet *set, const char *prefix, const char *const *labels, int count, const char *unit) {
	for (int i = 0; i < count; i++)
		add_column(set, prefix, labels[i], unit);
}

static Signal *add_signal(SignalSet *set, SignalKind kind, const char *name) {
	if (!grow((void **)&set->signals, set->signal_count, &set->signal_capacity, sizeof *set->signals)) {
		set->failed = true;
		return NULL;
	}
	Signal *signal = &set->signals[set->signal_count++];
	*signal = (Signal){
		.kind = kind, .name = name, .group = -1, .index = -1, .first = set->column_count, .only = -1, .next = -1};
	return signal;
}

static CalNodeId node_id(const CalModel *model, int node) {
	CalNodeInfo info = {0};
	cal_model_node(model, node, &info);
	return info.id;
}

static CalLoopId loop_id(const CalModel *model, int loop) {
	CalLoopInfo info = {0};
	cal_model_loop(model, loop, &info);
	return info.id;
}

static CalJointId joint_id(const CalModel *model, int body) {
	CalBodyInfo info = {0};
	cal_model_body(model, body, &info);
	return info.joint_id;
}

/* Names of the signals and columns that were added, from these on. */
static void add_names(SignalSet *set, const char *name, int from_column) {
	for (int i = from_column; i < set->column_count; i++)
		set->failed |= !name_table_add(&set->names, set->columns[i].name, i);
	set->failed |= !name_table_add(&set->names, name, -1);
}

void signals_init(SignalSet *set) {
	*set = (SignalSet){0};
	add_column(set, "", "t", "s");
	add_names(set, "t", 0);
}

void signals_free(SignalSet *set) {
	free(set->signals);
	free(set->columns);
	free(set->places);
	for (int i = 0; i < set->text_count; i++)
		free(set->texts[i]);
	free(set->texts);
	free(set->scratch);
	free(set->groups);
	free(set->first);
	free(set->last);
	name_table_free(&set->names);
	free(set->values);
	*set = (SignalSet){0};
}

/* ---- coordinates and speeds -------------------------------------------------------------------- */

/* For joints whose type does not say it: does the dof turn the body? The Jacobian shows it. */
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
	CalCoordinateInfo speed = {0};
	cal_model_speed(cal_sim_model(sim, group), u, &speed);
	return speed.kind == CAL_COORDINATE_USER ? dof_turns_body(sim, group, body, u) : speed.kind == CAL_COORDINATE_ANGLE;
}

/* order: 0 coordinates (of a dof), 1 speeds, 2 accelerations, 3 forces. Modal coordinates have no unit of their own. */
static const char *dof_unit(CalSim *sim, int group, const CalBodyInfo *body, int u, int order) {
	if (u >= body->u + body->nu)
		return modal_units[order];
	return dof_is_angle(sim, group, body, u) ? angle_units[order] : length_units[order];
}

/* Coordinates that belong to no dof are parts of quaternions. */
static const char *q_unit(CalSim *sim, int group, const CalBodyInfo *body, int q) {
	for (int u = body->u; u < body->u + body->nu; u++) {
		CalDofInfo dof;
		if (cal_model_dof(cal_sim_model(sim, group), u, &dof) == CAL_OK && dof.q == q)
			return dof_unit(sim, group, body, u, 0);
	}
	return "1";
}

static const char *coordinate_name(SignalSet *set, const CalModel *model, SignalKind kind, int i) {
	return element_name(set, kind == SIGNAL_Q ? cal_model_q_name : cal_model_dof_name, model, i);
}

/* The dof that a coordinate belongs to, -1: it is part of a quaternion. */
static int dof_of(const CalModel *model, const CalBodyInfo *body, int q) {
	for (int u = body->u; u < body->u + body->nu; u++) {
		CalDofInfo dof;
		if (cal_model_dof(model, u, &dof) == CAL_OK && dof.q == q)
			return u - body->u;
	}
	return -1;
}

/* Coordinates or speeds first .. first + count - 1 of the group, which are one after the other in their object. */
static void add_coordinates(SignalSet *set, CalSim *sim, SignalKind kind, int group, const CalBodyInfo *body, int first,
                            int count) {
	static const char *const prefixes[] = {"q", "u", "udot", "force"};
	const CalModel *model = cal_sim_model(sim, group);
	bool is_q = kind == SIGNAL_Q;
	for (int i = 0; i < count; i++) {
		const char *name = coordinate_name(set, model, kind, first + i),
				   *unit =
					   is_q ? q_unit(sim, group, body, first + i) : dof_unit(sim, group, body, first + i, (int)kind);
		add_column(set, prefixes[kind], name, unit);
		if (set->failed)
			return;
		set->places[set->column_count - 1].of = i;
		set->places[set->column_count - 1].dof = is_q ? dof_of(model, body, first + i) : i;
	}
}

/* The joint that carries a body is one signal, the modes of the body are another: they may part. */
static void add_joint_signal(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, int group, int index) {
	CalBodyInfo body;
	bool is_q = kind == SIGNAL_Q;
	if (cal_model_body(cal_sim_model(sim, group), index, &body) != CAL_OK)
		return;
	int first = is_q ? body.q : body.u, count = is_q ? body.nq : body.nu;
	Signal *joint = count ? add_signal(set, kind, name) : NULL;
	if (joint) {
		joint->joint = body.joint_id;
		add_coordinates(set, sim, kind, group, &body, first, count);
	}
	Signal *modes = body.modes ? add_signal(set, kind, name) : NULL;
	if (modes) {
		modes->body = body.id;
		add_coordinates(set, sim, kind, group, &body, first + count, body.modes);
	}
}

/* ---- the other signals ------------------------------------------------------------------------- */

static void add_group_signal(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, int group) {
	static const char *const energies[] = {"kinetic", "gravity", "elastic", "total"};
	static const char *const linear[] = {"px", "py", "pz"}, *const angular[] = {"Lx", "Ly", "Lz"};
	bool several = cal_sim_group_count(sim) > 1;
	const char *group_name = cal_model_name(cal_sim_model(sim, group));
	const char *prefix = keep_text(set, "%s%s%s", name, several ? "@" : "", several ? group_name : "");
	Signal *signal = add_signal(set, kind, name);
	if (!signal || !grow((void **)&set->groups, set->group_count, &set->group_capacity, sizeof *set->groups)) {
		set->failed = true;
		return;
	}
	signal->number = set->group_count;
	set->groups[set->group_count++] = keep_text(set, "%s", group_name);
	if (kind == SIGNAL_ENERGY) {
		add_columns(set, prefix, energies, 4, "J");
	} else {
		add_columns(set, prefix, linear, 3, "kg m/s");
		add_columns(set, prefix, angular, 3, "kg m^2/s");
	}
}

/* Signals of a node: which of its quantities, in this order. */
static void add_node_signal(SignalSet *set, SignalKind kind, const char *name, const char *prefix, CalNodeId node) {
	static const char *const position[] = {"x", "y", "z"}, *const quaternion[] = {"qw", "qx", "qy", "qz"};
	static const char *const velocity[] = {"vx", "vy", "vz"}, *const turning[] = {"wx", "wy", "wz"};
	static const char *const rate[] = {"ax", "ay", "az"}, *const turning_rate[] = {"alx", "aly", "alz"};
	Signal *signal = add_signal(set, kind, name);
	if (!signal)
		return;
	signal->node = node;
	if (kind == SIGNAL_NODE || kind == SIGNAL_POSE) {
		add_columns(set, prefix, position, 3, "m");
		add_columns(set, prefix, quaternion, 4, "1");
	}
	if (kind == SIGNAL_NODE || kind == SIGNAL_VELOCITY) {
		add_columns(set, prefix, velocity, 3, "m/s");
		add_columns(set, prefix, turning, 3, "rad/s");
	}
	if (kind == SIGNAL_ACCELERATION) {
		add_columns(set, prefix, rate, 3, "m/s^2");
		add_columns(set, prefix, turning_rate, 3, "rad/s^2");
	}
}

static void add_deflection_signal(SignalSet *set, const char *name, CalNodeId node) {
	static const char *const shift[] = {"dx", "dy", "dz"}, *const turn[] = {"rx", "ry", "rz"};
	Signal *signal = add_signal(set, SIGNAL_DEFLECTION, name);
	if (!signal)
		return;
	signal->node = node;
	add_columns(set, name, shift, 3, "m");
	add_columns(set, name, turn, 3, "rad");
}

/* Through a joint (index: of its body), of a loop, or at a node. */
static void add_wrench_signal(SignalSet *set, SignalKind kind, const char *name, const char *prefix,
                              const CalModel *model, int index) {
	static const char *const moment[] = {"mx", "my", "mz"}, *const force[] = {"fx", "fy", "fz"};
	Signal *signal = add_signal(set, kind, name);
	if (!signal)
		return;
	if (kind == SIGNAL_REACTION)
		signal->joint = joint_id(model, index);
	else if (kind == SIGNAL_LOOP)
		signal->loop = loop_id(model, index);
	else
		signal->node = node_id(model, index);
	add_columns(set, prefix, moment, 3, "N m");
	add_columns(set, prefix, force, 3, "N");
}

bool signal_node_names(const CalModel *model, int index, const char **body, const char **node) {
	CalNodeInfo info;
	CalBodyInfo of;
	if (cal_model_node(model, index, &info) != CAL_OK || info.body < 0 ||
	    cal_model_body(model, info.body, &of) != CAL_OK)
		return false;
	bool own = of.node == index;
	if (!own && of.modes > 0 && strncmp(info.name, "mass", 4) == 0 && isdigit((unsigned char)info.name[4]))
		return false;
	*body = of.name;
	*node = own ? "" : info.name;
	return true;
}

/* The signal of every node, or of every joint, of a group. */
static void add_each(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	bool joints = kind == SIGNAL_REACTION;
	for (int i = 0; i < (joints ? cal_model_body_count(model) : cal_model_node_count(model)); i++) {
		const char *of = "", *node = "";
		CalBodyInfo body;
		if (joints ? cal_model_body(model, i, &body) != CAL_OK : !signal_node_names(model, i, &of, &node))
			continue;
		const char *prefix = keep_text(set, "%s:%s%s%s", name, joints ? body.joint : of, node[0] ? "/" : "", node);
		if (joints)
			add_wrench_signal(set, kind, name, prefix, model, i);
		else
			add_node_signal(set, kind, name, prefix, node_id(model, i));
	}
}

/* Directions d.. are lengths; the others are sines, or have no position. Forces of a coupling are those of its terms. */
static const char *row_unit(SignalKind kind, const char *direction) {
	if (kind == SIGNAL_RESIDUAL)
		return direction[0] == 'd' ? "m" : "1";
	return direction[0] == 'c' ? "N m|N" : direction[0] == 'd' || direction[0] == 'v' ? "N" : "N m";
}

/* whole: columns have the names of rows, as where all loops are asked for; otherwise those of directions. */
static void add_row_signal(SignalSet *set, const CalModel *model, SignalKind kind, const char *name, int loop,
                           bool whole) {
	CalLoopInfo info;
	Signal *signal = cal_model_loop(model, loop, &info) == CAL_OK ? add_signal(set, kind, name) : NULL;
	if (!signal)
		return;
	signal->loop = info.id;
	for (int row = info.row; row < info.row + info.rows; row++) {
		const char *text = element_name(set, cal_model_row_name, model, row);
		const char *dot = strrchr(text, '.'), *direction = dot ? dot + 1 : text;
		add_column(set, name, whole ? text : direction, row_unit(kind, direction));
		if (set->failed)
			return;
		set->places[set->column_count - 1].of = row - info.row;
	}
}

/* ---- what is in no group ----------------------------------------------------------------------- */

static void add_device_signal(SignalSet *set, CalSim *sim, const char *name, int device) {
	CalDeviceInfo info;
	Signal *signal = cal_sim_device(sim, device, &info) == CAL_OK ? add_signal(set, SIGNAL_DEVICE, name) : NULL;
	if (!signal)
		return;
	signal->number = device;
	const char *prefix = keep_text(set, "device:%s", info.name);
	for (int i = 0; i < info.ops->output_count; i++)
		add_column(set, prefix, info.ops->output_names[i], info.ops->output_units[i]);
	set->failed |= !signals_make_room(set, info.ops->output_count);
}

static void add_event_signal(SignalSet *set, CalSim *sim, const char *name, int event) {
	Signal *signal = add_signal(set, SIGNAL_EVENT, name);
	if (!signal)
		return;
	signal->number = event;
	add_column(set, "event", cal_sim_event_name(sim, event), "1");
}

static void add_sum_signal(SignalSet *set, SignalKind kind, const char *name) {
	static const char *const accounts[] = {"groups", "stored", "dissipated", "supplied", "error"};
	static const char *const linear[] = {"px", "py", "pz"}, *const angular[] = {"Lx", "Ly", "Lz"};
	if (!add_signal(set, kind, name))
		return;
	if (kind == SIGNAL_BALANCE) {
		add_columns(set, name, accounts, 5, "J");
	} else {
		add_columns(set, name, linear, 3, "kg m/s");
		add_columns(set, name, angular, 3, "kg m^2/s");
	}
}

/* ---- look-up ----------------------------------------------------------------------------------- */

/* Has the joint or the modes of a body the coordinate or speed of that name? */
static bool has_coordinate(SignalSet *set, const CalModel *model, SignalKind kind, int body, const char *name) {
	CalBodyInfo info;
	if (cal_model_body(model, body, &info) != CAL_OK)
		return false;
	int first = kind == SIGNAL_Q ? info.q : info.u, count = (kind == SIGNAL_Q ? info.nq : info.nu) + info.modes;
	for (int i = first; i < first + count; i++)
		if (strcmp(coordinate_name(set, model, kind, i), name) == 0)
			return true;
	return false;
}

/*
 * The body whose joint and modes have the coordinate or speed of that name ("flight.3", "boom.eta0"): what is before the
 * last dot names the joint, or the body; -1: none has.
 */
static int find_coordinate(SignalSet *set, const CalModel *model, SignalKind kind, const char *name) {
	const char *dot = strrchr(name, '.');
	const char *object = dot ? keep_text(set, "%.*s", (int)(dot - name), name) : NULL;
	int joint = object ? cal_model_find_joint(model, object) : -1,
		body = object ? cal_model_find_body(model, object) : -1;
	return joint >= 0 && has_coordinate(set, model, kind, joint, name) ? joint
	       : body >= 0 && has_coordinate(set, model, kind, body, name) ? body
	                                                                   : -1;
}

/* Leaves of the last signals, from the given one on, only the column of that name. */
static bool keep_column(SignalSet *set, int from, const char *column) {
	for (int k = from; k < set->signal_count; k++) {
		Signal *signal = &set->signals[k];
		int end = k + 1 < set->signal_count ? signal[1].first : set->column_count;
		for (int i = signal->first; i < end; i++) {
			if (strcmp(set->columns[i].name + set->columns[i].label, column) != 0)
				continue;
			int first = set->signals[from].first;
			if (!signal_is_coordinate(signal->kind) && !signal_is_of_rows(signal->kind))
				signal->only = i - signal->first;
			set->columns[first] = set->columns[i];
			set->places[first] = set->places[i];
			set->column_count = first + 1;
			set->signals[from] = *signal;
			set->signals[from].first = first;
			set->signal_count = from + 1;
			return true;
		}
	}
	return false;
}

static int find_object(const CalModel *model, SignalKind kind, const char *object) {
	if (signal_is_of_node(kind))
		return cal_model_find_node(model, object);
	if (signal_is_of_loop(kind))
		return cal_model_find_loop(model, object);
	return cal_model_find_joint(model, object);
}

/* Of something that is in no group. */
static SignalFound add_of_sim(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, const char *object,
                              const char *column) {
	int index = kind == SIGNAL_DEVICE ? cal_sim_find_device(sim, object) : cal_sim_find_event(sim, object);
	int from = set->signal_count;
	if (index < 0)
		return SIGNAL_NO_OBJECT;
	if (kind == SIGNAL_DEVICE)
		add_device_signal(set, sim, name, index);
	else
		add_event_signal(set, sim, name, index);
	return set->failed || !column || keep_column(set, from, column) ? SIGNAL_FOUND : SIGNAL_NO_COLUMN;
}

/* column: the one that stays of each signal; NULL: all of them. */
static SignalFound add_object(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, const char *object,
                              const char *column) {
	int from = set->signal_count;
	if (signal_is_of_sim(kind))
		return add_of_sim(set, sim, kind, name, object, column);
	for (int k = 0, count = cal_sim_group_count(sim); k < count; k++) { // names are unique: any order finds the same
		const int group = (set->hint + k) % count;
		const CalModel *model = cal_sim_model(sim, group);
		int index = find_object(model, kind, object);
		if (index < 0 && signal_is_coordinate(kind)) {
			index = find_coordinate(set, model, kind, object);
			column = index < 0 ? column : object;
		}
		if (index < 0)
			continue;
		if (kind == SIGNAL_DEFLECTION)
			add_deflection_signal(set, name, node_id(model, index));
		else if (kind == SIGNAL_REACTION || kind == SIGNAL_LOOP || kind == SIGNAL_WRENCH)
			add_wrench_signal(set, kind, name, name, model, index);
		else if (signal_is_of_node(kind))
			add_node_signal(set, kind, name, name, node_id(model, index));
		else if (signal_is_of_rows(kind))
			add_row_signal(set, model, kind, name, index, false);
		else
			add_joint_signal(set, sim, kind, name, group, index);
		return set->failed || !column || keep_column(set, from, column) ? SIGNAL_FOUND : SIGNAL_NO_COLUMN;
	}
	return SIGNAL_NO_OBJECT;
}

static void add_of_group(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, int group) {
	const CalModel *model = cal_sim_model(sim, group);
	if (kind == SIGNAL_ENERGY || kind == SIGNAL_MOMENTUM)
		add_group_signal(set, sim, kind, name, group);
	else if (signal_is_of_node(kind) || kind == SIGNAL_REACTION)
		add_each(set, sim, kind, name, group);
	else if (signal_is_of_rows(kind))
		for (int i = 0; i < cal_model_loop_count(model); i++)
			add_row_signal(set, model, kind, name, i, true);
	else
		for (int i = 0; i < cal_model_body_count(model); i++)
			add_joint_signal(set, sim, kind, name, group, i);
}

static void add_all_of_sim(SignalSet *set, CalSim *sim, SignalKind kind, const char *name) {
	if (kind == SIGNAL_DEVICE)
		for (int i = 0; i < cal_sim_device_count(sim); i++)
			add_device_signal(set, sim, name, i);
	else if (kind == SIGNAL_EVENT)
		for (int i = 0; i < cal_sim_event_count(sim); i++)
			add_event_signal(set, sim, name, i);
	else
		add_sum_signal(set, kind, name);
}

static SignalFound add_everywhere(SignalSet *set, CalSim *sim, SignalKind kind, const char *name, const char *column) {
	bool each = signal_is_of_node(kind) || kind == SIGNAL_REACTION;
	int from = set->signal_count;
	if (column && (signal_is_coordinate(kind) || each || kind == SIGNAL_DEVICE || kind == SIGNAL_EVENT))
		return SIGNAL_UNKNOWN;
	if (signal_is_of_sim(kind)) {
		add_all_of_sim(set, sim, kind, name);
		return set->failed || !column || keep_column(set, from, column) ? SIGNAL_FOUND : SIGNAL_NO_COLUMN;
	}
	for (int group = 0; group < cal_sim_group_count(sim); group++) {
		from = set->signal_count;
		add_of_group(set, sim, kind, name, group);
		if (!set->failed && column && from < set->signal_count && !keep_column(set, from, column))
			return SIGNAL_NO_COLUMN;
	}
	return SIGNAL_FOUND;
}

static SignalFound add_named(SignalSet *set, CalSim *sim, const char *name, const char *column) {
	size_t length = strcspn(name, ":");
	for (int i = 0; i < signal_word_count; i++) {
		const SignalWord *word = &signal_words[i];
		if (strlen(word->word) != length || strncmp(name, word->word, length) != 0)
			continue;
		if (!name[length] && word->alone)
			return add_everywhere(set, sim, word->kind, name, column);
		if (name[length] && word->with_object)
			return add_object(set, sim, word->kind, name, name + length + 1, column);
	}
	return SIGNAL_UNKNOWN;
}

/* "SIGNAL:COLUMN": the signal, of which only the column stays. */
static SignalFound add_column_of(SignalSet *set, CalSim *sim, const char *name) {
	const char *colon = strrchr(name, ':');
	if (!colon)
		return SIGNAL_UNKNOWN;
	return add_named(set, sim, keep_text(set, "%.*s", (int)(colon - name), name), colon + 1);
}

SignalFound signals_add(SignalSet *set, CalSim *sim, const char *name) {
	if (name_table_has(&set->names, name))
		return SIGNAL_FOUND;
	int signals = set->signal_count, columns = set->column_count;
	SignalFound found = add_named(set, sim, name, NULL);
	if (found == SIGNAL_UNKNOWN || found == SIGNAL_NO_OBJECT) {
		SignalFound part = add_column_of(set, sim, name);
		found = part == SIGNAL_FOUND || part == SIGNAL_NO_COLUMN ? part : found;
	}
	if (set->failed)
		return SIGNAL_NO_MEMORY;
	if (found != SIGNAL_FOUND) { // nothing stays of an attempt
		set->signal_count = signals;
		set->column_count = columns;
	}
	for (int i = signals; i < set->signal_count; i++) {
		Signal *signal = &set->signals[i];
		signal->name = name;
		signal->count = (i + 1 < set->signal_count ? signal[1].first : set->column_count) - signal->first;
	}
	if (found == SIGNAL_FOUND)
		add_names(set, name, columns);
	signals_resolve(set, sim, signals);
	return set->failed ? SIGNAL_NO_MEMORY : found;
}
