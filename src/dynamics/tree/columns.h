// SPDX-License-Identifier: Apache-2.0
/*
 * columns.h — solves with the factored mass matrix, four right-hand sides side by side (columns.c), compiled for several
 * widths of registers: the same bits from all of them, and those of factor_solve() for each right-hand side alone.
 */
#ifndef CALDER_DYNAMICS_TREE_COLUMNS_H
#define CALDER_DYNAMICS_TREE_COLUMNS_H

#include "model/work.h"

#if CAL_LANES == 1
/* Links from which forces go inward: distinct, in ascending order. Then the links on the ground where their paths end. */
typedef struct ColumnHeads {
	int count, root_count;
	int link[PACK], root[PACK];
} ColumnHeads;

typedef struct FactorKernels {
	/* Outward poses of a link and of all between it and the ground. */
	void (*pose_path)(const CalModel *model, const double *q, CalWork *work, int link);
	/* pose_outward() and factor_inward() of articulated.h */
	void (*pose)(const CalModel *model, const double *q, const uint8_t *held, CalWork *work);
	int (*factor)(const CalModel *model, const uint8_t *held, const double *rotor, CalWork *work);
	/* Minv[nu nu] from the factors, exactly symmetric. */
	void (*inverse)(const CalModel *model, CalWork *work, double *Minv);
	/* x[count][nu] = M^-1 b, each row one right-hand side, zero where held; x may be b. */
	void (*solve)(const CalModel *model, const uint8_t *held, CalWork *work, int count, const double *b, double *x);
	/* What the two functions below need of these links. */
	void (*read)(const CalModel *model, const uint8_t *held, CalWork *work, const int *links, int count);
	/*
	 * Inward along the paths from the heads to the ground, where they end. work->column.motion of the heads: the force that
	 * links there need; work->column.x and modal of the paths: generalized forces, which become residual forces, and zeros.
	 */
	void (*inward)(const CalModel *model, const uint8_t *held, CalWork *work, ColumnHeads *heads);
	/* Then outward over a list of links, parents first: solutions to work->column.x, accelerations to motion. */
	void (*outward)(const CalModel *model, const uint8_t *held, CalWork *work, const int *links, int count);
} FactorKernels;

const FactorKernels *factor_kernels(CpuIsa isa);

void LANED(pose_path)(const CalModel *model, const double *q, CalWork *work, int link);
void LANED(columns_inverse)(const CalModel *model, CalWork *work, double *Minv);
void LANED(columns_solve)(const CalModel *model, const uint8_t *held, CalWork *work, int count, const double *b,
                          double *x);
void LANED(columns_read)(const CalModel *model, const uint8_t *held, CalWork *work, const int *links, int count);
void LANED(columns_inward)(const CalModel *model, const uint8_t *held, CalWork *work, ColumnHeads *heads);
void LANED(columns_outward)(const CalModel *model, const uint8_t *held, CalWork *work, const int *links, int count);

/* Adds a link to the heads. Returns 0 if it is among them already. */
static inline int column_heads_add(ColumnHeads *heads, int link) {
	int at = heads->count;
	while (at > 0 && heads->link[at - 1] > link)
		--at;
	if (at > 0 && heads->link[at - 1] == link)
		return 0;
	for (int k = heads->count++; k > at; --k)
		heads->link[k] = heads->link[k - 1];
	heads->link[at] = link;
	return 1;
}
#endif

#endif
