// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write.c — a setup as an MJCF file: bodies, sites and geoms (docs/export.md).
 *
 * Geoms are what is seen: they have no mass and touch nothing. Bodies have the frames of the setup but for those on ball and
 * free joints, whose frame is that of the joint.
 */
#include "io/mjcf/mjcf_write.h"

#include <stdio.h>
#include <string.h>

#include "math/eigen3.h"

enum { MOST_DEPTH = 1000, MOST_DOFS = 6 };

/* ---- runs of links ----------------------------------------------------------------------------------- */

static bool is_hinge_or_slide(const ExportLink *link) {
	return link->motion == EXPORT_ROTATION || link->motion == EXPORT_TRANSLATION;
}

/* Readers name the massless body of a joint BODY_JOINT: only such ones come back. */
static bool has_name_of_joint(const Export *ex, int i, int body) {
	const ExportLink *link = &ex->links[i];
	const size_t length = strlen(ex->links[body].name);
	return strncmp(link->name, ex->links[body].name, length) == 0 && link->name[length] == '_' &&
	       strcmp(link->name + length + 1, link->joint_name) == 0;
}

static bool is_empty(const MjcfOut *m, int i) {
	const Export *ex = m->ex;
	const ExportLink *link = &ex->links[i];
	const CalVisual *visuals;
	const double *I = &link->mass.inertia.m[0][0];
	return link->mass.mass == 0 && I[0] == 0 && I[4] == 0 && I[8] == 0 && m->first_site[i + 1] < 0 &&
	       m->first_shape[i + 1] < 0 && (!link->body.value || cal_setup_visuals(ex->setup, link->body, &visuals) == 0);
}

/* The last link of the run that begins with `first`, or `first` itself. */
static int find_run(const MjcfOut *m, int first) {
	const Export *ex = m->ex;
	int last = first, dofs = ex->links[first].dofs;
	while (ex->links[last].children == 1 && is_hinge_or_slide(&ex->links[last]) && is_empty(m, last)) {
		const ExportLink *next = &ex->links[last + 1];
		dofs += next->dofs;
		if (next->parent != last || dofs > MOST_DOFS || !(is_hinge_or_slide(next) || next->motion == EXPORT_BALL))
			break;
		last++;
	}
	for (int i = first; i < last; i++)
		if (ex->links[i].body.value && !has_name_of_joint(ex, i, last))
			return first;
	return last;
}

static void merge_links(MjcfOut *m) {
	for (int i = 0; i < m->ex->link_count;) {
		const int last = find_run(m, i);
		for (; i < last; i++)
			m->merged[i] = true;
		i++;
	}
}

/* ---- sites ------------------------------------------------------------------------------------------- */

int mjcf_add_site(MjcfOut *m, int link, const char *name, dpose X_LN) {
	MjcfSiteOut *site = &m->sites[m->site_count];
	*site = (MjcfSiteOut){.name = name, .X_LN = X_LN, .next = m->first_site[link + 1]};
	m->first_site[link + 1] = m->site_count;
	return m->site_count++;
}

int mjcf_site_of(MjcfOut *m, CalNodeId node, const char *name) {
	int link;
	int *site = &m->site_of_node[node.value];
	if (*site < 0) {
		const dpose X = export_node_pose(m->ex, node, &link);
		*site = mjcf_add_site(m, link, export_new_name(m->ex, &m->ex->node_names, name), X);
	}
	return *site;
}

static void place_nodes(MjcfOut *m) {
	for (int i = m->ex->node_count - 1; i >= 0; i--) { // lists are filled from the front
		const ExportNode *node = &m->ex->nodes[i];
		if (m->site_of_node[node->id.value] == -1)
			m->site_of_node[node->id.value] = mjcf_add_site(m, node->link, node->name, node->X_LN);
	}
}

/* ---- poses and shapes -------------------------------------------------------------------------------- */

void mjcf_put_pose(Export *ex, const dpose *X, CalQuat given) {
	const CalQuat q = export_quat(X->R, given);
	if (!export_is_zero(X->r))
		export_attribute_vector(ex, "pos", X->r);
	if (!export_is_identity(X->R))
		export_attribute_numbers(ex, "quat", (const double[4]){q.w, q.x, q.y, q.z}, 4);
}

static void put_sites(MjcfOut *m, int link) {
	for (int i = m->first_site[link + 1]; i >= 0; i = m->sites[i].next) {
		export_open(m->ex, "site");
		export_attribute(m->ex, "name", m->sites[i].name);
		mjcf_put_pose(m->ex, &m->sites[i].X_LN, (CalQuat){0});
		export_close(m->ex, "site");
	}
}

/* MuJoCo has halves of sides and lengths. */
static void put_size(Export *ex, const CalVisual *v) {
	const double half[3] = {v->size.x / 2, v->size.y / 2, v->kind == CAL_VISUAL_PLANE ? 1 : v->size.z / 2};
	const double round[2] = {v->size.x, v->size.z / 2};
	if (v->kind == CAL_VISUAL_BOX || v->kind == CAL_VISUAL_PLANE)
		export_attribute_numbers(ex, "size", half, 3);
	else if (v->kind != CAL_VISUAL_MESH)
		export_attribute_numbers(ex, "size", round, v->kind == CAL_VISUAL_SPHERE ? 1 : 2);
}

static void put_geom(MjcfOut *m, const CalVisual *v, const dpose *X_LB) {
	Export *ex = m->ex;
	const dpose X = dpose_mul(*X_LB, pose_of(v->placement));
	double rgba[4];
	export_open(ex, "geom");
	export_attribute(ex, "type", cal_visual_name(v->kind));
	put_size(ex, v);
	if (v->kind == CAL_VISUAL_MESH)
		export_attribute(ex, "mesh", export_format(ex, "mesh%d", ++m->mesh_count));
	mjcf_put_pose(ex, &X, v->placement.orientation);
	if (v->color >= 0) {
		export_color(v->color, rgba);
		export_attribute_numbers(ex, "rgba", rgba, 4);
	}
	m->gray = m->gray || v->color < 0;
	export_attribute(ex, "mass", "0");
	export_attribute(ex, "contype", "0");
	export_attribute(ex, "conaffinity", "0");
	export_close(ex, "geom");
}

static void put_geoms(MjcfOut *m, CalBodyId body, const dpose *X_LB) {
	const CalVisual *visuals = NULL;
	const int count = cal_setup_visuals(m->ex->setup, body, &visuals);
	for (int i = 0; i < count; i++)
		if (export_has_shape(m->ex, body, &visuals[i]))
			put_geom(m, &visuals[i], X_LB);
}

static void put_meshes_of(MjcfOut *m, CalBodyId body) {
	const CalVisual *visuals = NULL;
	const int count = cal_setup_visuals(m->ex->setup, body, &visuals);
	for (int i = 0; i < count; i++) {
		if (visuals[i].kind != CAL_VISUAL_MESH)
			continue;
		export_open(m->ex, "mesh");
		export_attribute(m->ex, "name", export_format(m->ex, "mesh%d", ++m->mesh_count));
		export_attribute(m->ex, "file", visuals[i].file);
		export_attribute_vector(m->ex, "scale", export_mesh_scale(&visuals[i]));
		export_close(m->ex, "mesh");
	}
}

/* In the order of the geoms. */
static void put_assets(MjcfOut *m) {
	export_open(m->ex, "asset");
	put_meshes_of(m, (CalBodyId){0});
	for (int i = 0; i < m->ex->link_count; i++)
		if (m->ex->links[i].body.value)
			put_meshes_of(m, m->ex->links[i].body);
	export_close(m->ex, "asset");
	m->mesh_count = 0;
}

/* ---- bodies ------------------------------------------------------------------------------------------ */

/* A mean moment about all axes instead of moments that no mass has, as balanceinertia does. */
static MassProperties possible_mass(Export *ex, const ExportLink *link) {
	const CalBodyDef *body = cal_desc_body(ex->desc, link->body);
	MassProperties p = link->mass;
	double moments[3];
	eigen3_values(&p.inertia, moments);
	if (!body || !body->idealized || moments[2] - moments[0] - moments[1] <= 1e-9 * moments[2])
		return p;
	const double mean = (moments[0] + moments[1] + moments[2]) / 3;
	p.inertia = (CalMat3){{{mean, 0, 0}, {0, mean, 0}, {0, 0, mean}}};
	export_note(
		ex, CAL_IMPORT_MISSING, "body", body->name, body->place,
		"its inertia violates the triangle inequality, which readers of MJCF refuse; a partial file has the mean of "
		"its principal moments");
	return p;
}

static void put_inertial(Export *ex, const ExportLink *link) {
	const MassProperties p = possible_mass(ex, link);
	const double(*I)[3] = p.inertia.m;
	const double full[6] = {I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2]};
	const bool diagonal = full[3] == 0 && full[4] == 0 && full[5] == 0;
	if (p.mass == 0)
		return;
	export_open(ex, "inertial");
	export_attribute_vector(ex, "pos", dvec_in(p.com));
	export_attribute_number(ex, "mass", p.mass);
	export_attribute_numbers(ex, diagonal ? "diaginertia" : "fullinertia", full, diagonal ? 3 : 6);
	export_close(ex, "inertial");
}

/* At qpos0: all coordinates zero, and a free body where it starts. */
static dpose body_pose(const Export *ex, int first, int last) {
	dpose X = export_link_pose(&ex->links[first]);
	for (int i = first + 1; i <= last; i++)
		X = dpose_mul(X, export_on_parent(&ex->links[i]));
	return X;
}

/* A weld has no name of its own in the file: readers give it that of the body. */
static void note_weld(Export *ex, const ExportLink *link) {
	if (link->motion == EXPORT_FIXED && strcmp(link->name, link->joint_name) != 0)
		export_note(ex, CAL_IMPORT_CHANGED, "joint", link->joint_name, link->place,
		            "a weld has no name in MJCF; it is read back as \"%.100s\"", link->name);
}

static void open_body(MjcfOut *m, int first, int last) {
	Export *ex = m->ex;
	const ExportLink *link = &ex->links[last];
	const dpose X = body_pose(ex, first, last);
	const double *q = ex->links[first].q;
	const bool is_free = ex->links[first].motion == EXPORT_FREE;
	export_open(ex, "body");
	export_attribute(ex, "name", link->name);
	mjcf_put_pose(ex, &X, is_free ? (CalQuat){q[3], q[4], q[5], q[6]} : ex->links[first].turn_PF);
	if (m->gravcomp[last] != 0)
		export_attribute_number(ex, "gravcomp", m->gravcomp[last]);
	put_inertial(ex, link);
	mjcf_put_joints(m, first, last);
	put_geoms(m, link->body, &link->X_LB);
	mjcf_put_contact_geoms(m, last);
	put_sites(m, last);
	note_weld(ex, link);
	if (link->motion != EXPORT_FIXED && link->mass.mass == 0)
		export_note(ex, CAL_IMPORT_ASSUMED, "body", link->name, link->place,
		            "it has no mass: Calder reads that, MuJoCo refuses moving bodies without mass");
}

/* Bodies stand in their parents: `open` of them are not closed yet. */
static void put_bodies(MjcfOut *m) {
	Export *ex = m->ex;
	int open = 0;
	for (int i = 0; i < ex->link_count && ex->status == CAL_OK; i++) {
		const int first = i;
		int above = 0;
		while (m->merged[i])
			i++;
		for (int p = ex->links[first].parent; p != EXPORT_GROUND && above <= MOST_DEPTH; p = ex->links[p].parent)
			above += !m->merged[p];
		if (above > MOST_DEPTH)
			export_fail(ex, CAL_ERR_UNSUPPORTED,
			            "MJCF has bodies in bodies, and readers take at most %d; here are more", MOST_DEPTH);
		for (; open > above; open--)
			export_close(ex, "body");
		open_body(m, first, i);
		open++;
	}
	for (; open > 0; open--)
		export_close(ex, "body");
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static void put_option(MjcfOut *m) {
	Export *ex = m->ex;
	const CalRunSettings run = cal_setup_run(ex->setup);
	const CalGroupDef *group = cal_desc_group(ex->desc, (CalGroupId){0});
	export_open(ex, "compiler");
	export_attribute(ex, "angle", "radian");
	export_close(ex, "compiler");
	export_open(ex, "option");
	export_attribute_vector(ex, "gravity", dvec_in(group->gravity));
	if (run.method.method == CAL_METHOD_RK4 && run.method.step > 0) {
		export_attribute(ex, "integrator", "RK4");
		export_attribute_number(ex, "timestep", run.method.step);
	}
	if (m->contact) {
		export_open(ex, "flag");
		export_attribute(ex, "filterparent", "disable");
		export_close(ex, "flag");
	}
	export_close(ex, "option");
}

static bool allocate(MjcfOut *m) {
	Export *ex = m->ex;
	const size_t links = (size_t)ex->link_count + 1, nodes = (size_t)cal_desc_node_count(ex->desc) + 1;
	const size_t devices = (size_t)cal_setup_device_count(ex->setup);
	const size_t sites =
		nodes + 8 * ((size_t)cal_desc_loop_count(ex->desc) + devices + (size_t)cal_setup_load_count(ex->setup));
	m->merged = pool_array(&ex->pool, links, sizeof *m->merged);
	m->gravcomp = pool_array(&ex->pool, links, sizeof *m->gravcomp);
	m->first_site = pool_array(&ex->pool, links, sizeof *m->first_site);
	m->first_shape = pool_array(&ex->pool, links, sizeof *m->first_shape);
	m->sites = pool_array(&ex->pool, sites, sizeof *m->sites);
	m->site_of_node = pool_array(&ex->pool, nodes, sizeof *m->site_of_node);
	m->force_tendons = pool_array(&ex->pool, devices + 1, sizeof *m->force_tendons);
	m->controls = pool_array(&ex->pool, devices + CAL_JOINT_MAX_DOF * ((size_t)cal_setup_load_count(ex->setup) + 1),
	                         sizeof *m->controls);
	if (!m->force_tendons || !m->controls || !m->merged || !m->gravcomp || !m->first_site || !m->first_shape ||
	    !m->sites || !m->site_of_node) {
		export_no_memory(ex);
		return false;
	}
	for (size_t i = 0; i < links; i++)
		m->first_site[i] = m->first_shape[i] = -1;
	for (size_t i = 0; i < nodes; i++)
		m->site_of_node[i] = -1;
	return true;
}

static void put_world(MjcfOut *m) {
	export_open(m->ex, "worldbody");
	put_geoms(m, (CalBodyId){0}, &(dpose){dmat_identity(), {0, 0, 0}});
	mjcf_put_contact_geoms(m, EXPORT_GROUND);
	put_sites(m, EXPORT_GROUND);
	put_bodies(m);
	export_close(m->ex, "worldbody");
}

static void put_file(MjcfOut *m) {
	Export *ex = m->ex;
	const char *title = cal_setup_run(ex->setup).title;
	mjcf_find_gravcomp(m);
	place_nodes(m);
	mjcf_place_loops(m);
	mjcf_place_devices(m);
	mjcf_find_contact(m);
	merge_links(m);
	export_open(ex, "mujoco");
	if (title && title[0])
		export_attribute(ex, "model", export_sound_text(ex, title));
	put_option(m);
	put_assets(m);
	put_world(m);
	mjcf_put_tendons(m);
	mjcf_put_equalities(m);
	mjcf_put_actuators(m);
	mjcf_put_keyframe(m);
	export_close(ex, "mujoco");
	if (m->gray)
		export_note(ex, CAL_IMPORT_ASSUMED, "visuals", NULL, NULL, "shapes without a color are gray in MJCF");
}

static void write_file(Export *ex) {
	MjcfOut m = {.ex = ex};
	if (allocate(&m))
		put_file(&m);
	export_names_free(ex, &m.loop_names);
	export_names_free(ex, &m.device_names);
	export_names_free(ex, &m.tendon_names);
	export_names_free(ex, &m.geom_names);
}

/* The keyframe holds all coordinates and speeds. */
static void check_start(Export *ex, const ExportLink *link) {
	(void)ex;
	(void)link;
}

const ExportFormat mjcf_export_format = {
	.name = "MJCF",
	.motions =
		1u << EXPORT_FIXED | 1u << EXPORT_ROTATION | 1u << EXPORT_TRANSLATION | 1u << EXPORT_BALL | 1u << EXPORT_FREE,
	.shapes = 1u << CAL_VISUAL_BOX | 1u << CAL_VISUAL_SPHERE | 1u << CAL_VISUAL_CYLINDER | 1u << CAL_VISUAL_CAPSULE |
              1u << CAL_VISUAL_PLANE | 1u << CAL_VISUAL_MESH,
	.has_springs = true,
	.has_rotors = true,
	.has_ball_forces = true,
	.has_gravity = true,
	.takes_device = mjcf_takes_device,
	.takes_load = mjcf_takes_load,
	.check_start = check_start,
	.write = write_file,
};
