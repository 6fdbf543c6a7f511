// SPDX-License-Identifier: Apache-2.0
/*
 * transition_attach.c — tying two nodes together by a joint of any type, with momentum conserved [THEORY (7.3)].
 *
 * In the tree: C are the wrenches that the joint can transmit. A unit of each on b, and the opposite on a, makes the
 * relative velocity jump by a column of Lambda = C'(Lambda_a + Lambda_b)C. The recursion gives it for whole groups,
 * loops and driven dofs included; where there are none, the factors of the mass matrix do. Then Lambda j = -C'V, C j
 * acts, and what is left of V is a motion of the joint. As a loop: the joined model makes all its loops hold.
 */
#include <math.h>
#include <string.h>

#include <calder/operators.h>

#include "base/error.h"
#include "base/memory.h"
#include "dynamics/impulse.h"
#include "joint/pose_solve.h"
#include "math/min_norm.h"
#include "model/description/check.h"
#include "model/work.h"
#include "transition/topology_edit.h"

static const double FITS = 1e-6;       // default tolerance of positions [m, rad]
static const double STOPPED = 1e-9;    // of a velocity that the joint holds, as part of those around
static const double DEPENDENT = 1e-11; // of a direction that the others imply

/* The two nodes of a joint that is to be closed. */
typedef struct AttachCandidate {
	uint32_t joint;
	CalNodeId node[2];    // a, b
	uint32_t body[2];     // 0: the ground
	NodeMotion motion[2]; //
	int old[2];           // places of their groups among the old ones, -1: the ground
	double q[CAL_JOINT_MAX_COORDS];
	spatial C[6];                  // directions that the joint holds, at p, world axes
	int count;                     //
	dvec3 p;                       // origin of the joint's moved frame
	int plain[EDIT_MAX_GROUPS];    // neither loops nor driven dofs of the group stand in the way
	double *jump[EDIT_MAX_GROUPS]; // [nu], and for a plain group what add_by_node() needs
	double z[6];                   // the impulse along C
	spatial impulse;               // on b at p
} AttachCandidate;

/* The two nodes are in different groups, and both are plain. */
static int is_plain(const TopologyEdit *c, const AttachCandidate *m) {
	int plain = 1;
	for (int i = 0; i < c->old_count; i++)
		plain &= m->plain[i];
	return plain;
}

/* ---- the impulse ------------------------------------------------------------------------------------------ */

/* From the origin of a node to p. */
static vec3 arm_of(const AttachCandidate *m, int side) { return vec_from(dadd(m->p, dscale(-1, m->motion[side].X.r))); }

static CalWrench wrench_on(const TopologyEdit *c, const AttachCandidate *m, int side, spatial f) {
	const SimGroup *group = &c->sim->groups[c->old[m->old[side]]];
	const double sign = side ? 1 : -1;
	const spatial at = force_shift(f, arm_of(m, side));
	return (CalWrench){.node = cal_model_node_index(group->model, m->node[side]),
	                   .frame = CAL_FRAME_WORLD,
	                   .f = spatial_out((spatial){scale(sign, at.a), scale(sign, at.l)})};
}

/* Jumps of the speeds of an old group under a wrench on b at p and its opposite on a. */
static CalStatus impulse_response(const TopologyEdit *c, const AttachCandidate *m, int i, spatial f) {
	const SimGroup *group = &c->sim->groups[c->old[i]];
	CalWrench wrenches[2];
	int count = 0;
	for (int side = 0; side < 2; side++) {
		if (m->old[side] == i)
			wrenches[count++] = wrench_on(c, m, side, f);
	}
	const Jump jump = {.q = group->state.q, .held = group->held, .wrenches = wrenches, .wrench_count = count};
	memset(group->view_work->loops.z, 0, sizeof(double) * (size_t)group->model->row_count);
	return impulse_jump(group->model, &jump, group->view_work, m->jump[i], NULL);
}

/* What the velocity of b relative to a at p jumped by, as far as this group moved. */
static CalStatus relative_jump(const TopologyEdit *c, const AttachCandidate *m, int i, spatial *V) {
	const SimGroup *group = &c->sim->groups[c->old[i]];
	*V = spatial_zero();
	for (int side = 0; side < 2; side++) {
		CalSpatial A;
		if (m->old[side] != i)
			continue;
		const CalStatus status = cal_node_acceleration(group->model, group->view_work,
		                                               cal_model_node_index(group->model, m->node[side]), &A);
		if (status != CAL_OK)
			return status;
		*V = spatial_madd(*V, side ? 1 : -1, motion_shift(spatial_in(A), arm_of(m, side)));
	}
	return CAL_OK;
}

/* Adds C'Lambda_i C of group i to Lambda, column by column. */
static CalStatus add_by_columns(const TopologyEdit *c, const AttachCandidate *m, int i, double *Lambda) {
	for (int k = 0; k < m->count; k++) {
		spatial jump;
		CalStatus status = impulse_response(c, m, i, m->C[k]);
		if (status == CAL_OK)
			status = relative_jump(c, m, i, &jump);
		if (status != CAL_OK)
			return status;
		for (int l = 0; l < m->count; l++)
			Lambda[l * m->count + k] += spatial_dot(m->C[l], jump);
	}
	return CAL_OK;
}

/* What add_by_node() keeps after the jump of a group: the Jacobian of its node, D^-1, and L^-1 J'C, with M = L D L'. */
static double *jacobian_of(const AttachCandidate *m, int i, int nu) { return m->jump[i] + nu; }
static double *inverse_of(const AttachCandidate *m, int i, int nu) { return m->jump[i] + 7 * nu; }
static double *columns_of(const AttachCandidate *m, int i, int nu) { return m->jump[i] + 8 * nu; }
enum { KEPT = 14 }; // numbers per speed in all

/* Q[nu] = J'f */
static void jacobian_transpose_mul(int nu, const double *J, CalSpatial f, double *Q) {
	const double *a = &f.angular.x, *l = &f.linear.x;
	for (int k = 0; k < nu; k++) {
		Q[k] = J[k] * a[0] + J[nu + k] * a[1] + J[2 * nu + k] * a[2] + J[3 * nu + k] * l[0] + J[4 * nu + k] * l[1] +
		       J[5 * nu + k] * l[2];
	}
}

/* sum w x y, two sums side by side. */
static double weighted_dot(int nu, const double *w, const double *x, const double *y) {
	double even = 0, odd = 0;
	for (int k = 0; k + 1 < nu; k += 2) {
		even += w[k] * x[k] * y[k];
		odd += w[k + 1] * x[k + 1] * y[k + 1];
	}
	return even + odd + (nu % 2 ? w[nu - 1] * x[nu - 1] * y[nu - 1] : 0);
}

/* The same by the factors of the mass matrix, for a plain group: it has one of the nodes, and nothing holds it. */
static CalStatus add_by_node(const TopologyEdit *c, const AttachCandidate *m, int i, double *Lambda) {
	const SimGroup *group = &c->sim->groups[c->old[i]];
	const int side = m->old[1] == i, nu = group->model->nu;
	double *J = jacobian_of(m, i, nu), *inverse = inverse_of(m, i, nu), *columns = columns_of(m, i, nu);
	CalStatus status = cal_mass_factor(group->model, &group->state, group->view_work);
	if (status == CAL_OK)
		status = cal_innovations_diagonal(group->model, group->view_work, inverse);
	for (int k = 0; k < nu && status == CAL_OK; k++)
		inverse[k] = 1.0 / inverse[k];
	if (status == CAL_OK)
		status =
			cal_node_jacobian(group->model, group->view_work, cal_model_node_index(group->model, m->node[side]), J);
	for (int k = 0; k < m->count && status == CAL_OK; k++) {
		double *y = columns + k * nu;
		jacobian_transpose_mul(nu, J, spatial_out(force_shift(m->C[k], arm_of(m, side))), m->jump[i]);
		status = cal_innovations_solve(group->model, group->view_work, m->jump[i], y);
		for (int l = 0; l <= k; l++) {
			const double compliance = weighted_dot(nu, inverse, columns + l * nu, y);
			Lambda[l * m->count + k] += compliance;
			Lambda[k * m->count + l] += l < k ? compliance : 0;
		}
	}
	return status;
}

/* Its jump, once the impulse is known: (L^-1)' D^-1 L^-1 J'C z. */
static CalStatus jump_by_node(const TopologyEdit *c, const AttachCandidate *m, int i) {
	const SimGroup *group = &c->sim->groups[c->old[i]];
	const int nu = group->model->nu, side = m->old[1] == i;
	double *sum = jacobian_of(m, i, nu), *inverse = inverse_of(m, i, nu); // the Jacobian has served
	memset(sum, 0, sizeof(double) * (size_t)nu);
	for (int l = 0; l < m->count; l++) {
		const double *y = columns_of(m, i, nu) + l * nu, z = side ? m->z[l] : -m->z[l];
		for (int k = 0; k < nu; k++)
			sum[k] += z * y[k];
	}
	for (int k = 0; k < nu; k++)
		sum[k] *= inverse[k];
	return cal_innovations_solve_transpose(group->model, group->view_work, sum, m->jump[i]);
}

static int group_is_plain(const TopologyEdit *c, const AttachCandidate *m, int i) {
	const SimGroup *group = &c->sim->groups[c->old[i]];
	int held = m->old[0] == m->old[1] || group->model->row_count > 0;
	for (int k = 0; k < group->model->nu && !held; k++)
		held = group->held[k];
	return !held;
}

/* The impulse that stops what the joint holds; V is the relative velocity before. */
static CalStatus solve_impulse(const TopologyEdit *c, AttachCandidate *m, spatial V) {
	double Lambda[36] = {0}, *z = m->z, scratch[48];
	int order[6];
	uint8_t independent[6];
	const int n = m->count;
	for (int i = 0; i < c->old_count; i++) {
		const CalStatus status = m->plain[i] ? add_by_node(c, m, i, Lambda) : add_by_columns(c, m, i, Lambda);
		if (status != CAL_OK)
			return status;
	}
	for (int i = 0; i < n; i++) {
		z[i] = -spatial_dot(m->C[i], V);
		for (int k = 0; k < i; k++)
			Lambda[i * n + k] = Lambda[k * n + i] = 0.5 * (Lambda[i * n + k] + Lambda[k * n + i]);
	}
	const int rank = min_norm_factor(n, Lambda, DEPENDENT, order, independent, scratch);
	min_norm_solve(n, rank, Lambda, order, scratch, z, z);
	m->impulse = spatial_zero();
	for (int k = 0; k < n; k++)
		m->impulse = spatial_madd(m->impulse, z[k], m->C[k]);
	return CAL_OK;
}

static CalStatus kinetic_energy(const TopologyEdit *c, double *sum) {
	CalStatus status = CAL_OK;
	*sum = 0;
	for (int i = 0; i < c->old_count && status == CAL_OK; i++) {
		const SimGroup *group = &c->sim->groups[c->old[i]];
		CalState state = group->state;
		CalEnergy energy;
		state.u = c->u[i] ? c->u[i] : state.u;
		status = cal_energy(group->model, &state, group->view_work, &energy);
		*sum += energy.kinetic;
	}
	return status;
}

/* Memory and driven dofs of the old groups. */
static CalStatus prepare_groups(TopologyEdit *c, AttachCandidate *m) {
	for (int i = 0; i < c->old_count; i++) {
		const SimGroup *group = &c->sim->groups[c->old[i]];
		const size_t nu = (size_t)group->model->nu;
		const uint8_t *kept = group_kept(group);
		const CalStatus status = kept ? edit_copy_speeds(c, i) : CAL_ERR_USER;
		if (status != CAL_OK)
			return status;
		memcpy(group->held, kept, nu);
		m->plain[i] = group_is_plain(c, m, i);
		m->jump[i] = memory_alloc(&c->t->allocator, sizeof(double) * nu * (m->plain[i] ? KEPT : 1));
		if (!m->jump[i])
			return edit_no_memory(c);
	}
	return CAL_OK;
}

/* The impulse, and the speeds after it. Constraint equations are found first, for the sweeps to come. */
static CalStatus apply_attach_impulse(TopologyEdit *c, AttachCandidate *m, spatial V) {
	for (int i = 0; i < c->old_count; i++) {
		const SimGroup *group = &c->sim->groups[c->old[i]];
		if (!m->plain[i])
			impulse_rows(group->model, &group->state, group->state.u, group->view_work);
	}
	CalStatus status = solve_impulse(c, m, V);
	for (int i = 0; i < c->old_count && status == CAL_OK; i++) {
		const SimGroup *group = &c->sim->groups[c->old[i]];
		status = m->plain[i] ? jump_by_node(c, m, i) : impulse_response(c, m, i, m->impulse);
		for (int k = 0; status == CAL_OK && k < group->model->nu; k++)
			c->u[i][k] += group->held[k] ? 0 : m->jump[i][k];
	}
	return status;
}

/* V: velocity of b relative to a before. */
static CalStatus solve_attach_impulse(TopologyEdit *c, AttachCandidate *m, spatial V, CalTransition *report) {
	double before = 0, after = 0;
	CalStatus status = prepare_groups(c, m);
	if (status == CAL_OK && !is_plain(c, m))
		status = kinetic_energy(c, &before);
	if (status == CAL_OK)
		status = apply_attach_impulse(c, m, V);
	if (status == CAL_OK && !is_plain(c, m))
		status = kinetic_energy(c, &after);
	if (status == CAL_OK && report) {
		report->kinetic_lost = before - after; // where all is plain: see lost_by_impulse()
		report->impulse = spatial_out(m->impulse);
		report->point = dvec_out(m->p);
	}
	for (int i = 0; i < EDIT_MAX_GROUPS; i++)
		memory_free(&c->t->allocator, m->jump[i]);
	return status;
}

/* Where nothing else does work: that of the impulse at the mean of the velocities before and after. */
static double lost_by_impulse(const AttachCandidate *m, spatial before, spatial after) {
	return -0.5 * spatial_dot(m->impulse, spatial_add(before, after));
}

/* ---- where the nodes are ------------------------------------------------------------------------------------ */

static const char *node_name(const Topology *t, CalNodeId node) {
	return node.value ? t->desc->nodes[node.value - 1].def.name : "origin";
}

/* Coordinates of the joint; its placements are set so that nothing has to move. */
static CalStatus solve_joint_coordinates(TopologyEdit *c, AttachCandidate *m, const CalAttachOptions *options,
                                         CalTransition *report) {
	TopologyJoint *j = topology_joint(c->t, m->joint);
	const double tolerance = options->tolerance > 0 ? options->tolerance : FITS;
	dpose X = joint_pose_between(&j->def, &m->motion[0], &m->motion[1]), at;
	double misfit = joint_solve_pose(&j->def, &X, m->q);
	if (report)
		report->misfit = misfit;
	if (options->fit) {
		X = dpose_identity();
		joint_solve_pose(&j->def, &X, m->q);
	} else if (!(misfit <= tolerance)) {
		return error_set(
			c->error, CAL_ERR_MODEL,
			"joint \"%s\" does not fit: node \"%s\" of \"%s\" is off by %.3g (m or rad) from where it may be "
			"on \"%s\" of \"%s\"; move it there, or give CalAttachOptions.fit",
			j->def.name, node_name(c->t, m->node[1]), topology_body_name(c->t, m->body[1]), misfit,
			node_name(c->t, m->node[0]), topology_body_name(c->t, m->body[0]));
	}
	joint_evaluate(&j->def, m->q, &at, NULL);
	if (options->fit == CAL_FIT_AT_B) {
		const dpose J = dpose_mul(m->motion[1].X, dpose_inverse(pose_of(j->def.outboard)));
		const dpose F = dpose_mul(J, dpose_inverse(at)), inboard = dpose_mul(dpose_inverse(m->motion[0].X), F);
		j->def.inboard = placement_of(&inboard);
	}
	const dpose J = dpose_mul(dpose_mul(m->motion[0].X, pose_of(j->def.inboard)), at);
	const dpose outboard = dpose_mul(dpose_inverse(J), m->motion[1].X);
	j->def.outboard = placement_of(&outboard);
	return CAL_OK;
}

/* Directions that the joint holds, in the world. */
static void find_constrained_directions(const TopologyEdit *c, AttachCandidate *m) {
	const CalJointDef *def = &topology_joint(c->t, m->joint)->def;
	const mat3 F = mat_from(dpose_mul(m->motion[0].X, pose_of(def->inboard)).R);
	m->p = dpose_mul(m->motion[1].X, dpose_inverse(pose_of(def->outboard))).r;
	m->count = joint_directions(def, m->q, m->C);
	for (int k = 0; k < m->count; k++)
		m->C[k] = (spatial){mat_mul_vec(F, m->C[k].a), mat_mul_vec(F, m->C[k].l)};
}

/* ---- where the joint goes ------------------------------------------------------------------------------------- */

/* The body whose tree the joint carries, 0: it has to be a loop. */
static uint32_t subtree_to_attach(const TopologyEdit *c, const AttachCandidate *m, int loop) {
	const uint32_t a = m->body[0], b = m->body[1];
	const uint32_t root_a = a ? topology_root(c->t, a) : 0, root_b = b ? topology_root(c->t, b) : 0;
	if (loop || root_a == root_b)
		return 0;
	if (b && topology_is_free_root(c->t, root_b))
		return b;
	return a && topology_is_free_root(c->t, root_a) ? a : 0;
}

static void join_groups(TopologyEdit *c, const AttachCandidate *m, uint32_t host) {
	for (int side = 0; side < 2; side++) {
		const uint32_t from = m->body[side] ? topology_group(c->t, m->body[side]) : host;
		for (int i = 0; from != host && i < c->t->desc->body_count; i++) {
			if (c->t->desc->bodies[i].def.group.value == from)
				c->t->desc->bodies[i].def.group.value = host;
		}
	}
}

/* Velocity of b relative to a at p. */
static spatial relative_velocity(const AttachCandidate *m) {
	spatial V[2];
	for (int side = 0; side < 2; side++)
		V[side] = motion_shift(m->motion[side].V, arm_of(m, side));
	return spatial_sub(V[1], V[0]);
}

/* After the impulse: what the joint holds moves no more, unless something that is driven insists. */
static CalStatus check_stopped(TopologyEdit *c, AttachCandidate *m, spatial before) {
	CalStatus status = edit_kinematics(c);
	for (int side = 0; side < 2 && status == CAL_OK; side++)
		status = edit_node_motion(c, m->node[side], &m->motion[side]);
	if (status != CAL_OK)
		return status;
	const spatial V = relative_velocity(m);
	const double size = sqrt(spatial_dot(before, before)) + sqrt(spatial_dot(m->motion[0].V, m->motion[0].V)) + 1;
	double most = 0;
	for (int k = 0; k < m->count; k++)
		most = fmax(most, fabs(spatial_dot(m->C[k], V)));
	return most <= STOPPED * size
	           ? CAL_OK
	           : error_set(
					 c->error, CAL_ERR_MODEL,
					 "joint \"%s\" cannot hold: its sides still move by %.3g (m/s or rad/s); what is driven or locked "
					 "leaves no way out, unlock some of it",
					 topology_joint(c->t, m->joint)->def.name, most);
}

static CalStatus stop_by_impulse(TopologyEdit *c, AttachCandidate *m, CalTransition *report) {
	const spatial V = relative_velocity(m);
	CalStatus status = solve_attach_impulse(c, m, V, report);
	if (status == CAL_OK)
		status = check_stopped(c, m, V);
	if (status == CAL_OK && report && is_plain(c, m))
		report->kinetic_lost = lost_by_impulse(m, V, relative_velocity(m));
	return status;
}

/* The joint carries the tree of `body`, in one group with the rest. */
static CalStatus join_trees(TopologyEdit *c, AttachCandidate *m, uint32_t body, uint32_t host) {
	const uint32_t root = topology_root(c->t, body);
	const uint32_t top = topology_node_body(c->t, topology_outboard(topology_joint(c->t, root)));
	CalStatus status = topology_reverse_path(c->t, body, top, c->error);
	if (status != CAL_OK)
		return status;
	topology_open(c->t, root);
	join_groups(c, m, host);
	status = topology_set_parent(c->t, m->joint, body, c->error);
	if (status == CAL_OK)
		status = edit_add_new_joint(c, m->joint);
	return status == CAL_OK ? edit_build(c) : status;
}

static CalStatus attach_in_tree(TopologyEdit *c, AttachCandidate *m, uint32_t body, uint32_t host,
                                CalTransition *report) {
	const CalStatus status = stop_by_impulse(c, m, report);
	return status == CAL_OK ? join_trees(c, m, body, host) : status;
}

/* Without an impulse: of the motion of `body` only what the joint allows stays. */
static CalStatus attach_kinematically(TopologyEdit *c, AttachCandidate *m, uint32_t body, uint32_t host,
                                      CalTransition *report) {
	double before = 0;
	CalEnergy after = {0};
	if (!body)
		return error_set(c->error, CAL_ERR_MODEL,
		                 "joint \"%s\" closes a loop, so neither side can take over the motion of the other; attach it "
		                 "by an impulse (without the option kinematic)",
		                 topology_joint(c->t, m->joint)->def.name);
	CalStatus status = kinetic_energy(c, &before); // leaves the kinematics of the old groups
	if (status == CAL_OK)
		status = join_trees(c, m, body, host);
	if (status == CAL_OK)
		status = cal_energy(c->made[0].model, &c->made[0].state, c->made[0].view_work, &after);
	if (status == CAL_OK && report)
		report->kinetic_lost = before - after.kinetic - c->rotors_lost; // which edit_commit() adds
	return status;
}

static CalStatus attach_as_loop(TopologyEdit *c, AttachCandidate *m, uint32_t host, CalTransition *report) {
	const TopologyJoint *j = topology_joint(c->t, m->joint);
	CalStatus status = topology_close(c->t, m->joint, c->error);
	if (status != CAL_OK)
		return status;
	const JointType *type = joint_type(j->def.type);
	if (type->loop_offset) {
		type->loop_offset(&j->def, m->q, &topology_loop(c->t, j->loop)->as.def);
		topology_put_loop(c->t, j->loop);
	}
	join_groups(c, m, host);
	status = edit_build(c);
	return status == CAL_OK ? edit_apply_impulse(c, j->loop, report) : status;
}

static CalStatus check_sides(TopologyEdit *c, const AttachCandidate *m) {
	const char *name = topology_joint(c->t, m->joint)->def.name;
	const CalDesc *desc = c->t->desc;
	if (!m->body[0] && !m->body[1])
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\": both of its nodes are on the ground", name);
	if (m->node[0].value == m->node[1].value)
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\" would attach node \"%s\" of \"%s\" to itself", name,
		                 node_name(c->t, m->node[0]), topology_body_name(c->t, m->body[0]));
	if (m->body[0] == m->body[1] && !desc->bodies[m->body[0] - 1].flex)
		return error_set(c->error, CAL_ERR_MODEL, "joint \"%s\" would attach the rigid body \"%s\" to itself", name,
		                 topology_body_name(c->t, m->body[0]));
	if (!m->body[0] || !m->body[1])
		return CAL_OK;
	const CalGroupDef *a = &desc->groups[topology_group(c->t, m->body[0]) - 1];
	const CalGroupDef *b = &desc->groups[topology_group(c->t, m->body[1]) - 1];
	if (a->gravity.x != b->gravity.x || a->gravity.y != b->gravity.y || a->gravity.z != b->gravity.z)
		return error_set(c->error, CAL_ERR_MODEL,
		                 "joint \"%s\": groups \"%s\" and \"%s\" are in different gravity; make it the same first",
		                 name, a->name, b->name);
	if (a->propagation != b->propagation)
		return error_set(c->error, CAL_ERR_MODEL,
		                 "joint \"%s\": group \"%s\" is propagated %s, group \"%s\" %s; make it the same first "
		                 "(cal_sim_set_propagation, action propagate)",
		                 name, a->name, cal_propagation_name(a->propagation), b->name,
		                 cal_propagation_name(b->propagation));
	return CAL_OK;
}

/* A joint that is open by now. */
static CalStatus attach_joint(TopologyEdit *c, uint32_t joint, const CalAttachOptions *options, CalTransition *report) {
	const CalAttachOptions none = {0};
	const TopologyJoint *j = topology_joint(c->t, joint);
	AttachCandidate m = {.joint = joint, .node = {j->a, j->b}, .old = {-1, -1}};
	options = options ? options : &none;
	for (int side = 0; side < 2; side++)
		m.body[side] = topology_node_body(c->t, m.node[side]);
	CalStatus status = check_sides(c, &m);
	for (int side = 0; side < 2 && status == CAL_OK; side++) {
		if (m.body[side])
			m.old[side] = edit_add_group(c, topology_group(c->t, m.body[side]));
	}
	if (status == CAL_OK)
		status = edit_kinematics(c);
	for (int side = 0; side < 2 && status == CAL_OK; side++)
		status = edit_node_motion(c, m.node[side], &m.motion[side]);
	if (status == CAL_OK)
		status = solve_joint_coordinates(c, &m, options, report);
	if (status != CAL_OK)
		return status;
	find_constrained_directions(c, &m);
	const uint32_t host = topology_group(c->t, m.body[0] ? m.body[0] : m.body[1]);
	const uint32_t body = subtree_to_attach(c, &m, options->loop);
	c->group[0] = host;
	c->made_count = 1;
	if (options->kinematic)
		return attach_kinematically(c, &m, body, host, report);
	return body ? attach_in_tree(c, &m, body, host, report) : attach_as_loop(c, &m, host, report);
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static CalStatus check_definition(TopologyEdit *c, const CalJointDef *joint, CalJointDef *def) {
	if (!joint || !joint->name || !joint->name[0])
		return error_set(c->error, CAL_ERR_ARGUMENT, "cal_sim_attach: give a joint with a name");
	for (int i = 0; i < c->t->desc->joint_count; i++) {
		if (strcmp(c->t->joints[i].def.name, joint->name) == 0)
			return error_set(c->error, CAL_ERR_MODEL,
			                 "joint \"%s\": the name is already in use; take another, or close that joint again "
			                 "(cal_sim_reattach)",
			                 joint->name);
	}
	if (c->t->left.joints <= 0)
		return error_set(c->error, CAL_ERR_MEMORY,
		                 "joint \"%s\": no room for another joint; raise CalSimCapacity.joints", joint->name);
	*def = *joint;
	const CalStatus status = joint_def_resolve(def, c->error);
	if (status != CAL_OK)
		return status;
	Check check = {.desc = c->t->desc, .report = edit_keep_first_error, .user = c->error};
	check_joint(&check, def);
	return check.failed ? CAL_ERR_MODEL : CAL_OK;
}

CalStatus cal_sim_attach(CalSim *sim, CalNodeId a, const CalJointDef *joint, CalNodeId b,
                         const CalAttachOptions *options, CalJointId *id, CalTransition *report, CalError *error) {
	TopologyEdit c;
	CalJointDef def;
	uint32_t made = 0;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status == CAL_OK)
		status = edit_check_node(&c, a);
	if (status == CAL_OK)
		status = edit_check_node(&c, b);
	if (status == CAL_OK)
		status = check_definition(&c, joint, &def);
	if (status == CAL_OK) {
		c.t->left.joints--;
		made = topology_add_joint(c.t, &def, a, b);
		status = made ? attach_joint(&c, made, options, report) : edit_no_memory(&c);
	}
	status = edit_commit_or_abandon(&c, status, report);
	if (status == CAL_OK && id)
		id->value = made;
	return status;
}

CalStatus cal_sim_reattach(CalSim *sim, CalJointId joint, const CalAttachOptions *options, CalTransition *report,
                           CalError *error) {
	TopologyEdit c;
	CalStatus status = edit_begin(sim, report, error, &c);
	if (status != CAL_OK)
		return status;
	status = edit_check_joint(&c, joint);
	const TopologyJoint *j = status == CAL_OK ? topology_joint(c.t, joint.value) : NULL;
	if (j && (j->state != CAL_JOINT_OPEN || j->own))
		status = error_set(error, CAL_ERR_MODEL, "joint \"%s\" is not open", j->def.name);
	if (status == CAL_OK && j)
		status = edit_check_node(&c, j->a);
	if (status == CAL_OK && j)
		status = edit_check_node(&c, j->b);
	if (status == CAL_OK)
		status = attach_joint(&c, joint.value, options, report);
	return edit_commit_or_abandon(&c, status, report);
}
