// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_write.c — a setup as a URDF file (docs/export.md).
 *
 * The ground is the root link "world". A link has the frame of its joint, nodes are links without mass on fixed joints,
 * rotors and motors are transmissions, couplings mimics. What other programs need and Calder has not (effort and velocity) is made up,
 * and noted.
 */
#include <math.h>
#include <string.h>

#include "io/export/export.h"
#include "io/urdf/urdf_reader.h"

static const char name_of_world[] = "world";

/* ---- poses ------------------------------------------------------------------------------------------- */

static void put_origin(Export *ex, const dpose *X) {
	if (export_is_neutral(X))
		return;
	export_open(ex, "origin");
	export_attribute_vector(ex, "xyz", X->r);
	if (!export_is_identity(X->R))
		export_attribute_vector(ex, "rpy", export_rpy(X->R));
	export_close(ex, "origin");
}

static void put_value(Export *ex, const char *element, double value) {
	export_open(ex, element);
	export_attribute_number(ex, "value", value);
	export_close(ex, element);
}

/* ---- links ------------------------------------------------------------------------------------------- */

static void put_inertial(Export *ex, const MassProperties *m) {
	static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
	const double(*I)[3] = m->inertia.m;
	const double values[] = {I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]};
	if (m->mass == 0)
		return;
	export_open(ex, "inertial");
	put_origin(ex, &(dpose){dmat_identity(), dvec_in(m->com)});
	put_value(ex, "mass", m->mass);
	export_open(ex, "inertia");
	for (int i = 0; i < 6; i++)
		export_attribute_number(ex, names[i], values[i]);
	export_close(ex, "inertia");
	export_close(ex, "inertial");
}

static void put_shape(Export *ex, const CalVisual *v) {
	const char *element = cal_visual_name(v->kind);
	export_open(ex, "geometry");
	export_open(ex, element);
	if (v->kind == CAL_VISUAL_BOX) {
		export_attribute_vector(ex, "size", dvec_in(v->size));
	} else if (v->kind == CAL_VISUAL_MESH) {
		export_attribute(ex, "filename", v->file);
		export_attribute_vector(ex, "scale", export_mesh_scale(v));
	} else {
		export_attribute_number(ex, "radius", v->size.x);
		if (v->kind != CAL_VISUAL_SPHERE)
			export_attribute_number(ex, "length", v->size.z);
	}
	export_close(ex, element);
	export_close(ex, "geometry");
}

static void put_material(Export *ex, int color) {
	double rgba[4];
	if (color < 0)
		return;
	export_color(color, rgba);
	export_open(ex, "material");
	export_attribute(ex, "name", export_format(ex, "#%06x", (unsigned)color));
	export_open(ex, "color");
	export_attribute_numbers(ex, "rgba", rgba, 4);
	export_close(ex, "color");
	export_close(ex, "material");
}

/* name NULL: none; color below zero: none. */
static void put_part(Export *ex, const char *element, const char *name, const dpose *X, const CalVisual *shape,
                     int color) {
	export_open(ex, element);
	if (name)
		export_attribute(ex, "name", name);
	put_origin(ex, X);
	put_shape(ex, shape);
	put_material(ex, color);
	export_close(ex, element);
}

/* A capsule, which is younger than URDF 1.0, is a cylinder with a sphere at either end. */
static void put_solid(Export *ex, const char *element, const char *name, const dpose *X, const CalVisual *shape,
                      int color) {
	if (shape->kind != CAL_VISUAL_CAPSULE) {
		put_part(ex, element, name, X, shape, color);
		return;
	}
	CalVisual part = *shape;
	part.kind = CAL_VISUAL_CYLINDER;
	put_part(ex, element, name, X, &part, color);
	part.kind = CAL_VISUAL_SPHERE;
	for (int end = 1; end <= 2; end++) {
		const dpose at = {dmat_identity(), {0, 0, (end - 1.5) * shape->size.z}};
		const dpose X_end = dpose_mul(*X, at);
		put_part(ex, element, name ? export_format(ex, "%s_end%d", name, end) : NULL, &X_end, &part, color);
	}
}

static void put_visuals(Export *ex, CalBodyId body, const dpose *X_LB) {
	const CalVisual *visuals = NULL;
	const int count = cal_setup_visuals(ex->setup, body, &visuals);
	for (int i = 0; i < count; i++) {
		const CalVisual *v = &visuals[i];
		if (!export_has_shape(ex, body, v))
			continue;
		const dpose X = dpose_mul(*X_LB, pose_of(v->placement));
		put_solid(ex, "visual", NULL, &X, v, v->color);
	}
}

static void put_collisions(Export *ex, int link) {
	for (int i = ex->first_collision[link + 1]; i >= 0; i = ex->collisions[i].next) {
		const ExportCollision *c = &ex->collisions[i];
		put_solid(ex, "collision", export_sound_text(ex, c->name), &c->X_L, &c->shape, -1);
	}
}

static void put_link(Export *ex, const ExportLink *link) {
	export_open(ex, "link");
	export_attribute(ex, "name", link->name);
	put_inertial(ex, &link->mass);
	if (link->body.value)
		put_visuals(ex, link->body, &link->X_LB);
	put_collisions(ex, (int)(link - ex->links));
	export_close(ex, "link");
}

/* ---- joints ------------------------------------------------------------------------------------------ */

static const char *link_name(const Export *ex, int link) {
	return link == EXPORT_GROUND ? name_of_world : ex->links[link].name;
}

static const char *type_of(const ExportLink *link) {
	const ExportAxis *axis = &link->axes[0];
	switch (link->motion) {
	case EXPORT_ROTATION:
		return axis->limit || (axis->mimic && axis->leader < 0) ? "revolute" : "continuous";
	case EXPORT_TRANSLATION:
		return "prismatic";
	case EXPORT_PLANAR:
		return "planar";
	case EXPORT_FREE:
		return "floating";
	default:
		return "fixed";
	}
}

static void put_side(Export *ex, const char *element, const char *name) {
	export_open(ex, element);
	export_attribute(ex, "link", name);
	export_close(ex, element);
}

static bool is_soft_as_read(const ExportLink *link, const CalLimitDef *limit) {
	const double inertia = export_axis_inertia(link), rate = 2 * 3.14159265358979323846 * IMPORT_LIMIT_FREQUENCY;
	const double J = inertia > 0 ? inertia : 1, k = J * rate * rate, c = 2 * IMPORT_LIMIT_DAMPING * J * rate;
	return fabs(limit->stiffness - k) <= 1e-9 * k && fabs(limit->damping - c) <= 1e-9 * c;
}

/* Stops, or an effort that bounds a motor. */
static bool has_limit(const ExportLink *link) {
	return link->motion == EXPORT_TRANSLATION || strcmp(type_of(link), "revolute") == 0 ||
	       (export_axis_count(link) && link->axes[0].effort > 0);
}

static void put_limit(Export *ex, const ExportLink *link) {
	const ExportAxis *axis = &link->axes[0];
	const bool held = axis->mimic && axis->leader < 0;
	if (!has_limit(link))
		return;
	export_open(ex, "limit");
	if (held || (axis->limit && isfinite(axis->limit->lower)))
		export_attribute_number(ex, "lower", held ? axis->offset : axis->limit->lower);
	if (held || (axis->limit && isfinite(axis->limit->upper)))
		export_attribute_number(ex, "upper", held ? axis->offset : axis->limit->upper);
	export_attribute_number(ex, "effort", axis->effort > 0 ? axis->effort : URDF_NO_BOUND);
	export_attribute_number(ex, "velocity", URDF_NO_BOUND);
	export_close(ex, "limit");
	if (axis->limit && !is_soft_as_read(link, axis->limit))
		export_note(ex, CAL_IMPORT_CHANGED, "device", axis->limit->name, axis->limit->place,
		            "URDF does not say how hard stops are; Calder reads them back so that the joint swings on them at "
		            "%g Hz",
		            IMPORT_LIMIT_FREQUENCY);
	if (!axis->limit && !held && strcmp(type_of(link), "continuous") != 0)
		export_note(ex, CAL_IMPORT_ASSUMED, "joint", cal_desc_joint(ex->desc, link->joint, NULL, NULL)->name,
		            link->place, "written without lower and upper: Calder reads no limits, but some programs lock it");
}

static void put_dynamics(Export *ex, const ExportAxis *axis) {
	if (axis->dof.damping == 0 && !axis->friction)
		return;
	export_open(ex, "dynamics");
	export_attribute_number(ex, "damping", axis->dof.damping);
	if (axis->friction)
		export_attribute_number(ex, "friction", axis->friction->coulomb);
	export_close(ex, "dynamics");
}

static void put_mimic(Export *ex, const ExportAxis *axis) {
	if (!axis->mimic || axis->leader < 0)
		return;
	export_open(ex, "mimic");
	export_attribute(ex, "joint", ex->links[axis->leader].joint_name);
	export_attribute_number(ex, "multiplier", axis->multiplier);
	export_attribute_number(ex, "offset", axis->offset);
	export_close(ex, "mimic");
}

static void put_joint(Export *ex, const ExportLink *link) {
	export_open(ex, "joint");
	export_attribute(ex, "name", link->joint_name);
	export_attribute(ex, "type", type_of(link));
	put_origin(ex, &link->X_PF);
	put_side(ex, "parent", link_name(ex, link->parent));
	put_side(ex, "child", link->name);
	if (export_axis_count(link) || link->motion == EXPORT_PLANAR) {
		export_open(ex, "axis");
		export_attribute_vector(ex, "xyz", link->axis);
		export_close(ex, "axis");
	}
	if (export_axis_count(link)) {
		put_limit(ex, link);
		put_dynamics(ex, &link->axes[0]);
		put_mimic(ex, &link->axes[0]);
	}
	export_close(ex, "joint");
}

/* ---- nodes, rotors ----------------------------------------------------------------------------------- */

static void put_node(Export *ex, const ExportNode *node) {
	export_open(ex, "link");
	export_attribute(ex, "name", node->name);
	export_close(ex, "link");
	export_open(ex, "joint");
	export_attribute(ex, "name", export_new_name(ex, &ex->joint_names, node->name));
	export_attribute(ex, "type", "fixed");
	put_origin(ex, &node->X_LN);
	put_side(ex, "parent", link_name(ex, node->link));
	put_side(ex, "child", node->name);
	export_close(ex, "joint");
}

static void put_rotor(Export *ex, const ExportLink *link) {
	const CalDofDef *dof = &link->axes[0].dof;
	if (!export_axis_count(link) || dof->rotor_inertia == 0)
		return;
	export_open(ex, "transmission");
	export_attribute(ex, "name", export_format(ex, "%s_rotor", link->joint_name));
	export_text(ex, "type", "transmission_interface/SimpleTransmission");
	export_open(ex, "joint");
	export_attribute(ex, "name", link->joint_name);
	export_close(ex, "joint");
	export_open(ex, "actuator");
	export_attribute(ex, "name", export_format(ex, "%s_motor", link->joint_name));
	put_value(ex, "drake:rotor_inertia", dof->rotor_inertia);
	if (dof->gear_ratio != 0)
		put_value(ex, "drake:gear_ratio", dof->gear_ratio);
	export_close(ex, "actuator");
	export_close(ex, "transmission");
}

/* ---- motors ------------------------------------------------------------------------------------------ */

/* What does nothing while its input is 0, on one axis, with a gain that does not depend on the motion. */
static bool takes_device(Export *ex, const char *type, const void *device) {
	const CalActuatorDef *def = device;
	int link;
	return strcmp(type, "actuator") == 0 && export_actuator_is_idle(def) && def->gain[0] != 0 && def->gain[1] == 0 &&
	       def->gain[2] == 0 && export_find_axis(ex, def->joint, def->dof, &link);
}

/* NULL: the device is none. */
static const CalActuatorDef *motor_at(Export *ex, int device, int *link) {
	const char *type;
	const void *def;
	if (cal_setup_device(ex->setup, device, &type, NULL, &def) != CAL_OK || !takes_device(ex, type, def))
		return NULL;
	const CalActuatorDef *motor = def;
	export_find_axis(ex, motor->joint, motor->dof, link);
	return motor;
}

/* Range of the force by that of the input and its own. */
static void force_range(const CalActuatorDef *def, double *lower, double *upper) {
	const bool has_input = def->control_lower != 0 || def->control_upper != 0;
	const double a = has_input ? def->gain[0] * def->control_lower : -INFINITY;
	const double b = has_input ? def->gain[0] * def->control_upper : INFINITY;
	const bool has_own = def->lower != 0 || def->upper != 0;
	*lower = fmax(has_own ? def->lower : -INFINITY, fmin(a, b));
	*upper = fmin(has_own ? def->upper : INFINITY, fmax(a, b));
}

/* The effort of the joint bounds its motor; of several motors, none. */
static void bound_effort(Export *ex, const CalActuatorDef *def, ExportAxis *axis) {
	const double gear = def->gear == 0 ? 1 : def->gear;
	double lower, upper;
	force_range(def, &lower, &upper);
	const bool is_own = axis->effort == 0, is_even = lower == -upper;
	axis->effort = is_own && is_even && isfinite(upper) ? fabs(gear) * upper : -1;
	if (!is_own || !is_even)
		export_note(
			ex, CAL_IMPORT_CHANGED, "device", def->name, def->place,
			"URDF has one effort, the same both ways, for all motors of a joint; the limits of this one are not "
			"written");
	else if (isfinite(upper) && isfinite(def->control_upper) && def->control_upper != 0)
		export_note(ex, CAL_IMPORT_CHANGED, "device", def->name, def->place,
		            "URDF has no range of inputs; the effort of the joint, %g, bounds it likewise", axis->effort);
}

static void sort_motors(Export *ex) {
	for (int i = 0; i < cal_setup_device_count(ex->setup); i++) {
		int link;
		const CalActuatorDef *def = motor_at(ex, i, &link);
		if (!def)
			continue;
		bound_effort(ex, def, export_find_axis(ex, def->joint, def->dof, &link));
		if (def->gain[0] != 1)
			export_note(ex, CAL_IMPORT_CHANGED, "device", def->name, def->place,
			            "URDF has motors of gain 1; that of this one, %g, is not written", def->gain[0]);
	}
}

static void put_motor(Export *ex, const CalActuatorDef *def, const ExportLink *link) {
	const char *name = export_sound_text(ex, def->name);
	export_open(ex, "transmission");
	export_attribute(ex, "name", name);
	export_text(ex, "type", "transmission_interface/SimpleTransmission");
	export_open(ex, "joint");
	export_attribute(ex, "name", link->joint_name);
	export_close(ex, "joint");
	export_open(ex, "actuator");
	export_attribute(ex, "name", name);
	export_number(ex, "mechanicalReduction", def->gear == 0 ? 1 : def->gear);
	export_close(ex, "actuator");
	export_close(ex, "transmission");
}

static void put_motors(Export *ex) {
	for (int i = 0; i < cal_setup_device_count(ex->setup); i++) {
		int link;
		const CalActuatorDef *def = motor_at(ex, i, &link);
		if (def)
			put_motor(ex, def, &ex->links[link]);
	}
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static void check_start(Export *ex, const ExportLink *link) {
	const CalJointDef *def = cal_desc_joint(ex->desc, link->joint, NULL, NULL);
	const ExportAxis *axis = &link->axes[0];
	const bool turned = link->motion == EXPORT_FREE && link->q[3] != 1;
	const double zero =
		export_axis_count(link) && axis->limit ? fmin(fmax(0, axis->limit->lower), axis->limit->upper) : 0;
	bool moves = turned;
	for (int i = 0; i < link->dofs; i++)
		moves = moves || link->u[i] != 0 || (link->q[i] != zero && (link->motion != EXPORT_FREE || i < 3));
	if (moves && !axis->mimic)
		export_note(ex, CAL_IMPORT_CHANGED, "joint", def->name, link->place,
		            "URDF has no initial state: programs start at rest with all coordinates zero");
}

static void sort_loops(Export *ex) {
	for (uint32_t i = 1; i <= (uint32_t)cal_desc_loop_count(ex->desc); i++) {
		const CalLoopDef *def = cal_desc_loop(ex->desc, (CalLoopId){i}, NULL, NULL);
		if (!export_loop_is_plain(ex, (CalLoopId){i}))
			continue;
		if (def->type != CAL_LOOP_COUPLING || export_loop_is_open(ex, (CalLoopId){i}) ||
		    !export_make_mimic(ex, def, true))
			export_note(
				ex, CAL_IMPORT_MISSING, "loop", def->name, def->place,
				def->type == CAL_LOOP_COUPLING
					? "URDF has couplings in which a joint follows one other, and nothing else"
					: "URDF has trees only, and no loops like this one, of type %s; MJCF and SDFormat have some",
				cal_loop_type_name(def->type));
	}
}

/* One-sided stops are younger than 1.0. */
static bool needs_version(const Export *ex) {
	for (int i = 0; i < ex->link_count; i++) {
		const CalLimitDef *limit = ex->links[i].axes[0].limit;
		if (export_axis_count(&ex->links[i]) && limit && !(isfinite(limit->lower) && isfinite(limit->upper)))
			return true;
	}
	return false;
}

static bool has_capsule(const Export *ex) {
	for (int i = 0; i < ex->collision_count; i++)
		if (ex->collisions[i].shape.kind == CAL_VISUAL_CAPSULE)
			return true;
	for (uint32_t body = 0; body <= (uint32_t)cal_desc_body_count(ex->desc); body++) {
		const CalVisual *visuals = NULL;
		const int count = cal_setup_visuals(ex->setup, (CalBodyId){body}, &visuals);
		for (int k = 0; k < count; k++)
			if (visuals[k].kind == CAL_VISUAL_CAPSULE)
				return true;
	}
	return false;
}

static void note_bounds(Export *ex) {
	for (int i = 0; i < ex->link_count; i++)
		if (has_limit(&ex->links[i])) {
			export_note(ex, CAL_IMPORT_ASSUMED, "robot", NULL, NULL,
			            "URDF asks for bounds of controllers, effort and velocity; written: %g, which bounds nothing",
			            URDF_NO_BOUND);
			return;
		}
}

static void put_robot(Export *ex) {
	const char *title = cal_setup_run(ex->setup).title;
	export_open(ex, "robot");
	export_attribute(ex, "name", title && title[0] ? export_sound_text(ex, title) : "robot");
	if (needs_version(ex))
		export_attribute(ex, "version", "1.2");
	export_open(ex, "link");
	export_attribute(ex, "name", name_of_world);
	put_visuals(ex, (CalBodyId){0}, &(dpose){dmat_identity(), {0, 0, 0}});
	put_collisions(ex, EXPORT_GROUND);
	export_close(ex, "link");
	for (int i = 0; i < ex->link_count; i++) {
		put_link(ex, &ex->links[i]);
		put_joint(ex, &ex->links[i]);
	}
	for (int i = 0; i < ex->node_count; i++)
		put_node(ex, &ex->nodes[i]);
	for (int i = 0; i < ex->link_count; i++)
		put_rotor(ex, &ex->links[i]);
	put_motors(ex);
	export_close(ex, "robot");
}

static void write_robot(Export *ex) {
	sort_loops(ex);
	sort_motors(ex);
	note_bounds(ex);
	if (has_capsule(ex))
		export_note(
			ex, CAL_IMPORT_CHANGED, "robot", NULL, NULL,
			"capsules are cylinders with spheres at both ends in the file: programs before URDF 1.2 know no others");
	put_robot(ex);
}

const ExportFormat urdf_export_format = {
	.name = "URDF",
	.motions =
		1u << EXPORT_FIXED | 1u << EXPORT_ROTATION | 1u << EXPORT_TRANSLATION | 1u << EXPORT_PLANAR | 1u << EXPORT_FREE,
	.shapes = 1u << CAL_VISUAL_BOX | 1u << CAL_VISUAL_SPHERE | 1u << CAL_VISUAL_CYLINDER | 1u << CAL_VISUAL_CAPSULE |
              1u << CAL_VISUAL_MESH,
	.free_anywhere = true,
	.link_is_joint = true,
	.nodes_are_links = true,
	.has_rotors = true,
	.has_collisions = true,
	.ground_is_link = true,
	.forbidden = "${\0$(\0",
	.takes_device = takes_device,
	.check_start = check_start,
	.write = write_robot,
};
