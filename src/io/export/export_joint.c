// SPDX-License-Identifier: Apache-2.0
/*
 * export_joint.c — a joint as links that a format can have: one link if the format has such joints, otherwise a chain over
 * links without mass, one for each element.
 *
 * The coordinates stay as they are. A rotation of the body in M is turned into F where the coordinates do not see it: for
 * all axes, since X_PF S(a, q) R = X_PF R S(R'a, q). Quaternions see it: the link of a ball or free joint has the frame M.
 * A format that places the frame of a joint on both links needs neither, but for free joints.
 */
#include <string.h>

#include "io/export/export.h"
#include "joint/joint_type.h"

static bool has(const Export *ex, ExportMotion motion) { return ex->format->motions >> motion & 1; }

/* ---- frames of the setup ----------------------------------------------------------------------------- */

static dpose node_on_body(const CalDesc *desc, CalNodeId id) {
	const CalNodeDef *node = cal_desc_node(desc, id, NULL);
	return node ? pose_of(node->placement) : dpose_identity();
}

static dpose joint_on_body(const CalDesc *desc, const CalJointDef *def, CalNodeId inboard) {
	return dpose_mul(node_on_body(desc, inboard), pose_of(def->inboard));
}

static dpose body_in_joint(const CalDesc *desc, const CalJointDef *def, CalNodeId outboard) {
	return dpose_mul(pose_of(def->outboard), dpose_inverse(node_on_body(desc, outboard)));
}

/* ---- elements ---------------------------------------------------------------------------------------- */

/* One step of a joint. */
typedef struct Step {
	ExportMotion motion;
	dvec3 axis, axis2;
	double pitch;
	int dofs, coordinates;
} Step;

enum { MOST_STEPS = CAL_JOINT_MAX_DOF };

static Step step_of(const JointElement *e) {
	static const ExportMotion motions[] = {
		[PRIMITIVE_FIXED] = EXPORT_FIXED,
		[PRIMITIVE_ROTATION] = EXPORT_ROTATION,
		[PRIMITIVE_TRANSLATION] = EXPORT_TRANSLATION,
		[PRIMITIVE_SCREW] = EXPORT_SCREW,
		[PRIMITIVE_SPHERICAL] = EXPORT_BALL,
		[PRIMITIVE_FREE] = EXPORT_FREE,
	};
	return (Step){.motion = e->motion <= PRIMITIVE_FREE ? motions[e->motion] : EXPORT_FIXED,
	              .axis = dvec_in(e->axis),
	              .pitch = e->pitch,
	              .dofs = primitive_u_count(e->motion, NULL),
	              .coordinates = primitive_q_count(e->motion, NULL)};
}

/* Three slides and a ball have the coordinates and speeds of a free joint. */
static int free_steps(Step *steps) {
	steps[0] = (Step){EXPORT_TRANSLATION, {1, 0, 0}, {0, 0, 0}, 0, 1, 1};
	steps[1] = (Step){EXPORT_TRANSLATION, {0, 1, 0}, {0, 0, 0}, 0, 1, 1};
	steps[2] = (Step){EXPORT_TRANSLATION, {0, 0, 1}, {0, 0, 0}, 0, 1, 1};
	steps[3] = (Step){EXPORT_BALL, {0, 0, 1}, {0, 0, 0}, 0, 3, 4};
	return 4;
}

static bool free_fits(const Export *ex, const CalJointDef *def, CalNodeId inboard) {
	CalBodyId body = {0};
	const dpose X = joint_on_body(ex->desc, def, inboard);
	cal_desc_node(ex->desc, inboard, &body);
	return has(ex, EXPORT_FREE) && (ex->format->free_anywhere || (body.value == 0 && export_is_neutral(&X)));
}

/* A joint of several elements that the format has as one. */
static bool take_whole(const Export *ex, const CalJointDef *def, Step *step) {
	const dvec3 axis = dvec_in(def->axis), axis2 = dvec_in(def->axis2);
	if (def->type == CAL_JOINT_UNIVERSAL && has(ex, EXPORT_UNIVERSAL))
		*step = (Step){EXPORT_UNIVERSAL, axis, axis2, 0, 2, 2};
	else if (def->type == CAL_JOINT_PLANAR && has(ex, EXPORT_PLANAR))
		*step = (Step){EXPORT_PLANAR, axis, axis2, 0, 3, 3};
	else
		return false;
	return true;
}

/* Steps of a joint; 0: the format has no such motion, and there is no chain for it. */
static int list_steps(const Export *ex, CalJointId id, Step steps[MOST_STEPS]) {
	CalNodeId inboard;
	const CalJointDef *def = cal_desc_joint(ex->desc, id, &inboard, NULL);
	JointElement elements[CAL_JOINT_MAX_DOF];
	if (take_whole(ex, def, &steps[0]))
		return 1;
	if (def->type == CAL_JOINT_USER)
		return 0;
	const int count = joint_elements(def, elements);
	for (int i = 0; i < count; i++)
		steps[i] = step_of(&elements[i]);
	if (count == 0)
		steps[0] = (Step){.motion = EXPORT_FIXED};
	if (count == 1 && steps[0].motion == EXPORT_FREE && !free_fits(ex, def, inboard))
		return has(ex, EXPORT_BALL) ? free_steps(steps) : 0;
	for (int i = 0; i < count; i++)
		if (!has(ex, steps[i].motion))
			return 0;
	return count ? count : 1;
}

int export_joint_link_count(const Export *ex, CalJointId id) {
	Step steps[MOST_STEPS];
	const int count = list_steps(ex, id, steps);
	return count ? count : 1;
}

/* ---- frames of the links ----------------------------------------------------------------------------- */

static bool has_quaternion(const Step *steps, int count) {
	for (int i = 0; i < count; i++)
		if (steps[i].motion == EXPORT_BALL || steps[i].motion == EXPORT_FREE)
			return true;
	return false;
}

/* Axes and F turned, so that the body is not turned in M. */
static void turn_axes(Step *steps, int count, dpose *X_PF, dpose *X_MB) {
	const dmat3 R = X_MB->R;
	X_PF->R = dmat_mul(X_PF->R, R);
	X_MB->r = dmat_tmul_vec(R, X_MB->r);
	X_MB->R = dmat_identity();
	for (int i = 0; i < count; i++) {
		steps[i].axis = dmat_tmul_vec(R, steps[i].axis);
		steps[i].axis2 = dmat_tmul_vec(R, steps[i].axis2);
	}
}

/* Readers of URDF choose directions in the plane: its normal is z here, and its first direction x. */
static void turn_plane(Step *step, dpose *X_PF, dpose *X_MB) {
	const dmat3 A = {step->axis2, dcross(step->axis, step->axis2), step->axis};
	X_PF->R = dmat_mul(X_PF->R, A);
	X_MB->R = dmat_mul(dmat_transpose(A), X_MB->R);
	X_MB->r = dmat_tmul_vec(A, X_MB->r);
	step->axis = (dvec3){0, 0, 1};
	step->axis2 = (dvec3){1, 0, 0};
}

/* What needs no frame of its own: the body is where the joint is. */
static void absorb_offset(dpose *X_PF, dpose *X_MB) {
	*X_PF = dpose_mul(*X_PF, *X_MB);
	*X_MB = dpose_identity();
}

static void choose_frames(const Export *ex, Step *steps, int count, dpose *X_PF, dpose *X_MB) {
	const ExportMotion only = count == 1 ? steps[0].motion : EXPORT_FREE;
	if (only == EXPORT_FIXED) {
		absorb_offset(X_PF, X_MB);
	} else if (only == EXPORT_PLANAR && ex->format->link_is_joint) {
		turn_plane(&steps[0], X_PF, X_MB);
	} else if (!ex->format->has_joint_frames && !has_quaternion(steps, count)) {
		turn_axes(steps, count, X_PF, X_MB);
		if (only == EXPORT_TRANSLATION)
			absorb_offset(X_PF, X_MB);
	}
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* "wrist_angle1" of a chain; the ball of a free joint "base_turn". */
static const char *step_name(Export *ex, const CalJointDef *def, const ExportLink *link) {
	CalCoordinateInfo info = {.name = "turn"};
	if (link->dofs == 1)
		cal_joint_coordinate(def, link->coordinate, &info);
	return export_format(ex, "%s_%s", def->name, info.name);
}

static void name_link(Export *ex, const CalJointDef *def, const CalBodyDef *body, ExportLink *link, bool alone) {
	const char *wanted = alone ? def->name : step_name(ex, def, link);
	if (link->body.value)
		link->name = export_name(ex, &ex->link_names, "body", body->name, body->place);
	else
		link->name = export_new_name(ex, &ex->link_names, export_format(ex, "%s_%s", body->name, wanted));
	link->joint_name = alone ? export_name(ex, &ex->joint_names, "joint", wanted, def->place)
	                         : export_new_name(ex, &ex->joint_names, wanted);
}

/* ---- the links --------------------------------------------------------------------------------------- */

static void report_chain(Export *ex, const CalJointDef *def, int count) {
	const char *type = cal_joint_type_name(def->type);
	if (count == 0)
		export_note(ex, CAL_IMPORT_MISSING, "joint", def->name, def->place,
		            "%s has no joint like this one, of type %s; a partial file has it fixed at zero", ex->format->name,
		            type);
	else if (count > 1)
		export_note(ex, CAL_IMPORT_CHANGED, "joint", def->name, def->place,
		            "%s has no joint like this one, of type %s; written: %d joints \"%.80s_...\" in a row over links "
		            "without mass, with the same coordinates",
		            ex->format->name, type, count, def->name);
}

static void report_frame(Export *ex, const CalBodyDef *body, const ExportLink *link) {
	if (!export_is_neutral(&link->X_LB))
		export_note(ex, CAL_IMPORT_CHANGED, "body", body->name, body->place,
		            "the frame of its link is that of its joint in the file; the motion is the same");
}

/* Link `i` of `count`: the last one carries the body. */
static ExportLink make_link(const Step *step, int i, int count, dpose X_PF, dpose X_MB, bool at_joint) {
	const bool last = i == count - 1;
	return (ExportLink){.motion = step->motion,
	                    .axis = step->axis,
	                    .axis2 = step->axis2,
	                    .pitch = step->pitch,
	                    .dofs = step->dofs,
	                    .X_PF = i ? dpose_identity() : X_PF,
	                    .X_ML = last && !at_joint ? X_MB : dpose_identity(),
	                    .X_LB = last && at_joint ? X_MB : dpose_identity()};
}

int export_joint_links(Export *ex, CalJointId id, ExportLink *first, int parent) {
	CalNodeId inboard, outboard;
	CalBodyId body = {0};
	Step steps[MOST_STEPS];
	const CalJointDef *def = cal_desc_joint(ex->desc, id, &inboard, &outboard);
	int count = list_steps(ex, id, steps), dof = 0, coordinate = 0;
	report_chain(ex, def, count);
	if (count == 0)
		steps[count++] = (Step){.motion = EXPORT_FIXED};
	cal_desc_node(ex->desc, outboard, &body);
	dpose X_PF = joint_on_body(ex->desc, def, inboard), X_MB = body_in_joint(ex->desc, def, outboard);
	if (parent != EXPORT_GROUND)
		X_PF = dpose_mul(ex->links[parent].X_LB, X_PF);
	choose_frames(ex, steps, count, &X_PF, &X_MB);
	const bool is_free = count == 1 && steps[0].motion == EXPORT_FREE;
	const bool at_joint =
		ex->format->link_is_joint || is_free || (!ex->format->has_joint_frames && has_quaternion(steps, count));
	for (int i = 0; i < count; i++) {
		ExportLink *link = &first[i];
		*link = make_link(&steps[i], i, count, X_PF, X_MB, at_joint);
		link->body = i == count - 1 ? body : (CalBodyId){0};
		link->turn_PF = def->inboard.orientation;
		link->turn_ML = def->outboard.orientation;
		link->joint = id;
		link->parent = i ? (int)(link - ex->links) - 1 : parent;
		link->dof = dof;
		link->coordinate = coordinate;
		link->place = def->place;
		dof += steps[i].dofs;
		coordinate += steps[i].coordinates;
		name_link(ex, def, cal_desc_body(ex->desc, body), link, count == 1);
	}
	report_frame(ex, cal_desc_body(ex->desc, body), &first[count - 1]);
	return count;
}
