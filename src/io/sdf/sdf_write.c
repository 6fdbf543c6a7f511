// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_write.c — a setup as an SDFormat file: world, links, frames, visuals (docs/export.md).
 *
 * One model in one world, which has the gravity. Poses of links are relative to their parents or joints, with all coordinates
 * zero, so that none is a product; a free link is no joint's child and stands where it starts. Loops are joints that must be
 * loop joints, so that readers grow the same tree.
 */
#include "io/sdf/sdf_write.h"

#include <math.h>
#include <string.h>

const char *sdf_link_name(const Export *ex, int link) { return link == EXPORT_GROUND ? "world" : ex->links[link].name; }

void sdf_put_pose(Export *ex, const dpose *X, const char *relative_to) {
	const dvec3 turn = export_is_identity(X->R) ? (dvec3){0, 0, 0} : export_rpy(X->R);
	if (!relative_to && export_is_neutral(X))
		return;
	export_text_attribute(ex, "pose", "relative_to", relative_to,
	                      (const double[6]){X->r.x, X->r.y, X->r.z, turn.x, turn.y, turn.z}, 6);
}

static bool needs_quaternion(dmat3 R) {
	dvec3 rpy;
	return !export_short_rpy(R, &rpy);
}

void sdf_put_frame(Export *ex, const dpose *X, CalQuat given, const char *relative_to) {
	if (!needs_quaternion(X->R)) {
		sdf_put_pose(ex, X, relative_to);
		return;
	}
	const CalQuat q = export_quat(X->R, given);
	export_open(ex, "pose");
	if (relative_to)
		export_attribute(ex, "relative_to", relative_to);
	export_attribute(ex, "rotation_format", "quat_xyzw");
	export_close_with(ex, "pose", (const double[7]){X->r.x, X->r.y, X->r.z, q.x, q.y, q.z, q.w}, 7);
}

/* ---- visuals ----------------------------------------------------------------------------------------- */

static void put_shape(Export *ex, const CalVisual *v) {
	const char *element = cal_visual_name(v->kind);
	const dvec3 scale = export_mesh_scale(v);
	export_open(ex, "geometry");
	export_open(ex, element);
	if (v->kind == CAL_VISUAL_BOX) {
		export_numbers(ex, "size", &v->size.x, 3);
	} else if (v->kind == CAL_VISUAL_PLANE) {
		export_numbers(ex, "normal", (const double[3]){0, 0, 1}, 3);
		export_numbers(ex, "size", &v->size.x, 2);
	} else if (v->kind == CAL_VISUAL_MESH) {
		export_text(ex, "uri", v->file);
		export_numbers(ex, "scale", (const double[3]){scale.x, scale.y, scale.z}, 3);
	} else {
		export_number(ex, "radius", v->size.x);
		if (v->kind != CAL_VISUAL_SPHERE)
			export_number(ex, "length", v->size.z);
	}
	export_close(ex, element);
	export_close(ex, "geometry");
}

static void put_visuals(Export *ex, const ExportLink *link) {
	const CalVisual *visuals = NULL;
	const int count = cal_setup_visuals(ex->setup, link->body, &visuals);
	double rgba[4];
	for (int i = 0; i < count; i++) {
		const CalVisual *v = &visuals[i];
		if (!export_has_shape(ex, link->body, v))
			continue;
		const dpose X = dpose_mul(link->X_LB, pose_of(v->placement));
		export_open(ex, "visual");
		export_attribute(ex, "name", export_format(ex, "visual%d", i + 1));
		sdf_put_pose(ex, &X, NULL);
		put_shape(ex, v);
		if (v->color >= 0) {
			export_color(v->color, rgba);
			export_open(ex, "material");
			export_numbers(ex, "ambient", rgba, 4);
			export_numbers(ex, "diffuse", rgba, 4);
			export_close(ex, "material");
		}
		export_close(ex, "visual");
	}
}

static void put_friction(Export *ex, double mu) {
	export_open(ex, "surface");
	export_open(ex, "friction");
	export_open(ex, "ode");
	export_number(ex, "mu", mu);
	export_number(ex, "mu2", mu);
	export_close(ex, "ode");
	export_close(ex, "friction");
	export_close(ex, "surface");
}

static void put_collisions(Export *ex, int link) {
	for (int i = ex->first_collision[link + 1]; i >= 0; i = ex->collisions[i].next) {
		const ExportCollision *c = &ex->collisions[i];
		export_open(ex, "collision");
		export_attribute(ex, "name", export_sound_text(ex, c->name));
		sdf_put_pose(ex, &c->X_L, NULL);
		put_shape(ex, &c->shape);
		put_friction(ex, c->friction);
		export_close(ex, "collision");
	}
}

/* The ground of SDFormat is no link. */
static void note_ground(Export *ex) {
	const CalVisual *visuals;
	if (cal_setup_visuals(ex->setup, (CalBodyId){0}, &visuals))
		export_note(ex, CAL_IMPORT_IGNORED, "ground", NULL, NULL,
		            "the world of SDFormat has no shapes; they are left out");
}

/* ---- links ------------------------------------------------------------------------------------------- */

static void put_inertial(Export *ex, const MassProperties *m) {
	static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
	const double(*I)[3] = m->inertia.m;
	const double zero = m->mass == 0 ? 0 : 1;
	const double values[] = {I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]};
	export_open(ex, "inertial");
	sdf_put_pose(ex, &(dpose){dmat_identity(), dvec_in(m->com)}, NULL);
	export_number(ex, "mass", m->mass);
	export_open(ex, "inertia");
	for (int i = 0; i < 6; i++)
		export_number(ex, names[i], zero * values[i]);
	export_close(ex, "inertia");
	export_close(ex, "inertial");
}

/* Where link and joint have one frame, that of the joint follows from the link; otherwise the link is placed on the joint. */
static void put_link_pose(Export *ex, const ExportLink *link) {
	const dpose X = export_link_pose(link);
	const double *q = link->q;
	if (link->motion == EXPORT_FREE)
		sdf_put_frame(ex, &X, (CalQuat){q[3], q[4], q[5], q[6]}, NULL);
	else if (export_is_neutral(&link->X_ML))
		sdf_put_frame(ex, &X, link->turn_PF, link->parent == EXPORT_GROUND ? NULL : ex->links[link->parent].name);
	else
		sdf_put_frame(ex, &link->X_ML, link->turn_ML, link->joint_name);
}

/* ---- links that gravity does not act on ---- */

/* The body whose whole weight a load lifts; {0}: it is another device. */
static CalBodyId weightless_body(const Export *ex, const char *type, const void *def) {
	CalBodyId body = {0};
	const bool is_load = strcmp(type, "applied_load") == 0;
	return is_load && fabs(export_lifted_weight(ex, def, &body) - 1) <= 1e-15 ? body : (CalBodyId){0};
}

static bool takes_device(Export *ex, const char *type, const void *def) {
	return weightless_body(ex, type, def).value != 0;
}

/* Links get a mark; the nodes of these loads are no frames of the file. */
static void find_weightless(Export *ex, bool *links, bool *nodes) {
	const char *type, *name;
	const void *def;
	for (int i = 0; cal_setup_device(ex->setup, i, &type, &name, &def) == CAL_OK; i++) {
		const CalBodyId body = weightless_body(ex, type, def);
		if (body.value == 0)
			continue;
		bool *mark = &links[ex->link_of_body[body.value]];
		if (*mark)
			export_note(ex, CAL_IMPORT_MISSING, "device", name, cal_setup_device_place(ex->setup, i),
			            "another load lifts the weight of the same body; SDFormat has no gravity upward");
		*mark = true;
		nodes[((const CalAppliedLoadDef *)def)->node.value] = true;
	}
}

static void put_link(Export *ex, const ExportLink *link, bool weightless) {
	export_open(ex, "link");
	export_attribute(ex, "name", link->name);
	put_link_pose(ex, link);
	if (weightless)
		export_text(ex, "gravity", "false");
	put_inertial(ex, &link->mass);
	if (link->body.value)
		put_visuals(ex, link);
	put_collisions(ex, (int)(link - ex->links));
	export_close(ex, "link");
	if (link->mass.mass == 0)
		export_note(ex, CAL_IMPORT_ASSUMED, "link", link->name, link->place,
		            "it has no mass: Calder reads that, Gazebo refuses it");
}

static void put_frame(Export *ex, const ExportNode *node) {
	export_open(ex, "frame");
	export_attribute(ex, "name", node->name);
	export_attribute(ex, "attached_to", sdf_link_name(ex, node->link));
	sdf_put_pose(ex, &node->X_LN, NULL);
	export_close(ex, "frame");
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static int version_of_link(const Export *ex, const ExportLink *link) {
	const CalVisual *visuals = NULL;
	const int count = link->body.value ? cal_setup_visuals(ex->setup, link->body, &visuals) : 0;
	int version = needs_quaternion(link->X_PF.R) || needs_quaternion(link->X_ML.R) ||
	                      (link->motion == EXPORT_FREE && needs_quaternion(export_link_pose(link).R))
	                  ? 9
	                  : 7;
	for (int i = 0; i < count; i++)
		version = visuals[i].kind == CAL_VISUAL_CONE                     ? 12
		          : visuals[i].kind == CAL_VISUAL_CAPSULE && version < 8 ? 8
		                                                                 : version;
	for (int i = 0; i < export_axis_count(link); i++)
		version = link->axes[i].mimic && version < 11 ? 11 : version;
	return version;
}

/* The first version, 1.N, that has all that is used: relative poses, capsules, quaternions, mimics, cones. */
static int version_of_file(const Export *ex) {
	int version = 7;
	for (int i = 0; i < ex->collision_count; i++)
		version = ex->collisions[i].shape.kind == CAL_VISUAL_CAPSULE ? 8 : version;
	for (int i = 0; i < ex->link_count; i++) {
		const int needed = version_of_link(ex, &ex->links[i]);
		version = needed > version ? needed : version;
	}
	return version;
}

/* A link that no joint carries is free; readers name that joint. */
static void note_free(Export *ex, const ExportLink *link) {
	const char *read_as = export_format(ex, "%s_free", link->name);
	if (read_as && strcmp(read_as, link->joint_name) != 0)
		export_note(ex, CAL_IMPORT_CHANGED, "joint", link->joint_name, link->place,
		            "a free joint has no name in SDFormat; it is read back as \"%.100s\"", read_as);
}

static void put_model(Export *ex) {
	const char *title = cal_setup_run(ex->setup).title;
	bool *weightless = pool_array(&ex->pool, (size_t)ex->link_count + 1, sizeof *weightless),
		 *hidden = pool_array(&ex->pool, (size_t)cal_desc_node_count(ex->desc) + 1, sizeof *hidden);
	if (!weightless || !hidden) {
		export_no_memory(ex);
		return;
	}
	find_weightless(ex, weightless, hidden);
	export_open(ex, "model");
	export_attribute(ex, "name", title && title[0] ? export_sound_text(ex, title) : "model");
	for (int i = 0; i < ex->link_count; i++)
		put_link(ex, &ex->links[i], weightless[i]);
	for (int i = 0; i < ex->link_count; i++)
		if (ex->links[i].motion != EXPORT_FREE)
			sdf_put_joint(ex, &ex->links[i]);
		else
			note_free(ex, &ex->links[i]);
	sdf_put_loops(ex);
	for (int i = 0; i < ex->node_count; i++)
		if (!hidden[ex->nodes[i].id.value])
			put_frame(ex, &ex->nodes[i]);
	export_close(ex, "model");
}

static void write_file(Export *ex) {
	const CalGroupDef *group = cal_desc_group(ex->desc, (CalGroupId){0});
	if (ex->link_count == 0)
		export_fail(ex, CAL_ERR_UNSUPPORTED, "the model has no bodies, and a model of SDFormat has at least one link");
	sdf_sort_couplings(ex);
	sdf_choose_zero(ex);
	note_ground(ex);
	export_open(ex, "sdf");
	export_attribute(ex, "version", export_format(ex, "1.%d", version_of_file(ex)));
	export_open(ex, "world");
	export_attribute(ex, "name", "default");
	export_numbers(ex, "gravity", &group->gravity.x, 3);
	put_model(ex);
	export_close(ex, "world");
	export_close(ex, "sdf");
}

const ExportFormat sdf_export_format = {
	.name = "SDFormat",
	.motions = 1u << EXPORT_FIXED | 1u << EXPORT_ROTATION | 1u << EXPORT_TRANSLATION | 1u << EXPORT_SCREW |
               1u << EXPORT_BALL | 1u << EXPORT_UNIVERSAL | 1u << EXPORT_FREE,
	.shapes = 1u << CAL_VISUAL_BOX | 1u << CAL_VISUAL_SPHERE | 1u << CAL_VISUAL_CYLINDER | 1u << CAL_VISUAL_CAPSULE |
              1u << CAL_VISUAL_CONE | 1u << CAL_VISUAL_PLANE | 1u << CAL_VISUAL_MESH,
	.shared_names = true,
	.has_springs = true,
	.has_gravity = true,
	.has_joint_frames = true,
	.has_collisions = true,
	.forbidden = "::\0",
	.takes_device = takes_device,
	.check_start = sdf_check_start,
	.write = write_file,
};
