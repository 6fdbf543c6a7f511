// SPDX-License-Identifier: Apache-2.0
/*
 * identification.c — unknowns, equations of each instant, and what was found.
 *
 * Inverse dynamics with the unknowns as they are in the model, less A pi, is what is known (rest). An equation is folded into
 * the triangular factor of its class by rotations, and forgotten.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/identification.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "math/portable.h"

static const double default_friction_speed = 0.01, default_prior = 100, default_tolerance = 1e-9;

/* ---- making --------------------------------------------------------------------------------------------- */

static void layout(CalIdentification *id, Cursor *cursor) {
	const size_t p = (size_t)id->p, nu = (size_t)id->nu, bodies = (size_t)id->body_count;
	double **const vectors[] = {&id->start,
	                            &id->spread,
	                            &id->scale,
	                            &id->b,
	                            &id->pi,
	                            &id->deviation,
	                            &id->x,
	                            &id->step,
	                            &id->gradient,
	                            &id->next,
	                            &id->slope,
	                            &id->vector,
	                            &id->combination_deviation};
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		CURSOR_ARRAY(cursor, *vectors[i], p);
	CURSOR_ARRAY(cursor, id->unknowns, p);
	CURSOR_ARRAY(cursor, id->order, p);
	CURSOR_ARRAY(cursor, id->place, p);
	CURSOR_ARRAY(cursor, id->rows, nu);
	CURSOR_ARRAY(cursor, id->bodies, (size_t)id->body_unknowns);
	CURSOR_ARRAY(cursor, id->Y, nu * bodies * CAL_INERTIAL_PARAMETERS);
	CURSOR_ARRAY(cursor, id->A, nu * p);
	CURSOR_ARRAY(cursor, id->rest, nu);
	CURSOR_ARRAY(cursor, id->equation, 2 * p + 2);
	CURSOR_ARRAY(cursor, id->F, (p + 1) * (p + 1));
	CURSOR_ARRAY(cursor, id->K, p * p);
	CURSOR_ARRAY(cursor, id->factor, p * p);
	CURSOR_ARRAY(cursor, id->data, p * p);
	CURSOR_ARRAY(cursor, id->H, p * p);
}

static void count_unknowns(CalIdentification *id, const CalIdentificationOptions *o) {
	for (int b = 0; b < id->body_count; b++)
		id->body_unknowns += !o->bodies || o->bodies[b];
	id->p = CAL_INERTIAL_PARAMETERS * id->body_unknowns;
	for (int u = 0; u < id->nu; u++)
		id->p += (o->viscous && o->viscous[u]) + (o->coulomb && o->coulomb[u]) + (o->rotor && o->rotor[u]);
}

/* The mass of all bodies, and how far it is from their origins in the mean. */
static void find_scales(const CalIdentification *id, double *mass, double *length) {
	double second = 0, p[CAL_INERTIAL_PARAMETERS];
	*mass = 0;
	for (int b = 0; b < id->body_count; b++) {
		cal_inertial_parameters(id->model, b, p);
		*mass += p[0];
		second += 0.5 * (p[4] + p[5] + p[6]);
	}
	*length = *mass > 0 && second > 0 ? sqrt(second / *mass) : 1;
	*mass = *mass > 0 ? *mass : 1;
}

static void name_bodies(CalIdentification *id, const CalIdentificationOptions *o, int *k) {
	double mass, length;
	int at = 0;
	find_scales(id, &mass, &length);
	for (int b = 0; b < id->body_count; b++) {
		if (o->bodies && !o->bodies[b])
			continue;
		cal_inertial_parameters(id->model, b, id->start + *k);
		id->bodies[at].first = *k;
		inertia_prior(&id->bodies[at++], id->start + *k, mass, length);
		for (int i = 0; i < CAL_INERTIAL_PARAMETERS; i++)
			id->unknowns[(*k)++] = (struct Unknown){CAL_IDENTIFIED_INERTIAL, b, i};
	}
}

static CalStatus name_dofs(CalIdentification *id, const CalIdentificationOptions *o, int *k, CalError *error) {
	const uint8_t *const asked[] = {o->viscous, o->coulomb, o->rotor};
	static const CalIdentifiedKind kinds[] = {CAL_IDENTIFIED_VISCOUS, CAL_IDENTIFIED_COULOMB, CAL_IDENTIFIED_ROTOR};
	for (int kind = 0; kind < 3; kind++)
		for (int u = 0; u < id->nu; u++) {
			CalDofInfo info;
			if (!asked[kind] || !asked[kind][u])
				continue;
			if (cal_model_dof(id->model, u, &info) != CAL_OK)
				return error_set(error, CAL_ERR_ARGUMENT,
				                 "cal_identification_create: degree of freedom %d is none of a joint", u);
			id->start[*k] = kind == 0 ? info.damping : kind == 1 ? 0 : info.reflected_inertia;
			id->unknowns[(*k)++] = (struct Unknown){kinds[kind], u, 0};
		}
	return CAL_OK;
}

static CalStatus create_memory(CalIdentification *id) {
	Cursor cursor = {0};
	layout(id, &cursor);
	id->memory = cursor_alloc_zeroed(&cursor, &id->allocator);
	if (!id->memory)
		return CAL_ERR_MEMORY;
	layout(id, &cursor);
	CalStatus status = cal_work_create(id->model, &id->work);
	if (status == CAL_OK)
		status = cal_derivatives_create(id->model, &id->derivatives);
	if (status == CAL_OK && cal_model_loop_count(id->model) > 0)
		status = cal_projection_create(id->model, &id->projection);
	return status;
}

void cal_identification_destroy(CalIdentification *id) {
	if (!id)
		return;
	for (int u = 0; id->rows && u < id->nu; u++)
		memory_free(&id->allocator, id->rows[u].R);
	cal_projection_destroy(id->projection);
	cal_derivatives_destroy(id->derivatives);
	cal_work_destroy(id->work);
	memory_free(&id->allocator, id->memory);
	const CalAllocator allocator = id->allocator;
	memory_free(&allocator, id);
}

static CalStatus check_options(const CalIdentificationOptions *o, CalError *error) {
	if (!allocator_is_valid(&o->allocator))
		return error_set(error, CAL_ERR_ARGUMENT,
		                 "cal_identification_create: an allocator needs both of its functions");
	const double numbers[] = {o->friction_speed, o->prior, o->rank_tolerance};
	for (int i = 0; i < 3; i++)
		if (!(numbers[i] >= 0 && isfinite(numbers[i])))
			return error_set(
				error, CAL_ERR_ARGUMENT,
				"cal_identification_create: friction_speed, prior and rank_tolerance are numbers from 0 on");
	return CAL_OK;
}

CalStatus cal_identification_create(const CalModel *model, const CalIdentificationOptions *options,
                                    CalIdentification **identification, CalError *error) {
	const CalIdentificationOptions o = options ? *options : (CalIdentificationOptions){0};
	if (!model || !identification)
		return error_null(error, __func__, !model ? "model" : "identification");
	*identification = NULL;
	CalStatus status = check_options(&o, error);
	if (status != CAL_OK)
		return status;
	const CalAllocator allocator = allocator_or_default(&o.allocator);
	CalIdentification *id = memory_alloc_zeroed(&allocator, sizeof *id);
	if (!id)
		return error_set(error, CAL_ERR_MEMORY, "%s: %s", __func__, cal_status_text(CAL_ERR_MEMORY));
	*id = (CalIdentification){.model = model,
	                          .allocator = allocator,
	                          .unconstrained = o.unconstrained != 0,
	                          .nu = cal_model_u_count(model),
	                          .body_count = cal_model_body_count(model),
	                          .friction_speed = o.friction_speed > 0 ? o.friction_speed : default_friction_speed,
	                          .prior = o.prior > 0 ? o.prior : default_prior,
	                          .tolerance = o.rank_tolerance > 0 ? o.rank_tolerance : default_tolerance};
	count_unknowns(id, &o);
	if (id->p == 0) {
		cal_identification_destroy(id);
		return error_set(error, CAL_ERR_ARGUMENT, "%s: nothing is unknown", __func__);
	}
	status = create_memory(id);
	if (status != CAL_OK)
		error_set(error, status, "%s: %s", __func__, cal_status_text(status));
	int k = 0;
	if (status == CAL_OK) {
		name_bodies(id, &o, &k);
		status = name_dofs(id, &o, &k, error);
	}
	if (status == CAL_OK)
		*identification = id;
	else
		cal_identification_destroy(id);
	return status;
}

/* ---- equations ------------------------------------------------------------------------------------------ */

/* What one unit of a parameter of a joint does at u and udot. */
static double joint_column(const CalIdentification *id, CalIdentifiedKind kind, double u, double udot) {
	return kind == CAL_IDENTIFIED_VISCOUS   ? u
	       : kind == CAL_IDENTIFIED_COULOMB ? portable_tanh(u / id->friction_speed)
	                                        : udot;
}

/* A and rest: the forces that a motion takes are rest + A pi. */
static CalStatus set_equations(CalIdentification *id, const CalState *state, const double *udot,
                               const CalInput *input) {
	const CalInput wrenches = {.wrenches = input ? input->wrenches : NULL,
	                           .wrench_count = input ? input->wrench_count : 0};
	const size_t width = CAL_INERTIAL_PARAMETERS * (size_t)id->body_count, p = (size_t)id->p;
	CalStatus status = cal_inverse_dynamics(id->model, state, udot, &wrenches, id->work, id->rest);
	if (status == CAL_OK)
		status = cal_inverse_regressor(id->model, state, udot, id->derivatives, id->Y);
	if (status != CAL_OK)
		return status;
	for (size_t i = 0; i < (size_t)id->nu; i++) {
		double *row = id->A + i * p;
		for (size_t k = 0; k < p; k++) {
			const struct Unknown *unknown = &id->unknowns[k];
			if (unknown->kind == CAL_IDENTIFIED_INERTIAL)
				row[k] = id->Y[i * width + (size_t)(CAL_INERTIAL_PARAMETERS * unknown->object + unknown->index)];
			else
				row[k] = unknown->object == (int)i ? joint_column(id, unknown->kind, state->u[i], udot[i]) : 0;
			id->rest[i] -= row[k] * id->start[k];
		}
	}
	return CAL_OK;
}

/* id->equation into the class of a degree of freedom. */
static CalStatus take_equation(CalIdentification *id, int dof) {
	RowClass *class = &id->rows[dof];
	const size_t n = (size_t)id->p + 1;
	if (!class->R)
		class->R = memory_alloc_zeroed(&id->allocator, n * n * sizeof *class->R);
	if (!class->R)
		return CAL_ERR_MEMORY;
	class->force += id->equation[id->p] * id->equation[id->p];
	class->count++;
	identification_fold((int)n, class->R, id->equation);
	return CAL_OK;
}

/* The equations of the independent speeds: X'(rest + A pi - tau) = 0. */
static CalStatus add_projected(CalIdentification *id, const CalState *state, const double *tau) {
	const CalProjectionOptions options = {0};
	const size_t p = (size_t)id->p;
	CalStatus status = cal_projection_update(id->projection, state, &options, id->work);
	if (status != CAL_OK)
		return status;
	const uint8_t *independent = cal_projection_independent(id->projection);
	const double *X = cal_projection_map(id->projection);
	const size_t count = (size_t)cal_projection_count(id->projection);
	size_t column = 0;
	for (int u = 0; u < id->nu && status == CAL_OK; u++) {
		if (!independent[u])
			continue;
		memset(id->equation, 0, (p + 1) * sizeof *id->equation);
		for (size_t i = 0; i < (size_t)id->nu; i++) {
			const double factor = X[i * count + column];
			for (size_t k = 0; k < p; k++)
				id->equation[k] += factor * id->A[i * p + k];
			id->equation[p] += factor * (tau[i] - id->rest[i]);
		}
		status = take_equation(id, u);
		column++;
	}
	return status;
}

static bool are_finite(const double *x, int count) {
	for (int i = 0; i < count; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool is_measured(const uint8_t *measured, int dof) { return !measured || measured[dof]; }

CalStatus cal_identification_add(CalIdentification *id, const CalState *state, const double *udot,
                                 const CalInput *input, const double *tau, const uint8_t *measured) {
	if (!id || !state || !state->q || !state->u || !udot || !tau)
		return CAL_ERR_ARGUMENT;
	for (int i = 0; i < id->nu; i++)
		if (id->projection && !is_measured(measured, i))
			return CAL_ERR_ARGUMENT;
		else if (is_measured(measured, i) && !isfinite(tau[i]))
			return CAL_NOT_FINITE;
	CalStatus status = set_equations(id, state, udot, input);
	if (status != CAL_OK)
		return status;
	if (!are_finite(id->rest, id->nu) || !are_finite(id->A, id->nu * id->p))
		return CAL_NOT_FINITE;
	id->solved = false;
	if (id->projection)
		return add_projected(id, state, tau);
	for (int i = 0; i < id->nu && status == CAL_OK; i++) {
		if (!is_measured(measured, i))
			continue;
		memcpy(id->equation, id->A + (size_t)i * (size_t)id->p, (size_t)id->p * sizeof *id->equation);
		id->equation[id->p] = tau[i] - id->rest[i];
		status = take_equation(id, i);
	}
	return status;
}

/* ---- solving ----------------------------------------------------------------------------------------------- */

CalStatus cal_identification_solve(CalIdentification *id, CalError *error) {
	if (!id)
		return error_null(error, __func__, "identification");
	id->solved = false;
	id->result = (CalIdentified){.parameters = id->p};
	for (int i = 0; i < id->nu; i++)
		if (!isfinite(id->rows[i].force))
			return error_set(error, CAL_NOT_FINITE,
			                 "the forces along degree of freedom %d are too large to be squared and added", i + 1);
	CalStatus status = identification_reduce(id, error);
	if (status == CAL_OK && (status = identification_search(id)) != CAL_OK)
		error_set(error, status, "the search for physically possible parameters did not converge: %s",
		          cal_status_text(status));
	id->solved = status == CAL_OK;
	return status;
}

/* ---- results ------------------------------------------------------------------------------------------------- */

CalStatus cal_identification_result(const CalIdentification *id, CalIdentified *result) {
	if (!id || !result)
		return CAL_ERR_ARGUMENT;
	*result = id->result;
	return id->solved ? CAL_OK : CAL_ERR_STAGE;
}

static const char *inertial_unit(int index) { return index == 0 ? "kg" : index < 4 ? "kg m" : "kg m^2"; }

/* Name and unit of a parameter of a joint. */
static void name_joint_parameter(const CalIdentification *id, const struct Unknown *unknown,
                                 CalIdentifiedParameter *p) {
	static const char *const words[] = {
		[CAL_IDENTIFIED_VISCOUS] = "viscous", [CAL_IDENTIFIED_COULOMB] = "coulomb", [CAL_IDENTIFIED_ROTOR] = "rotor"};
	static const char *const units[][2] = {[CAL_IDENTIFIED_VISCOUS] = {"N m s/rad", "N s/m"},
	                                       [CAL_IDENTIFIED_COULOMB] = {"N m", "N"},
	                                       [CAL_IDENTIFIED_ROTOR] = {"kg m^2", "kg"}};
	CalCoordinateInfo info = {0};
	char name[96] = "";
	cal_model_dof_name(id->model, unknown->object, name, sizeof name);
	cal_model_speed(id->model, unknown->object, &info);
	snprintf(p->name, sizeof p->name, "%s.%s", name, words[unknown->kind]);
	p->unit = units[unknown->kind][info.kind == CAL_COORDINATE_LENGTH];
}

/* A parameter is determined where no other takes part in its combination. */
static bool is_determined(const CalIdentification *id, int unknown) {
	for (int i = 0; i < id->rank; i++) {
		if (id->order[i] != unknown)
			continue;
		for (int k = 0; k < id->p; k++)
			if (k != unknown && id->factor[(size_t)i * (size_t)id->p + (size_t)k] != 0)
				return false;
		return true;
	}
	return false;
}

CalStatus cal_identification_parameter(const CalIdentification *id, int index, CalIdentifiedParameter *parameter) {
	static const char *const names[CAL_INERTIAL_PARAMETERS] = {"mass", "mx",  "my",  "mz",  "Ixx",
	                                                           "Iyy",  "Izz", "Ixy", "Ixz", "Iyz"};
	if (!id || !parameter || index < 0 || index >= id->p)
		return CAL_ERR_ARGUMENT;
	const struct Unknown *unknown = &id->unknowns[index];
	CalBodyInfo body;
	*parameter = (CalIdentifiedParameter){
		.kind = unknown->kind, .object = unknown->object, .index = unknown->index, .model = id->start[index]};
	if (unknown->kind != CAL_IDENTIFIED_INERTIAL) {
		name_joint_parameter(id, unknown, parameter);
	} else if (cal_model_body(id->model, unknown->object, &body) == CAL_OK) {
		snprintf(parameter->name, sizeof parameter->name, "%.96s.%s", body.name, names[unknown->index]);
		parameter->unit = inertial_unit(unknown->index);
	}
	parameter->value = id->solved ? id->pi[index] : (double)NAN;
	parameter->deviation = id->solved ? id->deviation[index] : (double)NAN;
	parameter->determined = id->solved && is_determined(id, index);
	return CAL_OK;
}

CalStatus cal_identification_combination(const CalIdentification *id, int index, CalCombination *c) {
	if (!id || !c || index < 0)
		return CAL_ERR_ARGUMENT;
	if (!id->solved)
		return CAL_ERR_STAGE;
	if (index >= id->rank)
		return CAL_ERR_ARGUMENT;
	const int own = id->order[index];
	*c = (CalCombination){.parameter = own,
	                      .factor = id->factor + (size_t)index * (size_t)id->p,
	                      .value = id->b[index] / id->scale[own],
	                      .deviation = id->combination_deviation[index] / id->scale[own]};
	for (int k = 0; k < id->p; k++) {
		c->model += c->factor[k] * id->start[k];
		c->consistent += c->factor[k] * id->pi[k];
	}
	return CAL_OK;
}

int cal_identification_combination_text(const CalIdentification *id, int index, char *buffer, size_t size) {
	CalCombination c;
	CalIdentifiedParameter p;
	if (cal_identification_combination(id, index, &c) != CAL_OK || (!buffer && size > 0))
		return -1;
	cal_identification_parameter(id, c.parameter, &p);
	size_t length = (size_t)snprintf(buffer, size, "%s", p.name);
	for (int k = 0; k < id->p; k++) {
		if (k == c.parameter || c.factor[k] == 0)
			continue;
		char number[32] = "";
		const double factor = fabs(c.factor[k]);
		if (fabs(factor - 1) > 1e-9)
			snprintf(number, sizeof number, "%.6g ", factor);
		cal_identification_parameter(id, k, &p);
		length += (size_t)snprintf(length < size ? buffer + length : NULL, length < size ? size - length : 0,
		                           " %c %s%s", c.factor[k] < 0 ? '-' : '+', number, p.name);
	}
	return (int)length;
}

CalStatus cal_identification_fit(const CalIdentification *id, int dof, CalForceFit *fit) {
	if (!id || !fit || dof < 0 || dof >= id->nu)
		return CAL_ERR_ARGUMENT;
	const RowClass *class = &id->rows[dof];
	*fit = (CalForceFit){.equations = class->count};
	if (!id->solved)
		return CAL_ERR_STAGE;
	if (class->count == 0)
		return CAL_OK;
	const double count = (double)class->count;
	fit->force = sqrt(class->force / count);
	fit->model = sqrt(identification_residual(id, class, id->start) / count);
	fit->residual = sqrt(identification_residual(id, class, id->pi) / count);
	return CAL_OK;
}

/* Mass, center of mass and moments about it. */
static void set_body(const double p[CAL_INERTIAL_PARAMETERS], CalBodyDef *def) {
	static const int place[3][3] = {{4, 7, 8}, {7, 5, 9}, {8, 9, 6}};
	const double m = p[0], c[3] = {m > 0 ? p[1] / m : 0, m > 0 ? p[2] / m : 0, m > 0 ? p[3] / m : 0};
	def->mass = m;
	def->com = (CalVec3){c[0], c[1], c[2]};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			def->inertia.m[i][j] =
				p[place[i][j]] - m * ((i == j ? c[0] * c[0] + c[1] * c[1] + c[2] * c[2] : 0) - c[i] * c[j]);
}

CalStatus cal_identification_body(const CalIdentification *id, int body, CalBodyDef *def) {
	CalBodyInfo info;
	if (!id || !def || cal_model_body(id->model, body, &info) != CAL_OK)
		return CAL_ERR_ARGUMENT;
	if (!id->solved)
		return CAL_ERR_STAGE;
	def->mass = info.mass, def->com = info.com, def->inertia = info.inertia;
	for (int i = 0; i < id->body_unknowns; i++)
		if (id->unknowns[id->bodies[i].first].object == body)
			set_body(id->pi + id->bodies[i].first, def);
	return CAL_OK;
}

CalStatus cal_identification_predict(CalIdentification *id, const CalState *state, const double *udot,
                                     const CalInput *input, double *tau) {
	if (!id || !state || !state->q || !state->u || !udot || !tau)
		return CAL_ERR_ARGUMENT;
	if (!id->solved)
		return CAL_ERR_STAGE;
	const CalStatus status = set_equations(id, state, udot, input);
	if (status != CAL_OK)
		return status;
	for (size_t i = 0; i < (size_t)id->nu; i++) {
		tau[i] = id->rest[i];
		for (size_t k = 0; k < (size_t)id->p; k++)
			tau[i] += id->A[i * (size_t)id->p + k] * id->pi[k];
	}
	return CAL_OK;
}
