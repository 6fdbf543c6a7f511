// SPDX-License-Identifier: Apache-2.0
/*
 * linear_group.c — udot = F(q, u, f) of one group about a state [THEORY 9.1, 10].
 *
 * F is differentiated with the forces f held (cal_forward_derivatives): analytically for trees, loops included. A displacement
 * of the independent coordinate k is the column N_k of the map of the independent speeds; the displaced configuration is projected
 * on the loops, which changes it by h^2 and so leaves the derivative, and its speeds are those that follow from the same
 * independent speeds there.
 */
#include <string.h>

#include "analysis/linear_group.h"
#include "dynamics/tree/forces.h"
#include "linear/differences.h"

void linear_group_layout(LinearGroup *g, Cursor *cursor) {
	const size_t nu = (size_t)g->nu;
	double **const square[] = {&g->N, &g->V, &g->Fq, &g->Fu, &g->Minv, &g->B};
	double **const vectors[] = {&g->udot, &g->scale, &g->v, &g->way};
	if (!g->model)
		return;
	for (size_t i = 0; i < sizeof square / sizeof *square; i++)
		CURSOR_ARRAY(cursor, *square[i], nu * nu);
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		CURSOR_ARRAY(cursor, *vectors[i], nu);
	CURSOR_ARRAY(cursor, g->dof, nu);
	CURSOR_ARRAY(cursor, g->independent, nu);
	CURSOR_ARRAY(cursor, g->held, nu);
	turning_layout(g->model, cursor, &g->turning);
}

CalStatus linear_group_create(LinearGroup *g, const CalModel *model, CalState *state) {
	*g = (LinearGroup){
		.model = model, .state = state, .nu = cal_model_u_count(model), .rows = cal_model_row_count(model)};
	CalStatus status = cal_state_create(model, &g->about);
	if (status == CAL_OK)
		status = cal_work_create(model, &g->work);
	if (status == CAL_OK)
		status = cal_derivatives_create(model, &g->derivatives);
	if (status == CAL_OK)
		status = cal_projection_create(model, &g->projection);
	if (status == CAL_OK)
		cal_state_copy(model, state, &g->about);
	return status;
}

void linear_group_release(LinearGroup *g) {
	if (!g->model)
		return;
	cal_projection_destroy(g->projection);
	cal_derivatives_destroy(g->derivatives);
	cal_work_destroy(g->work);
	cal_state_destroy(&g->about);
}

void linear_group_restore(LinearGroup *g) { cal_state_copy(g->model, &g->about, g->state); }

/* ---- at the state -------------------------------------------------------------------------------- */

static CalStatus find_independent(LinearGroup *g) {
	const CalProjectionOptions options = {
		.held = g->held, .udot = g->udot, .independent = g->chosen > 0 ? g->independent : NULL};
	const CalStatus status = cal_projection_update(g->projection, &g->about, &options, g->work);
	if (status != CAL_OK)
		return status;
	memcpy(g->independent, cal_projection_independent(g->projection), (size_t)g->nu);
	for (int i = 0; i < g->nu; i++)
		if (g->independent[i])
			g->dof[g->count++] = i;
	memcpy(g->N, cal_projection_map(g->projection), (size_t)g->nu * (size_t)g->count * sizeof *g->N);
	return CAL_OK;
}

CalStatus linear_group_find(LinearGroup *g, const CalInput *input) {
	const size_t nu = (size_t)g->nu;
	const uint8_t *prescribed = forces_prescribed(g->model, input);
	for (size_t i = 0; i < nu; i++)
		g->held[i] = prescribed ? prescribed[i] : 0;
	g->count = 0;
	memset(g->V, 0, nu * nu * sizeof *g->V);
	CalStatus status =
		cal_forward_derivatives(g->model, &g->about, input, g->derivatives, g->udot, g->Fq, g->Fu, g->Minv);
	if (status == CAL_OK)
		status = cal_mass_matrix(g->model, &g->about, g->work, g->B);
	if (status == CAL_OK)
		difference_scales(g->model, g->B, g->scale);
	if (status == CAL_OK)
		status = find_independent(g);
	if (status == CAL_OK)
		g->turns = turning_matrix(g->model, g->about.q, g->about.u, &g->turning, g->B);
	return status;
}

/* ---- beside it ------------------------------------------------------------------------------------ */

/* Speeds that follow from the independent ones of the state at the displaced configuration. */
static CalStatus follow_loops(LinearGroup *g) {
	const CalProjectOptions how = {.frozen = g->held};
	const CalProjectionOptions options = {.held = g->held, .independent = g->independent};
	CalStatus status = cal_loop_project(g->model, g->state, &how, g->work, NULL);
	memcpy(g->state->u, g->about.u, (size_t)g->nu * sizeof(double));
	if (status == CAL_OK)
		status = cal_projection_update(g->projection, g->state, &options, g->work);
	for (int k = 0; k < g->count; k++)
		g->v[k] = g->about.u[g->dof[k]];
	return status == CAL_OK ? cal_projection_speeds(g->projection, g->v, g->state->u) : status;
}

CalStatus linear_group_move(LinearGroup *g, int k, double h) {
	linear_group_restore(g);
	for (int i = 0; i < g->nu; i++)
		g->way[i] = h * g->N[(size_t)i * (size_t)g->count + (size_t)k];
	cal_config_integrate(g->model, g->about.q, g->way, g->state->q);
	return g->rows > 0 ? follow_loops(g) : CAL_OK;
}

void linear_group_speed_up(LinearGroup *g, int k, double h) {
	linear_group_restore(g);
	for (int i = 0; i < g->nu; i++)
		g->state->u[i] += h * g->N[(size_t)i * (size_t)g->count + (size_t)k];
}

CalStatus linear_group_force(const LinearGroup *g, const CalInput *input, double *Q) {
	memset(Q, 0, (size_t)g->nu * sizeof *Q);
	const CalStatus status =
		input->wrench_count > 0 ? cal_external_forces(g->model, &g->about, input, g->work, Q) : CAL_OK;
	for (int i = 0; input->tau && i < g->nu; i++)
		Q[i] += input->tau[i];
	return status;
}
