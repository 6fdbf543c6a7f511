// SPDX-License-Identifier: Apache-2.0
/*
 * turning.c — B(u) delta = d/dt of the distance between q0 and q0 + delta while both move with u, by products of differences of
 * fourth order in delta and in time.
 */
#include <math.h>
#include <string.h>

#include "linear/turning.h"

void turning_layout(const CalModel *model, Cursor *cursor, TurningScratch *scratch) {
	for (int i = 0; i < 2; i++) {
		CURSOR_ARRAY(cursor, scratch->q[i], cal_model_q_count(model));
		CURSOR_ARRAY(cursor, scratch->u[i], cal_model_u_count(model));
	}
	CURSOR_ARRAY(cursor, scratch->column, cal_model_u_count(model));
}

/* Column k. */
static void find_column(const CalModel *model, const double *q, const double *u, double step, int k,
                        TurningScratch *s) {
	static const struct { double at, weight; } points[] = {{1, 8}, {-1, -8}, {2, -1}, {-2, 1}};
	const int nu = cal_model_u_count(model);
	double fastest = 1;
	for (int i = 0; i < nu; i++)
		fastest = fmax(fastest, fabs(u[i]));
	const double dt = step / fastest, all = 144 * step * dt;
	memset(s->column, 0, (size_t)nu * sizeof *s->column);
	for (int a = 0; a < 16; a++) {
		const double t = points[a / 4].at * dt, weight = points[a / 4].weight * points[a % 4].weight;
		for (int i = 0; i < nu; i++) {
			s->u[0][i] = i == k ? points[a % 4].at * step : 0;
			s->u[1][i] = t * u[i];
		}
		cal_config_integrate(model, q, s->u[0], s->q[0]);
		cal_config_integrate(model, s->q[0], s->u[1], s->q[0]);
		cal_config_integrate(model, q, s->u[1], s->q[1]);
		cal_config_difference(model, s->q[1], s->q[0], s->u[0]);
		for (int i = 0; i < nu; i++)
			s->column[i] += weight * s->u[0][i] / all;
	}
}

bool turning_matrix(const CalModel *model, const double *q, const double *u, TurningScratch *scratch, double *B) {
	static const double step = 1e-2, round_off = 1e-10;
	const size_t nu = (size_t)cal_model_u_count(model);
	bool any = false;
	for (size_t i = 0; i < nu; i++)
		any |= u[i] != 0;
	for (size_t k = 0; k < nu && any; k++) {
		find_column(model, q, u, step, (int)k, scratch);
		for (size_t i = 0; i < nu; i++)
			B[i * nu + k] = fabs(scratch->column[i]) > round_off * fabs(u[k]) ? scratch->column[i] : 0;
	}
	return any;
}
