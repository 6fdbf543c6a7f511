// SPDX-License-Identifier: Apache-2.0
/*
 * transition.c — changes of topology without an impulse, or with one within a group: detach, split, re-root, loops.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "joint/pose_solve.h"
#include "loop/loop_type.h"
#include "model/description/check.h"
#include "model/work.h"
#include "transition/topology_edit.h"

/* Room for the whole comes last: taking it starts the integrator afresh, which a change that fails must not do. */
CalStatus edit_commit_or_abandon(TopologyEdit *c, CalStatus status, CalTransition *report) {
	if (status == CAL_OK && sim_fit(c->sim, c->made, c->made_count) != CAL_OK)
		status = edit_no_memory(c);
	if (status != CAL_OK)
		return edit_abandon(c, status);
	edit_commit(c, report);
	return CAL_OK;
}

CalStatus edit_build_and_commit(TopologyEdit *c, CalStatus status, CalTransition *report) {
	if (status == CAL_OK)
		status = edit_build(c);
	return edit_commit_or_abandon(c, status, report);
}

/* ---- detach ---------------------------------------------------------------------------------------- */

static int group_is_empty(const Topology *t, uint32_t group) {
	for (int i = 0; i < t->desc->body_count; i++) {
		if (t->desc->bodies[i].def.group.value == group)
			return 0;
	}
	return 1;
}

CalStatus edit_find_group(TopologyEdit *c, const char *name, const CalGroupDef *like, uint32_t *group) {
	CalDesc *desc = c->t->desc;
	*group = 0;
	if (!name || !name[0])
		return error_set(c->error, CAL_ERR_ARGUMENT, "the part that comes off becomes a group; give it a name");
	for (int i = 0; i < desc->group_count; i++) {
		if (strcmp(desc->groups[i].name, name) != 0)
			continue;
		if (!group_is_empty(c->t, (uint32_t)i + 1))
			return error_set(c->error, CAL_ERR_MODEL, "group \"%s\" has bodies already; take another name", name);
		*group = (uint32_t)i + 1;
		desc->groups[i].gravity = like->gravity;
		desc->groups[i].propagation = like->propagation;
		return CAL_OK;
	}
	if (c->t->left.groups <= 0)
		return error_set(c->error, CAL_ERR_MEMORY,
		                 "group \"%s\": no room for another group; raise CalSimCapacity.groups", name);
	c->t->left.groups--;
	*group = topology_add_group(c->t, name, like);
	return *group ? CAL_OK : edit_no_memory(c);
}

static int bodies_in(const Topology *t, uint32_t group) {
	int count = 0;
	for (int i = 0; i < t->desc->body_count; i++)
		count += t->desc->bodies[i].def.group.value == group;
	return count;
}

/* A joint in a loop takes the place in the tree of what held the marked part, whose top is `top`. */
static CalStatus loop_to_tree_joint(TopologyEdit *c, uint32_t joint, uint32_t top) {
	const TopologyJoint *j = topology_joint(c->t, joint);
	const uint32_t a = topology_node_body(c->t, j->a), b = topology_node_body(c->t, j->b);
	const uint32_t body = b && c->t->mark[b - 1] ? b : a;
	CalStatus status = topology_reverse_path(c->t, body, top, c->error);
	if (status == CAL_OK)
		status = topology_set_parent(c->t, joint, body, c->error);
	if (status == CAL_OK)
		status = edit_kinematics(c);
	return status == CAL_OK ? edit_add_new_joint(c, joint) : status;
}

/* A body without a carrier gets a free joint. */
static CalStatus edit_make_free_root(TopologyEdit *c, uint32_t body) {
	const uint32_t root = topology_root_joint(c->t, body);
	CalStatus status = root ? topology_set_parent(c->t, root, body, c->error) : edit_no_memory(c);
	if (status == CAL_OK)
		status = edit_kinematics(c);
	return status == CAL_OK ? edit_add_new_joint(c, root) : status;
}

/* Marked bodies become a group of their own. */
static CalStatus split_marked(TopologyEdit *c, uint32_t group, const char *name) {
	const CalStatus status = edit_find_group(c, name, &c->t->desc->groups[group - 1], &c->group[1]);
	if (status != CAL_OK)
		return status;
	edit_move_marked(c, c->group[1]);
	c->made_count = 2;
	return CAL_OK;
}

/* The part outboard of a joint in the tree, which is open by now, goes its own way. */
static CalStatus detach_subtree(TopologyEdit *c, const CalJointDef *joint, uint32_t top, uint32_t group,
                                const char *name) {
	Topology *t = c->t;
	const int count = topology_subtree(t, top);
	uint32_t loop = topology_crossing(t, group, 1, 1);
	if (loop)
		return loop_to_tree_joint(c, topology_loop(t, loop)->joint, top);
	loop = topology_crossing(t, group, 0, 0);
	if (loop)
		return error_set(c->error, CAL_ERR_MODEL,
		                 "joint \"%s\" is inside a loop: loop \"%s\" holds what is outboard of it too; open that first "
		                 "(cal_sim_open_loop)",
		                 joint->name, topology_loop(t, loop)->as.def.name);
	const CalStatus status = count < bodies_in(t, group) ? split_marked(c, group, name) : CAL_OK;
	return status == CAL_OK ? edit_make_free_root(c, top) : status;
}

/* A loop between two bodies is open: what it tied to b goes its own way, if nothing else ties it to a. */
static CalStatus detach_loop(TopologyEdit *c, uint32_t a, uint32_t b, const char *name) {
	topology_component(c->t, b);
	return c->t->mark[a - 1] ? CAL_OK : split_marked(c, topology_group(c->t, a), name);
}

static CalStatus detach(TopologyEdit *c, uint32_t joint, const char *name) {
	TopologyJoint *j = topology_joint(c->t, joint);
	if (j->state == CAL_JOINT_OPEN)
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\" is open already", j->def.name);
	const int in_tree = j->state == CAL_JOINT_IN_TREE;
	const uint32_t a = topology_node_body(c->t, j->a), b = topology_node_body(c->t, j->b);
	const uint32_t top = topology_node_body(c->t, topology_outboard(j)), group = topology_group(c->t, b ? b : a);
	if (in_tree && topology_is_free_root(c->t, joint))
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\": body \"%s\" flies freely, there is nothing to detach",
		                 j->def.name, topology_body_name(c->t, top));
	edit_add_group(c, group);
	c->group[0] = group;
	c->made_count = 1;
	topology_open(c->t, joint);
	if (!in_tree)
		return a && b && name ? detach_loop(c, a, b, name) : CAL_OK;
	c->t->carrier[top - 1] = 0;
	return detach_subtree(c, &j->def, top, group, name);
}

CalStatus cal_sim_detach(CalSim *sim, CalJointId joint, const char *group, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = edit_check_joint(&c, joint);
	if (status == CAL_OK)
		status = detach(&c, joint.value, group);
	return edit_build_and_commit(&c, status, report);
}

static CalStatus split_component(TopologyEdit *c, uint32_t body, const char *name) {
	const uint32_t group = topology_group(c->t, body);
	int count = 0;
	topology_component(c->t, body);
	for (int i = 0; i < c->t->desc->body_count; i++)
		count += c->t->mark[i];
	if (count == bodies_in(c->t, group))
		return error_set(
			c->error, CAL_ERR_MODEL,
			"group \"%s\": joints and loops tie everything in it to body \"%s\"; there is nothing to split",
			c->t->desc->groups[group - 1].name, topology_body_name(c->t, body));
	edit_add_group(c, group);
	c->group[0] = group;
	return split_marked(c, group, name);
}

CalStatus cal_sim_split(CalSim *sim, CalBodyId body, const char *group, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = edit_check_body(&c, body);
	if (status == CAL_OK)
		status = split_component(&c, body.value, group);
	return edit_build_and_commit(&c, status, report);
}

/* ---- re-root ----------------------------------------------------------------------------------------------- */

static CalStatus check_coupled(TopologyEdit *c, uint32_t joint) {
	for (int i = 0; i < c->t->desc->loop_count; i++) {
		const TopologyLoop *loop = &c->t->loops[i];
		for (int k = 0; !loop->open && loop_type_has_terms(loop->as.def.type) && k < loop->as.def.term_count; k++) {
			if (loop->term_joint[k] == joint)
				return error_set(
					c->error, CAL_ERR_MODEL,
					"loop \"%s\" couples coordinates of the root joint \"%s\", which would mean another body; "
					"open it first (cal_sim_open_loop)",
					loop->as.def.name, topology_joint(c->t, joint)->def.name);
		}
	}
	return CAL_OK;
}

/* The free joint of a free root carries another body from now on. */
static CalStatus move_root(TopologyEdit *c, uint32_t root, uint32_t body) {
	TopologyJoint *j = topology_joint(c->t, root);
	CalStatus status = check_coupled(c, root);
	if (status != CAL_OK)
		return status;
	if (j->reversed) { // the ground is on its side b: from now on it is on the other
		j->a = j->b;
		j->def.inboard = j->def.outboard = cal_node_def().placement;
	}
	j->b = c->t->desc->bodies[body - 1].frame;
	j->def.outboard = cal_node_def().placement;
	status = topology_set_parent(c->t, root, body, c->error);
	if (status == CAL_OK)
		status = edit_kinematics(c);
	return status == CAL_OK ? edit_add_new_joint(c, root) : status;
}

/* A joint in a loop between the ground and a body, 0: none. */
static uint32_t grounded_loop(const Topology *t, uint32_t body) {
	for (int i = 0; i < t->desc->joint_count; i++) {
		const TopologyJoint *j = &t->joints[i];
		const uint32_t a = topology_node_body(t, j->a), b = topology_node_body(t, j->b);
		if (j->state == CAL_JOINT_IN_LOOP && ((a == body && !b) || (b == body && !a)))
			return (uint32_t)i + 1;
	}
	return 0;
}

static CalStatus reroot(TopologyEdit *c, uint32_t body) {
	Topology *t = c->t;
	const uint32_t root = topology_root(t, body), group = topology_group(t, body);
	const uint32_t top = topology_node_body(t, topology_outboard(topology_joint(t, root)));
	edit_add_group(c, group);
	c->group[0] = group;
	c->made_count = 1;
	CalStatus status = topology_reverse_path(t, body, top, c->error);
	if (status != CAL_OK)
		return status;
	if (topology_is_free_root(t, root))
		return move_root(c, root, body);
	const uint32_t held = grounded_loop(t, body);
	status = topology_close(t, root, c->error);
	if (status != CAL_OK || !held)
		return status != CAL_OK ? status : edit_make_free_root(c, body);
	status = topology_set_parent(t, held, body, c->error);
	if (status == CAL_OK)
		status = edit_kinematics(c);
	return status == CAL_OK ? edit_add_new_joint(c, held) : status;
}

CalStatus cal_sim_reroot(CalSim *sim, CalBodyId body, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status != CAL_OK)
		return status;
	status = edit_check_body(&c, body);
	if (status == CAL_OK && topology_parent(c.t, body.value) == 0) { // it is the root
		if (report)
			report->group = cal_sim_group_of(sim, body);
		return CAL_OK;
	}
	if (status == CAL_OK)
		status = reroot(&c, body.value);
	return edit_build_and_commit(&c, status, report);
}

static const double CLOSED = 1e-6;  // residuals below this are met [m, rad]
static const double STOPPED = 1e-9; // rates below this part of the fastest speed are zero

double group_fastest(const SimGroup *group) {
	double fastest = 1;
	for (int k = 0; k < group->model->nu; k++)
		fastest = fmax(fastest, fabs(group->state.u[k]));
	return fastest;
}

CalStatus edit_check_rates(TopologyEdit *c, const CalModel *model, const CalImpulseReport *lost, double fastest) {
	char name[96] = "";
	if (lost->rate <= STOPPED * fastest)
		return CAL_OK;
	cal_model_row_name(model, lost->row, name, sizeof name);
	return error_set(
		c->error, CAL_ERR_MODEL,
		"the loops of group \"%s\" cannot all hold: row %s still changes by %.3g a second; what is driven or "
		"locked leaves no way out, unlock some of it",
		cal_model_name(model), name, lost->rate);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* Group of a loop's bodies; 0: they are in none, or in two. */
static uint32_t loop_group(const Topology *t, const DescLoop *loop) {
	if (loop_type_has_terms(loop->def.type))
		return topology_group(t, loop->def.term[0].body.value);
	const uint32_t a = topology_node_body(t, loop->a);
	const uint32_t b = loop_type_has_one_side(loop->def.type) ? 0 : topology_node_body(t, loop->b);
	const uint32_t one = a ? topology_group(t, a) : 0, other = b ? topology_group(t, b) : 0;
	return one && other && one != other ? 0 : one ? one : other;
}

/* Constraint equations of the loop that was closed, from what an impulse left in view_work. */
static CalStatus check_closed(TopologyEdit *c, const SimGroup *made, uint32_t loop) {
	for (int l = 0; l < made->model->loop_count; l++) {
		const Loop *at = &made->model->loops[l];
		for (int row = at->row; at->id.value == loop && row < at->row + at->rows; row++) {
			const double value = made->view_work->loops.row[row].value;
			char name[96] = "";
			if (fabs(value) <= CLOSED)
				continue;
			cal_model_row_name(made->model, row, name, sizeof name);
			return error_set(c->error, CAL_ERR_MODEL,
			                 "loop \"%s\" does not fit: row %s is off by %.3g; move the bodies there first", at->name,
			                 name, value);
		}
	}
	return CAL_OK;
}

CalStatus edit_apply_impulse(TopologyEdit *c, uint32_t loop, CalTransition *report) {
	SimGroup *made = &c->made[0];
	CalImpulseReport lost;
	const double fastest = group_fastest(made);
	const CalImpulse impulse = {.kept = group_with_driven(made, made->model->prescribed)};
	const CalStatus status =
		cal_impulse(made->model, &made->state, &impulse, made->view_work, made->state.u, NULL, &lost);
	if (status != CAL_OK)
		return status;
	const CalStatus held = edit_check_rates(c, made->model, &lost, fastest);
	if (held != CAL_OK)
		return held;
	if (report)
		report->kinetic_lost = lost.kinetic_lost;
	return check_closed(c, made, loop);
}

/* Everything that a loop ties together is there. */
static CalStatus check_ends(TopologyEdit *c, const DescLoop *loop) {
	CalStatus status = CAL_OK;
	for (int i = 0; loop_type_has_terms(loop->def.type) && i < loop->def.term_count && status == CAL_OK; i++)
		status = edit_check_body(c, loop->def.term[i].body);
	if (status == CAL_OK)
		status = edit_check_node(c, loop->a);
	return status == CAL_OK ? edit_check_node(c, loop->b) : status;
}

static CalStatus close_record(TopologyEdit *c, uint32_t id, CalTransition *report) {
	TopologyLoop *loop = topology_loop(c->t, id);
	const DescLoop *now = &c->t->desc->loops[id - 1];
	loop->open = 0;
	const char *why = topology_put_loop(c->t, id);
	if (why)
		return error_set(c->error, CAL_ERR_MODEL, "loop \"%s\" %s", loop->as.def.name, why);
	CalStatus status = check_ends(c, now);
	if (status != CAL_OK)
		return status;
	c->group[0] = loop_group(c->t, now);
	if (!c->group[0])
		return error_set(c->error, CAL_ERR_MODEL,
		                 "loop \"%s\": its sides are in two groups; attach them by a joint first (cal_sim_attach)",
		                 loop->as.def.name);
	edit_add_group(c, c->group[0]);
	c->made_count = 1;
	status = edit_build(c);
	return status == CAL_OK ? edit_apply_impulse(c, id, report) : status;
}

static CalStatus check_new_loop(TopologyEdit *c, const DescLoop *loop) {
	const CalJointDef *carriers[CAL_LOOP_MAX_TERMS] = {NULL};
	Check check = {.desc = c->t->desc, .report = edit_keep_first_error, .user = c->error};
	for (int i = 0; i < c->t->desc->loop_count; i++) {
		if (strcmp(c->t->loops[i].as.def.name, loop->def.name) == 0 && !c->t->loops[i].joint)
			return error_set(c->error, CAL_ERR_MODEL, "loop \"%s\": the name is already in use", loop->def.name);
	}
	if (c->t->left.loops <= 0)
		return error_set(c->error, CAL_ERR_MEMORY, "loop \"%s\": no room for another loop; raise CalSimCapacity.loops",
		                 loop->def.name);
	CalStatus status = loop_def_check(&loop->def, c->error);
	for (int k = 0; status == CAL_OK && loop_type_has_terms(loop->def.type) && k < loop->def.term_count; k++) {
		status = edit_check_body(c, loop->def.term[k].body);
		if (status == CAL_OK)
			carriers[k] = &c->t->desc->joints[c->t->carrier[loop->def.term[k].body.value - 1] - 1].def;
	}
	if (status == CAL_OK)
		check_loop(&check, loop, carriers);
	return status != CAL_OK ? status : check.failed ? CAL_ERR_MODEL : CAL_OK;
}

/* Terms of a new coupling name the joints as they are passed now; the record names them as they were given. */
static void record_terms(Topology *t, TopologyLoop *loop) {
	for (int k = 0; loop_type_has_terms(loop->as.def.type) && k < loop->as.def.term_count; k++) {
		const CalLoopTerm *term = &loop->as.def.term[k];
		const uint32_t carrier = t->carrier[term->body.value - 1];
		const TopologyJoint *j = topology_joint(t, carrier);
		const int speeds = joint_speed_count(&j->def);
		loop->term_joint[k] = term->dof < speeds ? carrier : 0;
		loop->term_dof[k] = term->dof - (term->dof < speeds ? 0 : speeds);
		if (term->dof < speeds && j->reversed)
			loop->term_dof[k] = joint_reverse_dof(&t->desc->joints[carrier - 1].def, term->dof);
	}
}

CalStatus cal_sim_close_loop(CalSim *sim, CalNodeId a, const CalLoopDef *loop, CalNodeId b, CalLoopId *id,
                             CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status != CAL_OK)
		return status;
	uint32_t made = 0;
	if (!loop || !loop->name || !loop->name[0] || !cal_loop_type_name(loop->type))
		status = error_set(error, CAL_ERR_ARGUMENT, "cal_sim_close_loop: give a loop with a name and a type");
	if (status == CAL_OK)
		status = edit_check_node(&c, a);
	if (status == CAL_OK)
		status = edit_check_node(&c, b);
	if (status == CAL_OK && loop && !loop_type_has_terms(loop->type) && !topology_node_body(c.t, a) &&
	    !topology_node_body(c.t, b))
		status = error_set(error, CAL_ERR_MODEL, "loop \"%s\": both sides are on the ground", loop->name);
	DescLoop as = {.a = a, .b = b};
	if (status == CAL_OK && loop) {
		as.def = *loop;
		const char *wrong = placement_resolve(&as.def.a);
		wrong = wrong ? wrong : placement_resolve(&as.def.b);
		status = wrong ? error_set(error, CAL_ERR_MODEL, "loop \"%s\": %s", loop->name, wrong) : CAL_OK;
	}
	if (status == CAL_OK)
		status = check_new_loop(&c, &as);
	if (status == CAL_OK) {
		c.t->left.loops--;
		made = topology_add_loop(c.t, &as);
		status = made ? CAL_OK : edit_no_memory(&c);
	}
	if (status == CAL_OK) {
		record_terms(c.t, topology_loop(c.t, made));
		status = close_record(&c, made, report);
	}
	status = edit_commit_or_abandon(&c, status, report);
	if (status == CAL_OK && id)
		id->value = made;
	return status;
}

static CalStatus check_loop_id(TopologyEdit *c, CalLoopId loop, int open) {
	if (loop.value == 0 || loop.value > (uint32_t)c->t->desc->loop_count)
		return error_set(c->error, CAL_ERR_ARGUMENT, "the simulation has no loop with id %u", (unsigned)loop.value);
	const TopologyLoop *l = topology_loop(c->t, loop.value);
	if (l->joint)
		return error_set(c->error, CAL_ERR_MODEL,
		                 "loop \"%s\" stands for the joint of that name; use cal_sim_detach and cal_sim_reattach",
		                 l->as.def.name);
	if (l->as.mechanism)
		return error_set(c->error, CAL_ERR_UNSUPPORTED,
		                 "loop \"%s\" is embedded: it cannot be opened in a run; do not embed it", l->as.def.name);
	return l->open == open ? CAL_OK
	                       : error_set(c->error, CAL_ERR_MODEL, "loop \"%s\" is %s already", l->as.def.name,
	                                   l->open ? "open" : "closed");
}

CalStatus cal_sim_open_loop(CalSim *sim, CalLoopId loop, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = check_loop_id(&c, loop, 0);
	if (status == CAL_OK) {
		TopologyLoop *l = topology_loop(c.t, loop.value);
		c.group[0] = loop_group(c.t, &c.t->desc->loops[loop.value - 1]);
		c.made_count = 1;
		edit_add_group(&c, c.group[0]);
		l->open = 1;
		topology_put_loop(c.t, loop.value);
	}
	return edit_build_and_commit(&c, status, report);
}

CalStatus cal_sim_reclose_loop(CalSim *sim, CalLoopId loop, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = check_loop_id(&c, loop, 1);
	if (status == CAL_OK)
		status = close_record(&c, loop.value, report);
	return edit_commit_or_abandon(&c, status, report);
}
