// SPDX-License-Identifier: Apache-2.0
/*
 * scene.c — what is drawn of a model file.
 *
 * A body's index in the document is its id less one; -1 is the ground. Nodes are counted per body, without the body's own
 * frame and without the points that invariants are lumped to.
 */
#include "view/scene.h"

#include <calder/flex.h>
#include <calder/mesh.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contact/mesh.h"
#include "math/placement.h"
#include "view/flexible_shapes.h"

/* ---- nodes ------------------------------------------------------------------------------------------ */

static bool is_drawn(const CalDesc *desc, CalNodeId id, CalBodyId *body) {
	const CalNodeDef *node = cal_desc_node(desc, id, body);
	const bool own = body->value && cal_desc_body_node(desc, *body).value == id.value;
	const bool lumped = strncmp(node->name, "mass", 4) == 0 && isdigit((unsigned char)node->name[4]);
	return !own && !lumped;
}

/* What is found once for all bodies; ids count from 1, body 0 is the ground. */
typedef struct SceneIndex {
	const CalDesc *desc;
	int *first;  // [bodies + 1] node that is drawn, 0: none
	int *next;   // [nodes + 1] of the same body, 0: none
	int *place;  // [nodes + 1] among those of its body, -1: it is not drawn
	int *parent; // [bodies + 1] index of the body that carries it, -1: the ground
} SceneIndex;

static int body_of(const CalDesc *desc, CalNodeId node) {
	CalBodyId body = {0};
	if (node.value)
		cal_desc_node(desc, node, &body);
	return (int)body.value - 1;
}

static void index_nodes(SceneIndex *index, int *last) {
	for (int i = 1; i <= cal_desc_node_count(index->desc); i++) {
		CalBodyId body;
		index->place[i] = -1;
		if (!is_drawn(index->desc, (CalNodeId){(uint32_t)i}, &body))
			continue;
		const int before = last[body.value];
		index->place[i] = before ? index->place[before] + 1 : 0;
		*(before ? &index->next[before] : &index->first[body.value]) = i;
		last[body.value] = i;
	}
}

/* One block, to be freed at `first`; false: out of memory. */
static bool index_create(SceneIndex *index, const CalDesc *desc) {
	const size_t bodies = (size_t)cal_desc_body_count(desc) + 1, nodes = (size_t)cal_desc_node_count(desc) + 1;
	int *memory = calloc(3 * bodies + 2 * nodes, sizeof *memory);
	if (!memory)
		return false;
	*index = (SceneIndex){desc, memory, memory + 3 * bodies, memory + 3 * bodies + nodes, memory + bodies};
	index_nodes(index, memory + 2 * bodies);
	for (size_t i = 0; i < bodies; i++)
		index->parent[i] = -1;
	for (int i = cal_desc_joint_count(desc); i >= 1; i--) { // of several that carry a body the first
		CalNodeId a, b;
		cal_desc_joint(desc, (CalJointId){(uint32_t)i}, &a, &b);
		index->parent[body_of(desc, b) + 1] = body_of(desc, a);
	}
	return true;
}

static void put_placement(JsonWriter *d, CalPlacement p) {
	json_writer_key(d, "at");
	json_writer_vec3(d, p.position);
	json_writer_key(d, "orientation");
	json_writer_quat(d, p.orientation);
}

static void write_nodes(JsonWriter *d, const SceneIndex *index, CalBodyId of) {
	const CalDesc *desc = index->desc;
	json_writer_key(d, "nodes");
	json_writer_open(d, '[');
	for (int i = index->first[of.value]; i; i = index->next[i]) {
		const CalNodeId id = {(uint32_t)i};
		const CalNodeDef *node = cal_desc_node(desc, id, NULL);
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", node->name);
		put_placement(d, node->placement);
		flexible_write_node(d, desc, of, id);
		json_writer_close(d);
	}
	json_writer_close(d);
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

static void put_color(JsonWriter *d, int color) {
	char text[8];
	if (color < 0)
		return;
	snprintf(text, sizeof text, "#%06x", (unsigned)color & 0xffffffu);
	json_writer_put_text(d, "color", text);
}

static void put_dimensions(JsonWriter *d, CalVisualKind kind, CalVec3 size) {
	json_writer_key(d, "dimensions");
	json_writer_open(d, '[');
	if (kind == CAL_VISUAL_MESH)
		size = (CalVec3){1, 1, 1}; // its vertices are scaled already
	json_writer_number(d, size.x);
	if (kind == CAL_VISUAL_BOX || kind == CAL_VISUAL_PLANE || kind == CAL_VISUAL_MESH)
		json_writer_number(d, size.y);
	if (kind != CAL_VISUAL_SPHERE && kind != CAL_VISUAL_PLANE) {
		json_writer_number(d, size.z);
	}
	json_writer_close(d);
}

/* The color that all triangles of a mesh file have, where the visual has none of its own; -1: there is no such. */
static int color_of_visual(const CalSetup *setup, const CalVisual *v) {
	char path[1024];
	CalMeshFile *file = NULL;
	int color = v->color;
	if (v->kind != CAL_VISUAL_MESH || color >= 0 || cal_setup_locate(setup, v->file, path, sizeof path) != 0 ||
	    cal_mesh_file_read(path, v->size, NULL, &file, NULL) != CAL_OK)
		return color;
	const CalTriangles mesh = cal_mesh_file_triangles(file);
	color = mesh.colors ? mesh.colors[0] : -1;
	for (int i = 1; mesh.colors && i < mesh.triangle_count; i++)
		color = mesh.colors[i] == color ? color : -1;
	cal_mesh_file_destroy(file);
	return color;
}

static void write_shape(JsonWriter *d, const CalSetup *setup, const CalVisual *v, int *mesh) {
	json_writer_open(d, '{');
	json_writer_put_text(d, "kind", cal_visual_name(v->kind));
	put_placement(d, v->placement);
	put_dimensions(d, v->kind, v->size);
	if (v->kind == CAL_VISUAL_MESH)
		json_writer_put_number(d, "mesh", (*mesh)++);
	put_color(d, color_of_visual(setup, v));
	json_writer_close(d);
}

/* The box of the same mass and inertia, where its axes are those of the body; false: there is none. */
static bool box_of_inertia(const CalBodyDef *body, CalVisual *out) {
	const double *m[3] = {body->inertia.m[0], body->inertia.m[1], body->inertia.m[2]};
	const double half = (m[0][0] + m[1][1] + m[2][2]) / 2, scale = body->mass > 0 ? 12 / body->mass : 0;
	const double x = scale * (half - m[0][0]), y = scale * (half - m[1][1]), z = scale * (half - m[2][2]);
	const double size = fmax(x, fmax(y, z));
	if (!(size > 0) || !isfinite(size))
		return false;
	const double least = 1e-4 * size; // a thin one is still seen
	*out = (CalVisual){.kind = CAL_VISUAL_BOX,
	                   .placement = {body->com, {1, 0, 0, 0}},
	                   .size = {sqrt(fmax(x, least)), sqrt(fmax(y, least)), sqrt(fmax(z, least))},
	                   .color = -1};
	return true;
}

/* A body that nothing else is known of is its box; one with nodes is left to the viewer, which draws rods to them. */
static void write_shapes(JsonWriter *d, const CalSetup *setup, const SceneIndex *index, CalBodyId id, int *mesh) {
	const CalVisual *visuals;
	const CalDesc *desc = cal_setup_desc(setup);
	const CalBodyDef *body = id.value ? cal_desc_body(desc, id) : NULL;
	const int count = cal_setup_visuals(setup, id, &visuals);
	CalVisual box;
	json_writer_key(d, "shapes");
	json_writer_open(d, '[');
	for (int i = 0; i < count; i++)
		write_shape(d, setup, &visuals[i], mesh);
	const bool plain = count == 0 && !visuals && body && !flexible_is(desc, id) && !index->first[id.value];
	if (plain && box_of_inertia(body, &box))
		write_shape(d, setup, &box, mesh);
	json_writer_close(d);
}

/* A closed mesh that is inside out is drawn with its triangles reversed; the doctor reports it. */
static CalStatus create_reversed(const char *path, const CalTriangles *t, CalMesh **mesh) {
	int *corners = malloc(3 * (size_t)t->triangle_count * sizeof *corners);
	if (!corners)
		return CAL_ERR_MEMORY;
	for (int i = 0; i < 3 * t->triangle_count; i++)
		corners[i] = t->corners[i - i % 3 + 2 - i % 3];
	const CalStatus status =
		cal_mesh_create(path, t->vertices, t->vertex_count, corners, t->triangle_count, NULL, mesh, NULL);
	free(corners);
	return status;
}

static CalStatus read_drawn_mesh(const char *path, CalVec3 factors, CalMesh **mesh, CalError *error) {
	CalMeshFile *file = NULL;
	CalStatus status = cal_mesh_file_read(path, factors, NULL, &file, error);
	if (status != CAL_OK)
		return status;
	const CalTriangles t = cal_mesh_file_triangles(file);
	status = cal_mesh_create(path, t.vertices, t.vertex_count, t.corners, t.triangle_count, NULL, mesh, error);
	if (status != CAL_OK && create_reversed(path, &t, mesh) == CAL_OK)
		status = CAL_OK;
	cal_mesh_file_destroy(file);
	return status;
}

static CalStatus write_mesh(JsonWriter *d, const CalSetup *setup, const CalVisual *v, CalError *error) {
	char path[1024];
	CalMesh *mesh = NULL;
	if (cal_setup_locate(setup, v->file, path, sizeof path) != 0)
		return error_set(error, CAL_ERR_INPUT, "the name of the mesh \"%.80s...\" is too long", v->file);
	const CalStatus status = read_drawn_mesh(path, v->size, &mesh, error);
	if (status != CAL_OK)
		return status;
	const CalMeshInfo info = cal_mesh_info(mesh);
	json_writer_open(d, '{');
	json_writer_put_text(d, "name", v->file);
	json_writer_key(d, "vertices");
	json_writer_array(d, "f32", 2, (size_t[]){(size_t)info.vertices, 3});
	for (int i = 0; i < info.vertices; i++) {
		json_writer_f32(d, mesh->vertex[i].x);
		json_writer_f32(d, mesh->vertex[i].y);
		json_writer_f32(d, mesh->vertex[i].z);
	}
	json_writer_array_end(d);
	json_writer_key(d, "triangles");
	json_writer_array(d, "u32", 2, (size_t[]){(size_t)info.triangles, 3});
	for (int i = 0; i < 3 * info.triangles; i++)
		json_writer_u32(d, (uint32_t)mesh->triangle[i / 3].v[i % 3]);
	json_writer_array_end(d);
	json_writer_close(d);
	cal_mesh_destroy(mesh);
	return CAL_OK;
}

/* In the order in which write_shape() counts them: the ground's first. */
static CalStatus write_meshes(JsonWriter *d, const CalSetup *setup, CalError *error) {
	CalStatus status = CAL_OK;
	json_writer_key(d, "meshes");
	json_writer_open(d, '[');
	for (int i = 0; i <= cal_desc_body_count(cal_setup_desc(setup)) && status == CAL_OK; i++) {
		const CalVisual *visuals;
		const int count = cal_setup_visuals(setup, (CalBodyId){(uint32_t)i}, &visuals);
		for (int k = 0; k < count && status == CAL_OK; k++)
			if (visuals[k].kind == CAL_VISUAL_MESH)
				status = write_mesh(d, setup, &visuals[k], error);
	}
	json_writer_close(d);
	return status;
}

/* ---- bodies ------------------------------------------------------------------------------------------ */

/* That of the first shape which has one, -1: none has. */
static int color_of(const CalSetup *setup, CalBodyId id) {
	const CalVisual *visuals;
	const int count = cal_setup_visuals(setup, id, &visuals);
	for (int i = 0; i < count; i++)
		if (visuals[i].color >= 0)
			return visuals[i].color;
	return -1;
}

/* Mass; of rigid bodies also the center of mass and the inertia about it: xx, yy, zz, xy, xz, yz in body axes. */
static void put_mass(JsonWriter *d, const CalDesc *desc, CalBodyId id) {
	CalBodyDef body;
	CalFlexDef flex;
	if (cal_flex_body(desc, id, &body, &flex) != CAL_OK)
		return;
	double mass = body.mass;
	for (int k = 0; flex.modes && k < flex.node_count; k++)
		mass += flex.nodes[k].mass;
	json_writer_put_number(d, "mass", mass);
	if (flex.modes)
		return;
	const double *m[3] = {body.inertia.m[0], body.inertia.m[1], body.inertia.m[2]};
	const double inertia[] = {m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2]};
	json_writer_key(d, "center_of_mass");
	json_writer_vec3(d, body.com);
	json_writer_key(d, "inertia");
	json_writer_open(d, '[');
	for (int k = 0; k < 6; k++)
		json_writer_number(d, inertia[k]);
	json_writer_close(d);
}

static CalStatus write_bodies(JsonWriter *d, const CalSetup *setup, const SceneIndex *index, int *mesh,
                              CalError *error) {
	const CalDesc *desc = cal_setup_desc(setup);
	CalStatus status = CAL_OK;
	json_writer_key(d, "bodies");
	json_writer_open(d, '[');
	for (int i = 0; i < cal_desc_body_count(desc) && status == CAL_OK; i++) {
		const CalBodyId id = {(uint32_t)i + 1};
		const CalBodyDef *body = cal_desc_body(desc, id);
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", body->name);
		json_writer_put_text(d, "group", cal_desc_group(desc, body->group)->name);
		json_writer_put_number(d, "parent", index->parent[id.value]);
		put_mass(d, desc, id);
		write_shapes(d, setup, index, id, mesh);
		put_color(d, color_of(setup, id)); // of what has none of its own: flexible parts
		write_nodes(d, index, id);
		status = flexible_write(d, desc, id, error);
		json_writer_close(d);
	}
	json_writer_close(d);
	return status;
}

/* ---- joints and loops --------------------------------------------------------------------------------- */

/* The frame at `on` in a node; on flexible bodies it is the node itself, which moves. */
static void put_end(JsonWriter *d, const char *key, const SceneIndex *scene, CalNodeId node, dpose on) {
	const CalDesc *desc = scene->desc;
	const int body = body_of(desc, node), index = node.value ? scene->place[node.value] : -1;
	const dpose at = node.value ? dpose_mul(pose_of(cal_desc_node(desc, node, NULL)->placement), on) : on;
	json_writer_key(d, key);
	json_writer_open(d, '{');
	json_writer_put_number(d, "body", body);
	if (body >= 0 && index >= 0 && flexible_is(desc, (CalBodyId){(uint32_t)body + 1}))
		json_writer_put_number(d, "node", index);
	else
		put_placement(d, placement_of(&at));
	json_writer_close(d);
}

/* Coordinates of a kind that a joint has. */
static int count_kind(const CalJointDef *joint, CalCoordinateKind kind) {
	CalCoordinateInfo info;
	int count = 0;
	for (int i = 0; cal_joint_coordinate(joint, i, &info) == CAL_OK; i++)
		count += info.kind == kind;
	return count;
}

static int uses_of(const CalJointDef *joint) {
	CalJointTypeInfo info = {0};
	cal_joint_type_info(joint->type, &info);
	return info.uses;
}

/* Whether one axis is all that there is to draw. */
static bool has_axis(const CalJointDef *joint) {
	return uses_of(joint) & CAL_JOINT_USES_AXIS && count_kind(joint, CAL_COORDINATE_ANGLE) <= 1;
}

/* Angles and lengths, for the sliders of a page. */
static void write_sliders(JsonWriter *d, const CalJointDef *joint) {
	static const double half_turn = 3.14159265, meter = 1;
	const bool composed = uses_of(joint) & (CAL_JOINT_USES_ELEMENTS | CAL_JOINT_USES_OPS);
	const bool plain = !composed && count_kind(joint, CAL_COORDINATE_QUATERNION) == 0;
	CalCoordinateInfo info;
	json_writer_key(d, "dofs");
	json_writer_open(d, '[');
	for (int i = 0; plain && cal_joint_coordinate(joint, i, &info) == CAL_OK; i++) {
		const bool angle = info.kind == CAL_COORDINATE_ANGLE;
		const double reach = angle ? half_turn : meter;
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", angle ? "angle" : "length");
		json_writer_put_text(d, "unit", angle ? "rad" : "m");
		json_writer_put_number(d, "min", -reach);
		json_writer_put_number(d, "max", reach);
		json_writer_put_number(d, "value", 0);
		json_writer_key(d, "command");
		json_writer_flag(d, !joint->dof[i].prescribed);
		json_writer_close(d);
	}
	json_writer_close(d);
}

static void write_joints(JsonWriter *d, const SceneIndex *index, bool live) {
	const CalDesc *desc = index->desc;
	json_writer_key(d, "joints");
	json_writer_open(d, '[');
	for (int i = 1; i <= cal_desc_joint_count(desc); i++) {
		CalNodeId a, b;
		const CalJointDef *joint = cal_desc_joint(desc, (CalJointId){(uint32_t)i}, &a, &b);
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", joint->name);
		json_writer_put_text(d, "type", cal_joint_type_name(joint->type));
		put_end(d, "from", index, a, pose_of(joint->inboard));
		put_end(d, "to", index, b, dpose_inverse(pose_of(joint->outboard)));
		if (has_axis(joint)) {
			json_writer_key(d, "axis");
			json_writer_vec3(d, joint->axis);
		}
		if (live)
			write_sliders(d, joint);
		json_writer_close(d);
	}
	json_writer_close(d);
}

static void write_loops(JsonWriter *d, const SceneIndex *index) {
	const CalDesc *desc = index->desc;
	json_writer_key(d, "loops");
	json_writer_open(d, '[');
	for (int i = 1; i <= cal_desc_loop_count(desc); i++) {
		CalNodeId a, b;
		const CalLoopDef *loop = cal_desc_loop(desc, (CalLoopId){(uint32_t)i}, &a, &b);
		CalLoopTypeInfo type = {0};
		cal_loop_type_info(loop->type, &type);
		if (!(type.uses & CAL_LOOP_USES_A))
			continue; // it ties coordinates, not nodes
		json_writer_open(d, '{');
		json_writer_put_text(d, "name", loop->name);
		json_writer_put_text(d, "type", cal_loop_type_name(loop->type));
		const bool two_sides = type.uses & CAL_LOOP_USES_B;
		put_end(d, "from", index, a, pose_of(loop->a));
		put_end(d, "to", index, two_sides ? b : a, pose_of(two_sides ? loop->b : loop->a));
		json_writer_close(d);
	}
	json_writer_close(d);
}

/* The axis that points against gravity, if one does within half a right angle; z without gravity. */
static const char *up_axis(const CalDesc *desc) {
	for (int i = 1; i <= cal_desc_group_count(desc); i++) {
		const CalVec3 g = cal_desc_group(desc, (CalGroupId){(uint32_t)i})->gravity;
		const double limit = -sqrt(0.5 * (g.x * g.x + g.y * g.y + g.z * g.z));
		if (limit < 0)
			return g.y < limit ? "y" : g.x < limit ? "x" : "z";
	}
	return "z";
}

CalStatus scene_write(JsonWriter *d, const CalSetup *setup, bool live, CalError *error) {
	int mesh = 0;
	SceneIndex index;
	if (!index_create(&index, cal_setup_desc(setup)))
		return error_set(error, CAL_ERR_MEMORY, "out of memory for the scene");
	json_writer_put_text(d, "up", up_axis(cal_setup_desc(setup)));
	json_writer_key(d, "ground");
	json_writer_open(d, '{');
	write_shapes(d, setup, &index, (CalBodyId){0}, &mesh);
	write_nodes(d, &index, (CalBodyId){0});
	json_writer_close(d);
	CalStatus status = write_bodies(d, setup, &index, &mesh, error);
	write_joints(d, &index, live);
	write_loops(d, &index);
	free(index.first);
	return status == CAL_OK ? write_meshes(d, setup, error) : status;
}
