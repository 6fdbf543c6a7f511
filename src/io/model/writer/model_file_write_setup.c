// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_setup.c — what a setup has beside its description: state, loads, motions, run settings, compiled
 * subsystems. Numbers are in SI units; what has its default is left out.
 */
#include <math.h>
#include <string.h>

#include "io/model/writer/model_file_write.h"

/* ---- pieces ------------------------------------------------------------------------------------------ */

void put_named(Writer *w, bool *first, const char *key, const char *name) {
	put_key(w, first, key);
	put_text(w, name);
}

static void put_index(Writer *w, bool *first, const char *key, int index) {
	put_key(w, first, key);
	fprintf(w->out, "%d", index + 1);
}

void put_value(Writer *w, double value, bool angle) {
	put_number(w, value);
	fputs(angle && fabs(value) > 6 ? " rad" : "", w->out);
}

void put_table(Writer *w, const CalTable *table, bool angle) {
	if (table->count == 0) { // zero at all times
		fputc('0', w->out);
		return;
	}
	fprintf(w->out, "{shape: %s, points: [", cal_table_shape_name(table->shape));
	for (int i = 0; i < table->count; i++) {
		fputs(i ? ", [" : "[", w->out);
		put_number(w, table->time[i]);
		fputs(", ", w->out);
		put_value(w, table->value[i], angle);
		fputc(']', w->out);
	}
	fputs("]}", w->out);
}

void put_function(Writer *w, const CalTimeFunction *function, bool angle) {
	if (function->formula)
		put_text(w, function->formula);
	else
		put_table(w, &function->table, angle);
}

static void put_flags(Writer *w, bool *first, const char *key, const uint8_t *flags, int count) {
	put_key(w, first, key);
	for (int i = 0; i < count; i++)
		fprintf(w->out, "%s%s", i ? ", " : "[", flags[i] ? "true" : "false");
	fputc(']', w->out);
}

/* ---- state ------------------------------------------------------------------------------------------- */

static bool is_assumed(const uint8_t *assumed, int first, int count) {
	for (int i = first; assumed && i < first + count; i++)
		if (assumed[i])
			return true;
	return false;
}

/* Of free and spherical joints by parts, of which some may be assumed. */
static void put_pose(Writer *w, bool *first, const CalStateDef *def, int ball) {
	const double *turn = def->q ? def->q + ball : NULL, *spin = def->u ? def->u + ball : NULL;
	if (def->q && ball && !is_assumed(def->assumed_q, 0, 3)) {
		put_key(w, first, "at");
		put_numbers(w, def->q, 3);
	}
	if (turn && !is_assumed(def->assumed_q, ball, 3)) {
		put_key(w, first, "orientation");
		put_numbers(w, turn, 4);
	}
	if (def->u && ball && !is_assumed(def->assumed_u, 0, 3)) {
		put_key(w, first, "velocity");
		put_numbers(w, def->u, 3);
	}
	if (spin && !is_assumed(def->assumed_u, ball, 3)) {
		put_key(w, first, "angular_velocity");
		put_numbers(w, spin, 3);
	}
}

static int modes_of_joint(const Writer *w, CalJointId id) {
	CalNodeId outboard = {0};
	CalBodyId body = {0};
	CalFlexDef flex = {0};
	cal_desc_joint(w->desc, id, NULL, &outboard);
	cal_desc_node(w->desc, outboard, &body);
	return cal_flex_body(w->desc, body, NULL, &flex) == CAL_OK ? flex.modes : 0;
}

static void put_coordinate(Writer *w, const CalJointDef *joint, int i, double q) {
	CalCoordinateInfo info = {0};
	cal_joint_coordinate(joint, i, &info);
	fputs(i ? ", " : "[", w->out);
	put_value(w, q, info.kind == CAL_COORDINATE_ANGLE);
}

static void put_coordinates(Writer *w, bool *first, const CalJointDef *joint, const CalStateDef *def) {
	const int count = cal_joint_coordinate_count(joint);
	if (joint->type == CAL_JOINT_FREE || joint->type == CAL_JOINT_SPHERICAL) {
		put_pose(w, first, def, joint->type == CAL_JOINT_FREE ? 3 : 0);
		return;
	}
	if (def->q && count) {
		put_key(w, first, "q");
		for (int i = 0; i < count; i++)
			put_coordinate(w, joint, i, def->q[i]);
		fputc(']', w->out);
	}
	if (def->u && count) {
		put_key(w, first, "u");
		put_numbers(w, def->u, cal_joint_speed_count(joint));
	}
}

static void write_joint_state(Writer *w, CalJointId id, const CalStateDef *def) {
	const CalJointDef *joint = cal_desc_joint(w->desc, id, NULL, NULL);
	const int modes = modes_of_joint(w, id), speeds = cal_joint_speed_count(joint);
	bool first = true;
	fputs("  ", w->out);
	put_text(w, joint->name);
	fputs(": {", w->out);
	put_coordinates(w, &first, joint, def);
	if (def->eta) {
		put_key(w, &first, "eta");
		put_numbers(w, def->eta, modes);
	}
	if (def->eta_dot) {
		put_key(w, &first, "eta_dot");
		put_numbers(w, def->eta_dot, modes);
	}
	if (def->frozen_modes)
		put_flag(w, &first, "frozen", 1);
	else if (def->frozen && speeds)
		put_flags(w, &first, "frozen", def->frozen, speeds);
	put_flag(w, &first, "guess", def->guess);
	fputs("}\n", w->out);
}

void write_state(Writer *w) {
	CalJointId joint;
	CalStateDef def;
	for (int i = 0; cal_setup_state(w->setup, i, &joint, &def) == CAL_OK; i++) {
		fputs(i ? "" : "state:\n", w->out);
		write_joint_state(w, joint, &def);
	}
}

/* ---- loads ------------------------------------------------------------------------------------------- */

/* Efforts of all dofs, zero where there is none; accelerations of those that are driven. */
static void put_dof_loads(Writer *w, bool *first, const CalLoadDef *def) {
	bool pushed = false, driven = false;
	for (int i = 0; i < def->dof_count; i++) {
		pushed |= def->dofs[i].has_effort;
		driven |= def->dofs[i].has_acceleration;
	}
	if (pushed || !driven)
		put_key(w, first, "effort");
	for (int i = 0; (pushed || !driven) && i < def->dof_count; i++) {
		fputs(i ? ", " : "[", w->out);
		put_number(w, def->dofs[i].has_effort ? def->dofs[i].effort : 0);
	}
	fputs(pushed || !driven ? "]" : "", w->out);
	if (driven)
		put_key(w, first, "acceleration");
	for (int i = 0; driven && i < def->dof_count; i++) {
		fputs(i ? ", " : "[", w->out);
		if (def->dofs[i].has_acceleration)
			put_number(w, def->dofs[i].acceleration);
		else
			fputs("free", w->out);
	}
	fputs(driven ? "]" : "", w->out);
}

static void put_wrench(Writer *w, bool *first, const CalLoadDef *def) {
	const CalVec3 f = def->wrench.linear, m = def->wrench.angular;
	const double force[3] = {f.x, f.y, f.z};
	put_key(w, first, "node");
	put_path(w, def->node);
	if (def->frame == CAL_FRAME_NODE)
		put_named(w, first, "frame", "node");
	put_key(w, first, "force");
	put_numbers(w, force, 3);
	put_vector(w, first, "moment", m);
}

void write_loads(Writer *w) {
	CalLoadDef def;
	for (int i = 0; cal_setup_load(w->setup, i, &def) == CAL_OK; i++) {
		bool first = true;
		fputs(i ? "  - {" : "loads:\n  - {", w->out);
		if (def.joint.value)
			put_named(w, &first, "joint", cal_desc_joint(w->desc, def.joint, NULL, NULL)->name);
		if (def.body.value)
			put_named(w, &first, "body", cal_desc_body(w->desc, def.body)->name);
		if (def.body.value && def.mode >= 0)
			put_index(w, &first, "mode", def.mode);
		if (def.node.value)
			put_wrench(w, &first, &def);
		else
			put_dof_loads(w, &first, &def);
		if (isfinite(def.start)) {
			put_key(w, &first, "start");
			put_number(w, def.start);
		}
		if (isfinite(def.end)) {
			put_key(w, &first, "end");
			put_number(w, def.end);
		}
		fputs("}\n", w->out);
	}
}

/* ---- motions ------------------------------------------------------------------------------------------- */

static bool is_given(const CalTimeFunction *f) { return f->formula || f->table.count > 0; }

/* Functions of the coordinates outside a quaternion, which are given all or not at all. */
static void put_functions(Writer *w, bool *first, const CalJointMotion *motion, const CalJointDef *joint) {
	int own[CAL_JOINT_MAX_DOF], count = 0;
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++)
		if (is_given(&motion->q[k]))
			own[count++] = k;
	if (!count)
		return;
	put_key(w, first, joint->type == CAL_JOINT_FREE ? "at" : "q");
	for (int k = 0; k < count; k++) {
		fputs(count == 1 ? "" : k ? ", " : "[", w->out);
		CalCoordinateInfo info = {0};
		cal_joint_speed(joint, own[k], &info);
		put_function(w, &motion->q[own[k]], info.kind == CAL_COORDINATE_ANGLE);
	}
	fputs(count == 1 ? "" : "]", w->out);
}

void write_motions(Writer *w) {
	CalMotionDef def;
	for (int i = 0; cal_setup_motion(w->setup, i, &def) == CAL_OK; i++) {
		fputs(i ? "  " : "group_motions:\n  ", w->out);
		put_text(w, def.group);
		fputs(": {", w->out);
		for (int k = 0; k < def.joint_count; k++) {
			const CalJointMotion *motion = &def.joints[k];
			const CalJointDef *joint = cal_desc_joint(w->desc, motion->joint, NULL, NULL);
			bool first = true;
			fputs(k ? ",\n    " : "\n    ", w->out);
			put_text(w, joint->name);
			fputs(": {", w->out);
			put_functions(w, &first, motion, joint);
			if (is_given(&motion->angle)) {
				put_vector(w, &first, "axis", motion->axis);
				put_key(w, &first, "angle");
				put_function(w, &motion->angle, true);
			}
			fputc('}', w->out);
		}
		fputs("}\n", w->out);
	}
}

/* ---- run settings ---------------------------------------------------------------------------------------- */

static void put_count(Writer *w, bool *first, const char *key, int count) {
	if (!count)
		return;
	put_key(w, first, key);
	fprintf(w->out, "%d", count);
}

static void put_streams(Writer *w, bool *first, const CalRunSettings *run) {
	if (!run->stream_count)
		return;
	put_key(w, first, "output");
	for (int i = 0; i < run->stream_count; i++) {
		const CalRunStream *stream = &run->streams[i];
		bool inner = true;
		fputs(i ? ", {" : "[{", w->out);
		put_named(w, &inner, "name", stream->name);
		put_quantity(w, &inner, "interval", stream->interval);
		if (stream->file)
			put_named(w, &inner, "file", stream->file);
		if (stream->signal_count)
			put_key(w, &inner, "signals");
		for (int k = 0; k < stream->signal_count; k++) {
			fputs(k ? ", " : "[", w->out);
			put_text(w, stream->signals[k]);
		}
		fputs(stream->signal_count ? "]}" : "}", w->out);
	}
	fputc(']', w->out);
}

static void put_formulation(Writer *w, bool *first, const CalFormulationOptions *f) {
	if (f->kind == CAL_FORMULATION_ORDER_N)
		return;
	put_named(w, first, "formulation", "system");
	put_quantity(w, first, "update", f->update);
	put_quantity(w, first, "retain", f->retain);
	if (f->unretained == CAL_UNRETAINED_BOUNDED)
		put_named(w, first, "unretained", "bounded");
}

void write_run(Writer *w) {
	const CalRunSettings run = cal_setup_run(w->setup);
	const CalIntegratorOptions *method = &run.method;
	bool first = true;
	fputs("run: {", w->out);
	put_key(w, &first, "duration");
	put_number(w, run.duration);
	put_named(w, &first, "method", cal_method_name(method->method));
	put_quantity(w, &first, "step", method->step);
	put_quantity(w, &first, "rtol", method->rtol);
	put_quantity(w, &first, "atol", method->atol);
	put_quantity(w, &first, "min_step", method->min_step);
	put_quantity(w, &first, "max_step", method->max_step);
	put_quantity(w, &first, "max_steps", (double)method->max_steps);
	if (method->projection < 0)
		put_named(w, &first, "projection", "none");
	else
		put_count(w, &first, "projection", method->projection);
	if (method->euclidean)
		put_named(w, &first, "projection_metric", "euclidean");
	put_count(w, &first, "threads", run.threads);
	put_count(w, &first, "branches", run.branches);
	if (run.cross_loops != CAL_CROSS_LOOPS_AUTO)
		put_named(w, &first, "cross_loops", cal_cross_loops_name(run.cross_loops));
	put_formulation(w, &first, &run.formulation);
	if (isinf(run.assembly_limit))
		put_named(w, &first, "assemble", "any");
	else if (run.assembly_limit > 0) {
		put_key(w, &first, "assemble");
		put_number(w, run.assembly_limit);
	}
	if (run.whole_steps) {
		put_key(w, &first, "whole_steps");
		fputs(run.whole_steps > 0 ? "true" : "false", w->out);
	}
	put_streams(w, &first, &run);
	fputs("}\n", w->out);
}

/* ---- subsystems --------------------------------------------------------------------------------------------- */

static void put_ties(Writer *w, bool *first, const CalSubsystemUse *use) {
	put_key(w, first, "attach");
	for (int i = 0; i < use->tie_count; i++) {
		const CalSubsystemTie *tie = &use->ties[i];
		bool inner = true;
		fputs(i ? ", {" : "[{", w->out);
		put_key(w, &inner, "to");
		put_path(w, tie->node);
		if (tie->inner.value) {
			put_key(w, &inner, "node");
			put_path(w, tie->inner);
		} else if (tie->name)
			put_named(w, &inner, "interface", tie->name);
		else
			put_index(w, &inner, "interface", tie->interface_node);
		put_key(w, &inner, "joint");
		put_tie(w, &tie->joint);
		fputc('}', w->out);
	}
	fputs(use->tie_count ? "]" : "[]", w->out);
}

void write_subsystems(Writer *w) {
	CalSubsystemUse use;
	for (int i = 0; i < cal_setup_interface_node_count(w->setup); i++) {
		fputs(i ? ", " : "interface: [", w->out);
		put_text(w, cal_setup_interface_node(w->setup, i));
	}
	fputs(cal_setup_interface_node_count(w->setup) ? "]\n" : "", w->out);
	for (int i = 0; cal_setup_subsystem(w->setup, i, &use) == CAL_OK; i++) {
		bool first = true;
		fputs(i ? "  " : "subsystems:\n  ", w->out);
		put_text(w, use.name);
		fputs(": {", w->out);
		if (use.library)
			put_named(w, &first, "library", use.file);
		else
			put_key(w, &first, "component"), fputs("true", w->out);
		if (use.arguments[0])
			put_named(w, &first, "arguments", use.arguments);
		put_ties(w, &first, &use);
		fputs("}\n", w->out);
	}
}
