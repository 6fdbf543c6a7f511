// SPDX-License-Identifier: Apache-2.0
/*
 * fe_modal.c — a modal body: its mass at rest, its checks, and its way into a description.
 *
 * The checks are those that can be made without knowing where the body came from; the readers add the place.
 */
#include "fe/fe_modal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_reader.h"
#include "math/eigen.h"

CalModal *fe_modal_new(const char *path, const char *source, int modes, const CalAllocator *allocator) {
	Pool pool;
	pool_init(&pool, allocator);
	CalModal *modal = pool_alloc(&pool, sizeof *modal);
	if (!modal)
		return NULL;
	modal->pool = pool;
	modal->path = pool_text(&modal->pool, path, strlen(path));
	modal->name = modal->boundary = "";
	modal->source = source;
	modal->modes = modes;
	modal->stiffness = pool_array(&modal->pool, (size_t)modes * (size_t)modes, sizeof(double));
	if (!modal->path || !modal->stiffness) {
		cal_modal_destroy(modal);
		return NULL;
	}
	return modal;
}

void cal_modal_destroy(CalModal *modal) {
	if (!modal)
		return;
	Pool pool = modal->pool;
	pool_free(&pool);
}

bool fe_modal_reserve_nodes(CalModal *modal, int capacity) {
	if (capacity <= modal->node_capacity)
		return true;
	ModalNode *nodes = pool_array(&modal->pool, (size_t)capacity, sizeof *nodes);
	if (!nodes)
		return false;
	if (modal->node_count)
		memcpy(nodes, modal->nodes, (size_t)modal->node_count * sizeof *nodes);
	modal->nodes = nodes;
	modal->node_capacity = capacity;
	return true;
}

ModalNode *fe_modal_add_node(CalModal *modal, const char *name, CalModalNodeKind kind) {
	if (modal->node_count == modal->node_capacity && !fe_modal_reserve_nodes(modal, 2 * modal->node_capacity + 16))
		return NULL;
	ModalNode node = {.kind = kind, .placement.orientation.w = 1};
	node.name = pool_text(&modal->pool, name, strlen(name));
	node.phi = pool_array(&modal->pool, 6 * (size_t)modal->modes, sizeof(double));
	if (!node.name || !node.phi)
		return NULL;
	node.psi = node.phi + 3 * modal->modes;
	modal->nodes[modal->node_count] = node;
	return &modal->nodes[modal->node_count++];
}

void fe_modal_note(CalModal *modal, const char *format, ...) {
	size_t used = strlen(modal->notes);
	if (used + 2 >= sizeof modal->notes)
		return;
	if (used)
		modal->notes[used++] = '\n';
	va_list args;
	va_start(args, format);
	text_format(modal->notes + used, sizeof modal->notes - used, format, args);
	va_end(args);
}

/* ---- mass -------------------------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double out[3]) {
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

static void add_point_mass(ModalMass *mass, double m, const double p[3], const CalMat3 *own) {
	const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
	mass->mass += m;
	for (int i = 0; i < 3; i++) {
		mass->first[i] += m * p[i];
		for (int j = 0; j < 3; j++)
			mass->inertia[i][j] += m * ((i == j ? square : 0) - p[i] * p[j]) + own->m[i][j];
	}
}

static void add_node_modes(const CalModal *modal, const ModalNode *node, ModalMass *mass) {
	const int n = modal->modes;
	const double p[3] = {node->placement.position.x, node->placement.position.y, node->placement.position.z};
	for (int a = 0; a < n; a++) {
		const double phi[3] = {node->phi[a], node->phi[n + a], node->phi[2 * n + a]};
		double turn[3], Jpsi[3];
		cross(p, phi, turn);
		for (int i = 0; i < 3; i++) {
			Jpsi[i] = 0;
			for (int j = 0; j < 3; j++)
				Jpsi[i] += node->inertia.m[i][j] * node->psi[j * n + a];
			mass->linear[i * n + a] += node->mass * phi[i];
			mass->angular[i * n + a] += node->mass * turn[i] + Jpsi[i];
		}
		for (int e = 0; e < n; e++)
			for (int i = 0; i < 3; i++)
				mass->modal[a * n + e] += node->mass * phi[i] * node->phi[i * n + e] + Jpsi[i] * node->psi[i * n + e];
	}
}

void fe_modal_mass(const CalModal *modal, ModalMass *mass) {
	const size_t n = (size_t)modal->modes;
	double *linear = mass->linear, *angular = mass->angular, *ee = mass->modal;
	*mass = (ModalMass){.linear = linear, .angular = angular, .modal = ee};
	memset(linear, 0, 3 * n * sizeof *linear);
	memset(angular, 0, 3 * n * sizeof *angular);
	memset(ee, 0, n * n * sizeof *ee);
	const double c[3] = {modal->rigid_com.x, modal->rigid_com.y, modal->rigid_com.z};
	add_point_mass(mass, modal->rigid_mass, c, &modal->rigid_inertia);
	for (int i = 0; i < modal->node_count; i++) {
		const ModalNode *node = &modal->nodes[i];
		const double p[3] = {node->placement.position.x, node->placement.position.y, node->placement.position.z};
		add_point_mass(mass, node->mass, p, &node->inertia);
		add_node_modes(modal, node, mass);
	}
}

void fe_modal_moments(const CalModal *modal, double *A) {
	const int n = modal->modes, D = fe_moment_size(n);
	memset(A, 0, (size_t)D * (size_t)D * sizeof *A);
	for (int i = 0; i <= modal->node_count; i++) {
		const ModalNode *node = i < modal->node_count ? &modal->nodes[i] : NULL; // last: the rigid part
		const double m = node ? node->mass : modal->rigid_mass;
		const CalVec3 p = node ? node->placement.position : modal->rigid_com;
		const double head[4] = {1, p.x, p.y, p.z};
		if (m == 0)
			continue;
		for (int s = 0; s < D; s++)
			for (int t = 0; t < D; t++) {
				const double zs = s < 4 ? head[s] : node ? node->phi[(s - 4) % 3 * n + (s - 4) / 3] : 0;
				const double zt = t < 4 ? head[t] : node ? node->phi[(t - 4) % 3 * n + (t - 4) / 3] : 0;
				A[s * D + t] += m * zs * zt;
			}
	}
}

void fe_geometric_from_rates(const double rates[CAL_FLEX_GEOMETRIC], double out[CAL_FLEX_GEOMETRIC]) {
	const double *turn = rates + 3, *spin = rates + 6;
	for (int x = 0; x < 3; x++) {
		const int y = (x + 1) % 3, z = (x + 2) % 3; // product 3 + x: xy, yz, zx
		out[x] = rates[x];
		out[3 + 4 * x] = (spin[x] - spin[y] - spin[z]) / 2;
		out[3 + 3 * z + y] = (spin[3 + y] + turn[x]) / 2;
		out[3 + 3 * y + z] = (spin[3 + y] - turn[x]) / 2;
	}
}

bool fe_modal_geometric(const CalModal *modal, double *out) {
	const size_t square = (size_t)modal->modes * (size_t)modal->modes;
	bool any = modal->geometric != NULL;
	memset(out, 0, CAL_FLEX_GEOMETRIC * square * sizeof *out);
	if (modal->geometric)
		memcpy(out, modal->geometric, CAL_FLEX_GEOMETRIC * square * sizeof *out);
	for (int i = 0; i < modal->node_count; i++) {
		const ModalNode *node = &modal->nodes[i];
		const CalVec3 at = node->placement.position;
		const double p[3] = {at.x, at.y, at.z};
		any |= node->phi2 != NULL;
		for (size_t k = 0; node->phi2 && k < 3 * square; k++) {
			const double twice = 2 * node->mass * node->phi2[k];
			out[k] += twice;
			for (size_t j = 0; j < 3; j++)
				out[(3 + 3 * (k / square) + j) * square + k % square] += twice * p[j];
		}
	}
	return any;
}

/* ---- mass points ------------------------------------------------------------------------------- */

static CalStatus put_points(CalModal *modal, const double *z, int count, double mass, CalError *error) {
	const int n = modal->modes, D = fe_moment_size(n);
	if (!fe_modal_reserve_nodes(modal, modal->node_count + count))
		return fe_file_error(error, modal->path, CAL_ERR_MEMORY, "out of memory");
	for (int k = 0; k < count; k++, z += D) {
		char name[32];
		snprintf(name, sizeof name, "mass%d", k + 1);
		ModalNode *node = fe_modal_add_node(modal, name, CAL_MODAL_MASS);
		if (!node)
			return fe_file_error(error, modal->path, CAL_ERR_MEMORY, "out of memory");
		node->mass = mass / count;
		node->placement.position = (CalVec3){z[1], z[2], z[3]};
		for (int a = 0; a < n; a++)
			for (int c = 0; c < 3; c++)
				node->phi[c * n + a] = z[4 + 3 * a + c];
	}
	return CAL_OK;
}

static void compare_moments(CalModal *modal, const FeMoments *want, const double *angular, const ModalMass *got) {
	CalModalFidelity *f = &modal->fidelity;
	const int n = modal->modes;
	double trace = 0, second[3][3], radius = 0;
	fe_second_moment(got->inertia, second);
	for (int i = 0; i < 3; i++) {
		trace += want->second[i][i];
		radius += want->second[i][i] - want->first[i] * want->first[i] / want->mass;
	}
	radius = sqrt(fabs(radius) / want->mass);
	f->mass = fabs(got->mass - want->mass) / want->mass;
	for (int i = 0; i < 3; i++) {
		f->com = fmax(f->com, fabs(got->first[i] - want->first[i]) / (want->mass * (radius > 0 ? radius : 1)));
		for (int j = 0; j < 3; j++)
			f->inertia = fmax(f->inertia, fabs(second[i][j] - want->second[i][j]) / trace);
	}
	for (int a = 0; a < n; a++) {
		const double own = want->modal[a * n + a];
		for (int e = 0; e < n; e++)
			f->modal_mass = fmax(f->modal_mass, fabs(got->modal[a * n + e] - want->modal[a * n + e]) /
			                                        sqrt(own * want->modal[e * n + e]));
		for (int i = 0; i < 3; i++) {
			f->coupling =
				fmax(f->coupling, fabs(got->linear[i * n + a] - want->linear[i * n + a]) / sqrt(own * want->mass));
			f->coupling = fmax(f->coupling, fabs(got->angular[i * n + a] - angular[i * n + a]) / sqrt(own * trace));
		}
	}
}

CalStatus fe_modal_add_mass_points(CalModal *modal, const FeMoments *moments, const double *angular, CalError *error) {
	const size_t n = (size_t)modal->modes, D = (size_t)fe_moment_size(modal->modes);
	static const char *const kept[] = {"exact", "exact to first order and estimated beyond",
	                                   "that of stretching; shear of the mass does not change the inertia",
	                                   "left out where it is not that of a rigid motion"};
	const CalAllocator *allocator = &modal->pool.allocator;
	double *z = memory_alloc(allocator, (D * D + 6 * n + n * n) * sizeof *z);
	int count;
	FeMassQuality quality;
	if (!z)
		return fe_file_error(error, modal->path, CAL_ERR_MEMORY, "out of memory");
	CalStatus status = fe_mass_points(moments, modal->path, allocator, z, &count, &quality, error);
	if (status == CAL_OK)
		status = put_points(modal, z, count, moments->mass, error);
	if (status == CAL_OK) {
		ModalMass got = {.linear = z + D * D, .angular = z + D * D + 3 * n, .modal = z + D * D + 6 * n};
		fe_modal_mass(modal, &got);
		compare_moments(modal, moments, angular, &got);
		if (quality != FE_MASS_EXACT)
			fe_modal_note(modal, "mass: exact at rest; its change with the deflection is %s", kept[quality]);
	}
	memory_free(allocator, z);
	return status;
}

/* ---- checks ------------------------------------------------------------------------------------ */

/* "path:line:column: error: ...", as far as they are known. */
static CalStatus refuse_modal(const CalModal *modal, ModalPlace at, CalError *error, const char *format, ...)
	ERROR_PRINTF(4, 5);

static CalStatus refuse_modal(const CalModal *modal, ModalPlace at, CalError *error, const char *format, ...) {
	char what[512], place[280];
	va_list args;
	va_start(args, format);
	text_format(what, sizeof what, format, args);
	va_end(args);
	if (at.line > 0 && at.column > 0)
		snprintf(place, sizeof place, "%.200s:%d:%d", modal->path, at.line, at.column);
	else if (at.line > 0)
		snprintf(place, sizeof place, "%.200s:%d", modal->path, at.line);
	else
		snprintf(place, sizeof place, "%.200s", modal->path);
	return error_set(error, CAL_ERR_INPUT, "%s: error: %s", place, what);
}

static bool all_finite(const double *x, size_t count) {
	for (size_t i = 0; x && i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static CalStatus check_stiffness(const CalModal *modal, double *K, CalError *error) {
	const int n = modal->modes;
	double *values = K + n * n, *scratch = values + n;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			const double a = modal->stiffness[i * n + j], b = modal->stiffness[j * n + i];
			const double size = sqrt(fabs(modal->stiffness[i * n + i] * modal->stiffness[j * n + j]));
			if (fabs(a - b) > 1e-6 * size)
				return refuse_modal(modal, modal->stiffness_place, error,
				                    "the stiffness is not symmetric: (%d, %d) is %g, (%d, %d) is %g", i + 1, j + 1, a,
				                    j + 1, i + 1, b);
			K[i * n + j] = size > 0 ? (a + b) / 2 / size : 0;
		}
	for (int i = 0; i < n; i++)
		if (!(modal->stiffness[i * n + i] > 0))
			return refuse_modal(modal, modal->stiffness_place, error,
			                    "the stiffness is singular: mode %d has none (%g); leave rigid modes out", i + 1,
			                    modal->stiffness[i * n + i]);
	const CalStatus status = eigen_symmetric(n, K, values, scratch);
	if (status == CAL_OK && values[0] < -1e-12)
		return refuse_modal(
			modal, modal->stiffness_place, error,
			"the stiffness is indefinite: some deflection is pushed away (scaled to a unit diagonal its smallest "
			"value is %g); check the signs",
			values[0]);
	if (status != CAL_OK || values[0] < 1e-12)
		return refuse_modal(modal, modal->stiffness_place, error,
		                    "the stiffness is singular: scaled to a unit diagonal its smallest value is %g",
		                    status == CAL_OK ? values[0] : NAN);
	return CAL_OK;
}

static CalStatus check_shapes(const CalModal *modal, double *memory, CalError *error) {
	const int n = modal->modes;
	ModalMass mass = {.linear = memory, .angular = memory + 3 * n, .modal = memory + 6 * n};
	fe_modal_mass(modal, &mass);
	if (!(mass.mass > 0))
		return refuse_modal(modal, (ModalPlace){0, 0}, error, "the body has no mass");
	for (int a = 0; a < n; a++)
		if (!(mass.modal[a * n + a] > 0))
			return refuse_modal(modal, (ModalPlace){0, 0}, error,
			                    "mode %d moves no mass: its shapes vanish at every node that has any", a + 1);
	return CAL_OK;
}

static CalStatus check_nodes(const CalModal *modal, CalError *error) {
	const size_t n = (size_t)modal->modes;
	for (int i = 0; i < modal->node_count; i++) {
		const ModalNode *node = &modal->nodes[i];
		if (!all_finite(node->phi, 6 * n) || !all_finite(node->phi2, 3 * n * n) || !isfinite(node->mass) ||
		    node->mass < 0)
			return refuse_modal(modal, node->place, error,
			                    "node \"%s\": its mass is negative, or its mass or a shape is not finite", node->name);
		for (int k = 0; k < i && node->kind != CAL_MODAL_MASS; k++)
			if (strcmp(node->name, modal->nodes[k].name) == 0)
				return refuse_modal(modal, node->place, error, "two nodes have the name \"%s\"", node->name);
	}
	return CAL_OK;
}

CalStatus fe_modal_check(const CalModal *modal, CalError *error) {
	const size_t n = (size_t)modal->modes;
	const CalAllocator *allocator = &modal->pool.allocator;
	if (!all_finite(modal->stiffness, n * n) || !all_finite(modal->damping, n * n))
		return refuse_modal(modal, modal->stiffness_place, error, "stiffness or damping is not finite");
	if (!all_finite(modal->geometric, CAL_FLEX_GEOMETRIC * n * n))
		return refuse_modal(modal, (ModalPlace){0, 0}, error, "the geometric stiffness is not finite");
	double *memory = memory_alloc(allocator, (n * n + 6 * n) * sizeof *memory);
	if (!memory)
		return fe_file_error(error, modal->path, CAL_ERR_MEMORY, "out of memory");
	CalStatus status = check_nodes(modal, error);
	if (status == CAL_OK)
		status = check_shapes(modal, memory, error);
	if (status == CAL_OK)
		status = check_stiffness(modal, memory, error);
	memory_free(allocator, memory);
	return status;
}

/* ---- what the user may know -------------------------------------------------------------------- */

CalModalInfo cal_modal_info(const CalModal *modal) {
	if (!modal)
		return (CalModalInfo){0};
	CalModalInfo info = {.name = modal->name, .source = modal->source, .boundary = modal->boundary};
	info.modes = modal->modes;
	info.node_count = modal->node_count;
	info.stiffness = modal->stiffness;
	info.damping = modal->damping;
	info.geometric = modal->geometric;
	info.rigid_mass = modal->rigid_mass;
	info.dropped = modal->dropped;
	info.dropped_from = modal->dropped_from;
	info.notes = modal->notes;
	ModalMass mass = {0};
	const double c[3] = {modal->rigid_com.x, modal->rigid_com.y, modal->rigid_com.z};
	add_point_mass(&mass, modal->rigid_mass, c, &modal->rigid_inertia);
	for (int i = 0; i < modal->node_count; i++) {
		const CalVec3 at = modal->nodes[i].placement.position;
		const double p[3] = {at.x, at.y, at.z};
		add_point_mass(&mass, modal->nodes[i].mass, p, &modal->nodes[i].inertia);
	}
	info.mass = mass.mass;
	if (!(mass.mass > 0))
		return info;
	const double s[3] = {mass.first[0] / mass.mass, mass.first[1] / mass.mass, mass.first[2] / mass.mass};
	const double square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
	info.com = (CalVec3){s[0], s[1], s[2]};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			info.inertia.m[i][j] = mass.inertia[i][j] - mass.mass * ((i == j ? square : 0) - s[i] * s[j]);
	return info;
}

CalModalFidelity cal_modal_fidelity(const CalModal *modal) { return modal ? modal->fidelity : (CalModalFidelity){0}; }

CalStatus cal_modal_node(const CalModal *modal, int index, CalModalNode *node) {
	if (!modal || !node || index < 0 || index >= modal->node_count)
		return CAL_ERR_ARGUMENT;
	const ModalNode *n = &modal->nodes[index];
	*node = (CalModalNode){n->name, n->kind, n->placement, n->mass, n->inertia, n->phi, n->psi, n->phi2};
	return CAL_OK;
}

/* ---- into a description ------------------------------------------------------------------------ */

/* A body on its way into a description. */
typedef struct Adding {
	const CalModal *modal;
	CalDesc *desc;
	const char *place; // for messages
	CalBodyId body;
	CalError *error;
} Adding;

static CalStatus add_body(Adding *a, const char *name, CalGroupId group) {
	const CalModal *modal = a->modal;
	CalBodyDef def = cal_body_def();
	def.name = name ? name : modal->name;
	def.group = group;
	def.mass = modal->rigid_mass;
	def.com = modal->rigid_com;
	def.inertia = modal->rigid_inertia;
	def.place = a->place;
	return cal_desc_add_body(a->desc, &def, &a->body, a->error);
}

static CalStatus add_flex_node(Adding *a, const ModalNode *node, CalFlexNode *out) {
	CalNodeDef def = cal_node_def();
	def.name = node->name;
	def.placement = node->placement;
	def.place = a->place;
	*out = (CalFlexNode){
		.mass = node->mass, .inertia = node->inertia, .phi = node->phi, .psi = node->psi, .phi2 = node->phi2};
	return cal_desc_add_node(a->desc, a->body, &def, &out->node, a->error);
}

CalStatus fe_modal_add_body(const CalModal *modal, CalDesc *desc, const char *name, CalGroupId group, const char *place,
                            double frequency_bound, CalBodyId *body, CalError *error) {
	Adding a = {.modal = modal, .desc = desc, .place = place, .error = error};
	CalFlexNode *nodes = memory_alloc(&modal->pool.allocator, (size_t)(modal->node_count + 1) * sizeof *nodes);
	if (!nodes)
		return error_set(error, CAL_ERR_MEMORY, "%s: out of memory", modal->path);
	CalFlexDef def = {.modes = modal->modes, .stiffness = modal->stiffness, .damping = modal->damping, .nodes = nodes};
	def.frequency_bound = frequency_bound;
	def.geometric = modal->geometric;
	CalStatus status = add_body(&a, name, group);
	for (int i = 0; i < modal->node_count && status == CAL_OK; i++)
		if (modal->nodes[i].kind != CAL_MODAL_DISPLAY)
			status = add_flex_node(&a, &modal->nodes[i], &nodes[def.node_count++]);
	if (status == CAL_OK)
		status = cal_desc_set_flexible(desc, a.body, &def, error);
	if (status == CAL_OK && body)
		*body = a.body;
	memory_free(&modal->pool.allocator, nodes);
	return status;
}

CalStatus cal_modal_add(const CalModal *modal, CalDesc *desc, const char *name, CalGroupId group,
                        double frequency_bound, CalBodyId *body, CalError *error) {
	if (!modal || !desc)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_modal_add: modal or desc is NULL");
	return fe_modal_add_body(modal, desc, name, group, modal->path, frequency_bound, body, error);
}
