// SPDX-License-Identifier: Apache-2.0
/*
 * system_matrices.c — stiffness and damping of springs and modes [THEORY (9.3)].
 *
 * Springs of spherical and user joints act along curved coordinates: their columns are central differences of fourth order
 * of the elastic forces alone, (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h.
 */
#include <string.h>

#include "linear/differences.h"
#include "linear/system_matrices.h"
#include "model/model.h"

static void add_flexible_body(const Flex *flex, int nu, double *K, double *C) {
	for (int i = 0; i < flex->m; i++) {
		for (int j = 0; j < flex->m; j++) {
			const size_t at = (size_t)(flex->u + i) * (size_t)nu + (size_t)(flex->u + j);
			K[at] += flex->K[i * flex->m + j];
			if (C && flex->D)
				C[at] += flex->D[i * flex->m + j];
		}
	}
}

typedef struct ElasticForce {
	const CalModel *model;
	CalWork *work;
} ElasticForce;

static CalStatus elastic_force(void *user, const CalState *state, double *minus) {
	const ElasticForce *e = user;
	const CalStatus status = cal_elastic_forces(e->model, state, e->work, minus);
	for (int i = 0; i < e->model->nu; i++)
		minus[i] = -minus[i];
	return status;
}

/* Columns of K, or of C by speeds, for the speeds [first, first + count). */
static CalStatus add_curved_spring(ElasticForce *e, const CalState *state, CalState *at, double *force, int first,
                                   int count, bool speed, double *K) {
	const int nu = e->model->nu;
	CalStatus status = CAL_OK;
	for (int k = first; k < first + count && status == CAL_OK; k++) {
		const Difference d = {e->model, state, at, k, DIFFERENCE_STEP, speed};
		status = difference_column(&d, elastic_force, e, force, force + nu);
		for (int i = first; i < first + count && status == CAL_OK; i++)
			K[(size_t)i * (size_t)nu + (size_t)k] = force[i];
	}
	return status;
}

CalStatus elastic_matrices(const CalModel *model, const CalState *state, CalWork *work, CalState *at, double *force,
                           double *K, double *C) {
	const size_t nu = (size_t)model->nu;
	ElasticForce e = {model, work};
	CalStatus status = CAL_OK;
	memset(K, 0, nu * nu * sizeof *K);
	if (C)
		memset(C, 0, nu * nu * sizeof *C);
	for (int i = 0; i < model->ball_spring_count && status == CAL_OK; i++)
		status = add_curved_spring(&e, state, at, force, model->ball_springs[i].u, 3, false, K);
	for (int i = 0; i < model->user_spring_count && status == CAL_OK; i++) {
		const Link *link = &model->links[model->user_spring_link[i]];
		status = add_curved_spring(&e, state, at, force, link->u, link->nu, false, K);
	}
	for (int f = 0; f < model->flex_count && status == CAL_OK; f++) {
		const Flex *flex = &model->flexes[f];
		if (!flex->ops || !flex->ops->elastic)
			continue;
		status = add_curved_spring(&e, state, at, force, flex->u, flex->m, false, K);
		if (status == CAL_OK && C)
			status = add_curved_spring(&e, state, at, force, flex->u, flex->m, true, C);
	}
	for (int i = 0; i < model->spring_count; i++) {
		const size_t dof = (size_t)model->spring_dof[i];
		K[dof * nu + dof] += model->dofs[dof].stiffness;
	}
	for (size_t i = 0; C && model->any_damping && i < nu; i++)
		C[i * nu + i] += model->damping[i];
	for (int f = 0; f < model->flex_count; f++)
		add_flexible_body(&model->flexes[f], model->nu, K, C);
	return status;
}
