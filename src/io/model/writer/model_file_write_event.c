// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_event.c — events and their actions; and what of a setup a file cannot hold.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "device/device_type.h"
#include "io/model/writer/model_file_write.h"

/* ---- actions ----------------------------------------------------------------------------------------- */

static void put_options(Writer *w, bool *first, const CalAttachOptions *options) {
	if (options->fit != CAL_FIT_NONE)
		put_named(w, first, "fit", options->fit == CAL_FIT_AT_A ? "from" : "to");
	put_quantity(w, first, "tolerance", options->tolerance);
	put_flag(w, first, "loop", options->loop);
	put_flag(w, first, "kinematic", options->kinematic);
}

static void put_attach(Writer *w, const CalActionDef *action) {
	bool first = true;
	fputc('{', w->out);
	put_named(w, &first, "name", action->name);
	put_named(w, &first, "type", cal_joint_type_name(action->joint.type));
	if (strcmp(action->from, "ground") != 0)
		put_named(w, &first, "from", action->from);
	put_named(w, &first, "to", action->to);
	put_joint(w, &first, &action->joint);
	put_options(w, &first, &action->options);
	fputc('}', w->out);
}

static void put_modal_values(Writer *w, bool *first, const char *key, const double *values, int modes) {
	if (!values)
		return;
	put_key(w, first, key);
	put_numbers(w, values, modes);
}

static void put_new_body(Writer *w, const CalNewBody *made) {
	const CalBodyDef *body = &made->body;
	bool first = true;
	fputc('{', w->out);
	put_named(w, &first, "name", body->name);
	put_named(w, &first, "group", made->group);
	put_quantity(w, &first, "mass", body->mass);
	put_vector(w, &first, "com", body->com);
	put_inertia(w, &first, &body->inertia);
	put_flag(w, &first, "idealized", body->idealized);
	put_vector(w, &first, "at", made->placement.position);
	put_orientation(w, &first, "orientation", made->placement.orientation);
	put_vector(w, &first, "velocity", made->velocity.linear);
	put_vector(w, &first, "angular_velocity", made->velocity.angular);
	if (made->node_count)
		put_key(w, &first, "nodes");
	for (int i = 0; i < made->node_count; i++) {
		fputs(i ? ", " : "{", w->out);
		put_text(w, made->nodes[i].name);
		fputs(": ", w->out);
		put_placement_value(w, &made->nodes[i].placement);
	}
	fputs(made->node_count ? "}" : "", w->out);
	if (made->flex) {
		write_flexible(w, &first, made->flex, made);
		put_modal_values(w, &first, "eta", made->eta, made->flex->modes);
		put_modal_values(w, &first, "eta_dot", made->eta_dot, made->flex->modes);
	}
	fputc('}', w->out);
}

static void put_action(Writer *w, const CalActionDef *action) {
	const CalActionKind kind = action->kind;
	bool first = true;
	fputc('{', w->out);
	put_key(w, &first, cal_action_name(kind));
	if (kind == CAL_ACTION_ATTACH)
		put_attach(w, action);
	else if (kind == CAL_ACTION_ADD_BODY)
		put_new_body(w, &action->body);
	else
		put_text(w, kind == CAL_ACTION_STOP && !action->name[0] ? "true" : action->name);
	if ((kind == CAL_ACTION_DETACH || kind == CAL_ACTION_SPLIT) && action->group)
		put_named(w, &first, "group", action->group);
	if (action->dof >= 0 && kind >= CAL_ACTION_LOCK && kind <= CAL_ACTION_UNLOCK_MODES) {
		put_key(w, &first, kind < CAL_ACTION_LOCK_MODES ? "dof" : "mode");
		fprintf(w->out, "%d", action->dof + 1);
	}
	if (kind == CAL_ACTION_SET) {
		put_key(w, &first, "value");
		put_number(w, action->value);
	}
	if (kind == CAL_ACTION_PROPAGATE)
		put_named(w, &first, "as", cal_propagation_name(action->propagation));
	if (kind == CAL_ACTION_REATTACH)
		put_options(w, &first, &action->options);
	if (action->ignore)
		put_named(w, &first, "if_refused", "ignore");
	fputc('}', w->out);
}

/* ---- events ------------------------------------------------------------------------------------------ */

static void put_time(Writer *w, bool *first, const char *key, double time) {
	put_key(w, first, key);
	put_number(w, time);
}

static void put_when(Writer *w, bool *first, const CalSetupEvent *event) {
	static const char *const directions[] = {"down", "both", "up"};
	if (!isnan(event->at))
		put_time(w, first, "at", event->at);
	if (event->every > 0) {
		put_time(w, first, "every", event->every);
		put_time(w, first, "start", event->start);
	}
	if (event->when) {
		put_named(w, first, "when", event->when);
		put_named(w, first, "direction", directions[event->direction + 1]);
	}
	if (event->after)
		put_named(w, first, "after", event->after);
	if (event->after && event->delay > 0)
		put_time(w, first, "delay", event->delay);
	if ((event->when || event->after) && !event->once)
		put_named(w, first, "once", "false");
}

void write_events(Writer *w) {
	CalSetupEvent event;
	for (int i = 0; cal_setup_event(w->setup, i, &event) == CAL_OK; i++) {
		bool first = true;
		fputs(i ? "  " : "events:\n  ", w->out);
		put_text(w, event.name);
		fputs(": {", w->out);
		put_when(w, &first, &event);
		if (event.action_count)
			put_key(w, &first, "do");
		for (int k = 0; k < event.action_count; k++) {
			fputs(k ? ",\n    " : "[", w->out);
			put_action(w, &event.actions[k]);
		}
		fputs(event.action_count ? "]}\n" : "}\n", w->out);
	}
}

/* ---- what a file cannot hold ------------------------------------------------------------------------- */

static CalStatus refuse(const Writer *w, const char *kind, const char *name, const char *what) {
	return error_set(w->error, CAL_ERR_UNSUPPORTED, "%s \"%.80s\": %s", kind, name, what);
}

static bool is_mixed(const uint8_t *assumed, int first, int count) {
	for (int i = first; assumed && i < first + count; i++)
		if (!assumed[i] != !assumed[first])
			return true;
	return false;
}

/* Whether what is assumed is something else than what a reader assumes. */
static bool is_own(const uint8_t *assumed, int dof, const double *values, const double *usual, int count) {
	return assumed && assumed[dof] && !same_bits(values, usual, count);
}

static CalStatus check_state(const Writer *w, CalJointId id, const CalStateDef *def) {
	static const double none[4] = {0}, straight[4] = {1, 0, 0, 0};
	const CalJointDef *joint = cal_desc_joint(w->desc, id, NULL, NULL);
	const bool is_free = joint->type == CAL_JOINT_FREE, by_parts = is_free || joint->type == CAL_JOINT_SPHERICAL;
	const int speeds = cal_joint_speed_count(joint), ball = is_free ? 3 : 0;
	bool held = true;
	if (by_parts) {
		held = !(is_free && is_mixed(def->assumed_q, 0, 3)) && !is_mixed(def->assumed_q, ball, 3) &&
		       !(is_free && is_mixed(def->assumed_u, 0, 3)) && !is_mixed(def->assumed_u, ball, 3);
		held = held && !(def->q && is_free && is_own(def->assumed_q, 0, def->q, none, 3)) &&
		       !(def->q && is_own(def->assumed_q, ball, def->q + ball, straight, 4)) &&
		       !(def->u && is_free && is_own(def->assumed_u, 0, def->u, none, 3)) &&
		       !(def->u && is_own(def->assumed_u, ball, def->u + ball, none, 3));
	} else {
		for (int i = 0; i < speeds; i++)
			held = held && !(def->q && def->assumed_q && def->assumed_q[i]) &&
			       !(def->u && def->assumed_u && def->assumed_u[i]);
	}
	for (int i = 0; def->frozen_modes && i < speeds; i++)
		held = held && def->frozen && def->frozen[i];
	return held ? CAL_OK
	            : refuse(w, "state of joint", joint->name,
	                     "a file cannot hold a part of it that is assumed or frozen in this way");
}

static bool ascends(const CalTable *table) {
	for (int i = 1; i < table->count; i++)
		if (!(table->time[i] > table->time[i - 1]))
			return false;
	return true;
}

static bool all_ascend(const Field *field, const void *member) {
	const CalTable *table = member;
	const CalLoadValue *values = member;
	const CalTimeFunction *function = member;
	return field->kind == FIELD_TABLE        ? ascends(table)
	       : field->kind == FIELD_LOAD_VALUE ? ascends(&values->table)
	       : field->kind == FIELD_LOAD_VALUES
	           ? ascends(&values[0].table) && ascends(&values[1].table) && ascends(&values[2].table)
	       : field->kind == FIELD_FUNCTION ? ascends(&function->table)
	                                       : true;
}

static CalStatus check_device(const Writer *w, const char *word, const char *name, const void *def) {
	const DeviceType *type = device_type_find(word);
	for (int i = 0; i < type->table.count; i++) {
		const Field *field = &type->table.fields[i];
		const void *member = (const char *)def + field->offset;
		const CalContactDef *contact = field->kind == FIELD_SHAPES ? member : NULL;
		if (!all_ascend(field, member))
			return refuse(w, "device", name, "the times of one of its tables do not ascend; correct them");
		for (int k = 0; contact && k < contact->shape_count; k++)
			if (contact->shapes[k].mesh)
				return refuse(w, "device", name, "one of its shapes is a mesh in memory, which a file cannot hold");
	}
	return write_check_name(w, "device", name);
}

static CalStatus check_motion(const Writer *w, const CalMotionDef *def) {
	for (int i = 0; i < def->joint_count; i++) {
		const CalJointDef *joint = cal_desc_joint(w->desc, def->joints[i].joint, NULL, NULL);
		const int speeds = cal_joint_speed_count(joint);
		const int own = joint->type == CAL_JOINT_SPHERICAL ? 0 : joint->type == CAL_JOINT_FREE ? 3 : speeds;
		int given = 0;
		for (int k = 0; k < CAL_JOINT_MAX_DOF; k++)
			given += def->joints[i].q[k].formula || def->joints[i].q[k].table.count > 0;
		if ((given && given != own) || joint->type == CAL_JOINT_SEQUENCE)
			return refuse(w, "motion of joint", joint->name,
			              "a file gives functions for all coordinates of a joint, or for none");
	}
	return CAL_OK;
}

static CalStatus check_new_body(const Writer *w, const CalSetupEvent *event, const CalNewBody *body) {
	const CalGroupId group = cal_desc_find_group(w->desc, body->group);
	const CalVec3 g = cal_desc_group(w->desc, group)->gravity;
	if (g.x != body->gravity.x || g.y != body->gravity.y || g.z != body->gravity.z)
		return refuse(w, "event", event->name, "it adds a body with a gravity of its own, which a file cannot hold");
	return write_check_name(w, "body", body->body.name);
}

static CalStatus check_event(const Writer *w, const CalSetupEvent *event) {
	CalStatus status = write_check_name(w, "event", event->name);
	for (int i = 0; i < event->action_count && status == CAL_OK; i++) {
		const CalActionDef *action = &event->actions[i];
		if (action->kind == CAL_ACTION_ATTACH && action->joint.type == CAL_JOINT_USER)
			status = refuse(w, "event", event->name, "it attaches a joint of type user, which a file cannot hold");
		if (action->kind == CAL_ACTION_ADD_BODY)
			status = check_new_body(w, event, &action->body);
	}
	return status;
}

CalStatus write_check_setup(const Writer *w) {
	CalStatus status = CAL_OK;
	CalJointId joint;
	CalStateDef state;
	CalMotionDef motion;
	CalSubsystemUse use;
	CalSetupEvent event;
	const char *type, *name;
	const void *def;
	for (int i = 0; status == CAL_OK && cal_setup_state(w->setup, i, &joint, &state) == CAL_OK; i++)
		status = check_state(w, joint, &state);
	for (int i = 0; status == CAL_OK && cal_setup_device(w->setup, i, &type, &name, &def) == CAL_OK; i++)
		status = check_device(w, type, name, def);
	for (int i = 0; status == CAL_OK && cal_setup_motion(w->setup, i, &motion) == CAL_OK; i++)
		status = check_motion(w, &motion);
	for (int i = 0; status == CAL_OK && cal_setup_subsystem(w->setup, i, &use) == CAL_OK; i++)
		for (int k = 0; k < use.tie_count && status == CAL_OK; k++)
			status = write_check_drives(w, &use.ties[k].joint);
	for (int i = 0; status == CAL_OK && cal_setup_event(w->setup, i, &event) == CAL_OK; i++)
		status = check_event(w, &event);
	return status;
}
