// SPDX-License-Identifier: Apache-2.0
/*
 * fe_reduce.c — Craig-Bampton reduction of a finite element model to a modal body.
 *
 * With b the equations of the interfaces other than the reference, i those inside, and the reference held:
 * static shapes and modes by flexbody/mode_synthesis.h, then the modes of both together, so that the result has M_ee = 1
 * and a diagonal stiffness. The body frame sits on the reference, where every shape vanishes. Without any
 * interface the shapes are the free modes, rigid ones left out, and the body frame is at the center of mass.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "fe/fe_reduce.h"
#include "math/eigen.h"

static const double RIGID_LIMIT = 1e-3; // punched with five digits, a free model has some 1e-4

enum { DEFAULT_MODES = 12, DEFAULT_DISPLAY = 300 };

static CalStatus memory_error(const Reduce *r) {
	return fe_file_error(r->error, r->fe->path, CAL_ERR_MEMORY, "out of memory");
}

/* ---- interfaces -------------------------------------------------------------------------------- */

static CalStatus no_interface(const Reduce *r, const char *name) {
	char known[256] = "";
	size_t used = 0;
	for (int i = 0; i < r->fe->frame_count && used < sizeof known; i++)
		used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", r->fe->frames[i].name);
	return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
	                     "there is no interface \"%.60s\"; the model offers %s%.200s. A node by its number needs three "
	                     "translations and three rotations",
	                     name, known[0] ? "" : "none", known);
}

/* A frame of the file by its name, or any node with six components by its number. */
static CalStatus find_frame(Reduce *r, const char *name, FeFrame *frame) {
	long id;
	for (int i = 0; i < r->fe->frame_count; i++)
		if (strcmp(r->fe->frames[i].name, name) == 0) {
			*frame = r->fe->frames[i];
			return CAL_OK;
		}
	const int node = fe_integer(name, &id) ? fe_model_find(r->fe, id) : -1;
	if (node < 0 || !fe_node_is_frame(&r->fe->nodes[node]))
		return no_interface(r, name);
	for (int i = 0; i < r->fe->frame_count; i++)
		if (r->fe->frames[i].node == node) {
			*frame = r->fe->frames[i];
			return CAL_OK;
		}
	char text[32];
	snprintf(text, sizeof text, "node%ld", id);
	*frame = (FeFrame){pool_text(&r->pool, text, strlen(text)), node};
	return frame->name ? CAL_OK : memory_error(r);
}

static CalStatus reference_first(Reduce *r) {
	const char *name = r->how->reference;
	if (!name)
		return CAL_OK;
	for (int i = 0; i < r->frame_count; i++)
		if (strcmp(r->frames[i].name, name) == 0) {
			const FeFrame chosen = r->frames[i];
			memmove(r->frames + 1, r->frames, (size_t)i * sizeof *r->frames);
			r->frames[0] = chosen;
			return CAL_OK;
		}
	return no_interface(r, name);
}

static CalStatus choose_frames(Reduce *r) {
	const bool given = r->how->interface_count > 0;
	const int count = given ? r->how->interface_count : r->how->interface_count < 0 ? 0 : r->fe->frame_count;
	if (count > FE_MAX_INTERFACES)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_UNSUPPORTED, "more than %d interfaces", FE_MAX_INTERFACES);
	for (int i = 0; i < count; i++) {
		if (!given)
			r->frames[i] = r->fe->frames[i];
		const CalStatus status = given ? find_frame(r, r->how->interfaces[i], &r->frames[i]) : CAL_OK;
		if (status != CAL_OK)
			return status;
		for (int k = 0; k < i; k++)
			if (r->frames[k].node == r->frames[i].node)
				return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT, "interface \"%s\" is named twice",
				                     r->frames[i].name);
	}
	r->frame_count = count;
	return reference_first(r);
}

/* ---- is it a free body in SI units? ------------------------------------------------------------ */

static CalStatus check_model(const Reduce *r) {
	const CalFeInfo *info = &r->info;
	const double expected = r->how->expected_mass;
	if (!(info->mass > 0))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT, "the model has no mass");
	if (expected > 0 && !(fabs(info->mass - expected) <= 0.01 * expected))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                     "the mass is %g kg, %g kg were expected (%.4g times as much); %s", info->mass, expected,
		                     info->mass / expected,
		                     ratio_is_of_units(info->mass / expected)
		                         ? "the units are probably off: is the model in millimeters and tonnes (--units mm-t)?"
		                         : "is it the same part, and are the units of the model SI?");
	if (info->mass_spread > 1e-4)
		return fe_file_error(
			r->error, r->fe->path, CAL_ERR_INPUT,
			"the mass differs by %.3g %% between directions: degrees of freedom are fixed in the model; "
			"export the free structure",
			100 * info->mass_spread);
	if (info->rigid_residual > RIGID_LIMIT)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                     "rigid motion meets a resistance of %.2g (of what the stiffness could give; 1e-3 is "
		                     "allowed): the model is supported or grounded; export the free structure",
		                     info->rigid_residual);
	return CAL_OK;
}

static void note_support(const Reduce *r, CalModal *modal) {
	if (r->info.rigid_residual > 1e-6)
		fe_modal_note(modal,
		              "rigid motion meets a resistance of %.1e: numbers with few digits, or soft supports in the model",
		              r->info.rigid_residual);
}

static void note_units(const Reduce *r, CalModal *modal) {
	const CalVec3 s = r->info.size;
	const double volume = s.x * s.y * s.z, density = volume > 0 ? r->info.mass / volume : 0;
	if (density > 3e4 || (density > 0 && density < 1e-3))
		fe_modal_note(modal,
		              "units: %.3g kg in a box of %.3g x %.3g x %.3g m is %.2g kg/m^3; are they SI? (mm and tonnes: "
		              "length 1e-3, mass 1e3)",
		              r->info.mass, s.x, s.y, s.z, density);
}

/* ---- shapes ------------------------------------------------------------------------------------ */

static CalStatus count_shapes(Reduce *r) {
	const int wanted = r->how->modes < 0 ? 0 : r->how->modes == 0 ? DEFAULT_MODES : r->how->modes;
	r->static_count = r->frame_count > 1 ? 6 * (r->frame_count - 1) : 0;
	if (r->frame_count == 0 && wanted == 0)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT, "without interfaces there must be modes");
	if (wanted + r->static_count > FE_MAX_MODES)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_UNSUPPORTED, "%d shapes are more than %d",
		                     wanted + r->static_count, FE_MAX_MODES);
	r->mode_count = wanted;
	r->inside = pool_array(&r->pool, (size_t)r->n, sizeof *r->inside);
	return r->inside ? CAL_OK : memory_error(r);
}

/* The reference is held, the other interfaces give static shapes. */
static void assign_roles(Reduce *r, unsigned char *role) {
	memset(role, ROLE_INTERIOR, (size_t)r->n);
	for (int f = 0; f < r->frame_count; f++)
		for (int c = 0; c < 6; c++)
			role[r->fe->nodes[r->frames[f].node].dof[c]] = f == 0 ? ROLE_HELD : ROLE_UNIT;
	for (int i = 0; i < r->n; i++) {
		r->inside[i] = role[i] == ROLE_INTERIOR;
		r->modes_there += r->inside[i];
	}
}

static CalStatus factor_inside(void *user, int *bad_dof) {
	Reduce *r = user;
	(void)bad_dof; // the solver names it
	const CalStatus status = fe_solver_open(&r->solver, r->fe, r->inside, r->how->max_memory, r->error);
	return status == CAL_OK ? fe_solver_factor(&r->solver, 0, r->error) : status;
}

static void unit_forces(void *user, int dof, double *x) {
	const Reduce *r = user;
	const FeMatrix *K = &r->fe->K;
	for (int e = 0; e < K->count; e++) {
		const int i = K->row[e], j = K->col[e];
		if (i == dof && j != dof)
			x[j] -= K->value[e];
		else if (j == dof && i != dof)
			x[i] -= K->value[e];
	}
	for (int i = 0; i < r->n; i++)
		x[i] = r->inside[i] ? x[i] : 0;
}

static void solve_inside(void *user, double *x) { fe_solver_solve(&((Reduce *)user)->solver, 1, x); }

static CalStatus held_modes(void *user, const Synthesis *s, int *count, double *values, double *vectors) {
	Reduce *r = user;
	(void)s;
	return fe_lowest_modes(&r->solver, 0, count, values, vectors, r->error);
}

/* A shift from zero that is small beside the first elastic mode. */
static double first_shift(const CalFeModel *fe) {
	double stiffest = 0, heaviest = 0;
	for (int e = 0; e < fe->K.count; e++)
		stiffest = fmax(stiffest, fabs(fe->K.value[e]));
	for (int e = 0; e < fe->M.count; e++)
		heaviest = fmax(heaviest, fabs(fe->M.value[e]));
	return 1e-7 * stiffest / heaviest;
}

/* Free modes: K is singular, so that K + shift M is factored; the six lowest must be rigid, and are left out. */
static CalStatus free_modes(void *user, const Synthesis *s, int *count, double *values, double *vectors) {
	Reduce *r = user;
	const size_t rows = (size_t)(*count > 1 ? *count : 1) + 6, n = (size_t)s->n;
	double *all = pool_array(&r->pool, rows * n, sizeof *all), *squared = pool_array(&r->pool, rows, sizeof *squared);
	if (!all || !squared)
		return memory_error(r);
	double shift = first_shift(r->fe);
	int computed = 7;
	CalStatus status = fe_solver_open(&r->solver, r->fe, r->inside, r->how->max_memory, r->error);
	for (int pass = 0; pass < 2; pass++) { // the second with a shift near the first elastic mode
		if (status == CAL_OK)
			status = fe_solver_factor(&r->solver, shift, r->error);
		if (status == CAL_OK)
			status = fe_lowest_modes(&r->solver, shift, &computed, squared, all, r->error);
		if (status != CAL_OK)
			return status;
		if (pass == 0 && computed == 7 && squared[6] > 0) {
			shift = squared[6] / 4;
			computed = (int)rows;
		}
	}
	if (computed < 7 || !(fabs(squared[5]) < 1e-3 * squared[6]))
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                     "a free body has six rigid modes; here modes 6 and 7 have %g and %g Hz: a mechanism, or a "
		                     "support. Name an interface to hold the body there",
		                     computed > 5 ? sqrt(fabs(squared[5])) / 6.283185307179586 : 0,
		                     computed > 6 ? sqrt(fabs(squared[6])) / 6.283185307179586 : 0);
	*count = computed - 6;
	memcpy(values, squared + 6, (size_t)*count * sizeof *values);
	memcpy(vectors, all + 6 * n, (size_t)*count * n * sizeof *vectors);
	r->modes_there -= 6;
	return CAL_OK;
}

static CalStatus find_shapes(Reduce *r) {
	unsigned char *role = pool_array(&r->pool, (size_t)r->n, 1);
	if (!role)
		return memory_error(r);
	assign_roles(r, role);
	const SynthesisInput in = {.n = r->n, .role = role, .modes = r->mode_count, .max_frequency = r->how->max_frequency};
	const SynthesisMatrices held = {r, factor_inside, unit_forces, solve_inside, held_modes};
	const SynthesisMatrices loose = {.user = r, .modes = free_modes};
	const CalStatus status =
		synthesis_create(&in, r->frame_count ? &held : &loose, &r->fe->pool.allocator, &r->synthesis);
	fe_solver_free(&r->solver);
	r->T = r->synthesis.shape;
	r->values = r->synthesis.value;
	r->mode_count = r->synthesis.modes;
	r->dropped_from = r->synthesis.dropped_from;
	return status == CAL_ERR_MEMORY ? memory_error(r) : status;
}

static double dot(int n, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

void fe_project(const Reduce *r, const FeMatrix *A, int shapes, double *product, double *out) {
	const size_t n = (size_t)r->n;
	fe_matrix_multiply(A, r->n, shapes, r->T, product);
	for (int i = 0; i < shapes; i++)
		for (int j = 0; j <= i; j++)
			out[i * shapes + j] = out[j * shapes + i] = dot(r->n, r->T + (size_t)i * n, product + (size_t)j * n);
}

/* Replaces the shapes by their modes: T M T' = 1, T K T' = diag(values). */
static CalStatus orthogonalise(Reduce *r, int shapes) {
	const size_t n = (size_t)r->n, s = (size_t)shapes;
	double *product = pool_array(&r->pool, s * n, sizeof *product);
	double *K = pool_array(&r->pool, 2 * s * s + 2 * s, sizeof *K);
	if (!product || !K)
		return memory_error(r);
	double *M = K + s * s, *scratch = M + s * s;
	fe_project(r, &r->fe->K, shapes, product, K);
	fe_project(r, &r->fe->M, shapes, product, M);
	CalStatus status = r->fe->mode_count ? fe_stiffness_of_modes(r, shapes, M, K) : CAL_OK;
	if (status != CAL_OK)
		return status;
	status = eigen_generalized(shapes, K, M, r->values, scratch);
	if (status != CAL_OK)
		return fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                     "the reduced mass is singular: an interface moves no mass, or two interfaces are one");
	memset(product, 0, s * n * sizeof *product);
	for (int k = 0; k < shapes; k++)
		for (int l = 0; l < shapes; l++)
			for (size_t i = 0; i < n; i++)
				product[(size_t)k * n + i] += K[l * shapes + k] * r->T[(size_t)l * n + i];
	memcpy(r->T, product, s * n * sizeof *product);
	return CAL_OK;
}

/* ---- nodes and words --------------------------------------------------------------------------- */

static CalStatus add_node(Reduce *r, CalModal *modal, const char *name, CalModalNodeKind kind, int index) {
	const FeNode *from = &r->fe->nodes[index];
	ModalNode *node = fe_modal_add_node(modal, name, kind);
	if (!node)
		return memory_error(r);
	node->placement.position =
		(CalVec3){from->position.x - r->origin.x, from->position.y - r->origin.y, from->position.z - r->origin.z};
	for (int c = 0; c < 3; c++)
		for (int a = 0; a < modal->modes; a++) {
			node->phi[c * modal->modes + a] = fe_shape_at(r, a, from, c);
			node->psi[c * modal->modes + a] = fe_shape_at(r, a, from, 3 + c);
		}
	return CAL_OK;
}

static CalStatus add_nodes(Reduce *r, CalModal *modal) {
	const int wanted = r->how->display_count < 0 ? 0 : r->how->display_count ? r->how->display_count : DEFAULT_DISPLAY;
	const int stride = wanted ? r->fe->node_count / wanted + 1 : r->fe->node_count + 1;
	const FeFrame *frames = r->frame_count ? r->frames : r->fe->frames; // of a free body all frames are kept
	const int frame_count = r->frame_count ? r->frame_count : r->fe->frame_count;
	CalStatus status = CAL_OK;
	for (int f = 0; f < frame_count && status == CAL_OK; f++)
		status = add_node(r, modal, frames[f].name, CAL_MODAL_FRAME, frames[f].node);
	for (int i = 0; wanted && i < r->fe->node_count && status == CAL_OK; i += stride) {
		const FeNode *node = &r->fe->nodes[i];
		char name[32];
		if (node->dof[0] < 0 || node->dof[1] < 0 || node->dof[2] < 0 || fe_node_is_frame(node))
			continue;
		snprintf(name, sizeof name, "n%ld", node->id);
		status = add_node(r, modal, name, CAL_MODAL_DISPLAY, i);
	}
	return status;
}

static CalStatus describe_source(Reduce *r, CalModal *modal) {
	char text[512];
	size_t used;
	if (r->fe->mode_count)
		used = (size_t)snprintf(text, sizeof text, "modes of the file, body frame %s%.60s",
		                        r->frame_count ? "held at " : "in the center of mass",
		                        r->frame_count ? r->frames[0].name : "");
	else if (r->frame_count)
		used = (size_t)snprintf(text, sizeof text, "body frame held at \"%.60s\"; %d static shapes", r->frames[0].name,
		                        r->static_count);
	else
		used = (size_t)snprintf(text, sizeof text, "free body, body frame in the center of mass");
	for (int f = 1; f < r->frame_count && !r->fe->mode_count && used < sizeof text; f++)
		used +=
			(size_t)snprintf(text + used, sizeof text - used, "%s\"%.60s\"", f > 1 ? ", " : " of ", r->frames[f].name);
	if (used < sizeof text && !r->fe->mode_count)
		snprintf(text + used, sizeof text - used, ", %d modes with %s held", r->mode_count,
		         r->frame_count ? "all interfaces" : "nothing");
	modal->boundary = pool_text(&modal->pool, text, strlen(text));
	modal->dropped = r->modes_there - r->mode_count;
	modal->dropped_from = r->dropped_from;
	for (int i = 0; i < r->n; i++)
		if (r->fe->dofs[i].node < 0) {
			fe_modal_note(modal,
			              "the matrices have scalar coordinates without place: how they change the inertia with the "
			              "deflection is not known");
			break;
		}
	note_support(r, modal);
	note_units(r, modal);
	return modal->boundary ? CAL_OK : memory_error(r);
}

static CalStatus fill_modal(Reduce *r, CalModal *modal) {
	const int m = modal->modes;
	const double zeta = r->how->damping_ratio;
	for (int a = 0; a < m; a++)
		modal->stiffness[a * m + a] = r->values[a];
	if (zeta > 0) {
		modal->damping = pool_array(&modal->pool, (size_t)m * (size_t)m, sizeof *modal->damping);
		if (!modal->damping)
			return memory_error(r);
		for (int a = 0; a < m; a++)
			modal->damping[a * m + a] = 2 * zeta * sqrt(fmax(r->values[a], 0));
	}
	CalStatus status = describe_source(r, modal);
	if (status == CAL_OK)
		status = add_nodes(r, modal);
	if (status == CAL_OK)
		status = fe_reduce_mass(r, modal);
	if (status == CAL_OK && r->how->geometric)
		status = fe_reduce_geometric(r, modal);
	return status == CAL_OK ? fe_modal_check(modal, r->error) : status;
}

static CalStatus reduce_model(Reduce *r, CalModal **modal) {
	CalStatus status = check_model(r);
	if (status == CAL_OK)
		status = choose_frames(r);
	if (status == CAL_OK)
		status = count_shapes(r);
	if (status == CAL_OK && r->fe->mode_count)
		status = fe_take_modes(r);
	r->origin = r->frame_count ? r->fe->nodes[r->frames[0].node].position : r->info.com;
	if (status == CAL_OK && !r->fe->mode_count)
		status = find_shapes(r);
	const int shapes = r->static_count + r->mode_count;
	if (status == CAL_OK && shapes == 0)
		status = fe_file_error(r->error, r->fe->path, CAL_ERR_INPUT,
		                       "no shape is left: the lowest mode has %g rad/s; raise the limit", r->dropped_from);
	if (status == CAL_OK)
		status = orthogonalise(r, shapes);
	if (status != CAL_OK)
		return status;
	CalModal *made = fe_modal_new(r->fe->path, r->fe->format, shapes, &r->fe->pool.allocator);
	if (!made)
		return memory_error(r);
	status = fill_modal(r, made);
	if (status == CAL_OK)
		*modal = made;
	else
		cal_modal_destroy(made);
	return status;
}

CalStatus cal_fe_reduce(const CalFeModel *fe, const CalFeReduction *how, CalModal **modal, CalError *error) {
	if (!fe || !modal)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_reduce: fe or modal is NULL");
	const CalFeReduction defaults = {0};
	*modal = NULL;
	Reduce *r = memory_alloc(&fe->pool.allocator, sizeof *r);
	if (!r)
		return fe_file_error(error, fe->path, CAL_ERR_MEMORY, "out of memory");
	*r = (Reduce){.fe = fe, .how = how ? how : &defaults, .error = error, .n = fe->dof_count};
	pool_init(&r->pool, &fe->pool.allocator);
	const CalStatus status = fe_model_info(fe, &r->info) ? reduce_model(r, modal) : memory_error(r);
	synthesis_free(&r->synthesis);
	pool_free(&r->pool);
	memory_free(&fe->pool.allocator, r);
	return status;
}
