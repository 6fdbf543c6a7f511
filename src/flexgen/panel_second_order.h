// SPDX-License-Identifier: Apache-2.0
/*
 * panel_second_order.h — second-order shapes of a panel: how its points move in the plane when it bends.
 */
#ifndef CALDER_FLEXGEN_PANEL_SECOND_ORDER_H
#define CALDER_FLEXGEN_PANEL_SECOND_ORDER_H

#include "flexgen/dense_modes.h"
#include "flexgen/flex_builder.h"
#include "flexgen/panel_fem.h"

/* Index of a pair of modes k >= l, and the number of pairs. */
static inline int panel_pair(int k, int l) { return k >= l ? k * (k + 1) / 2 + l : l * (l + 1) / 2 + k; }

typedef struct PanelSecondOrder {
	int modes, n;
	double *u; // [pairs][n] displacement of the nodes per product of two modal coordinates (half of it if they differ)
} PanelSecondOrder;

/** role[n]: HELD and FRAME stay at rest. CAL_SINGULAR: *bad_dof has no stiffness in the plane. */
CalStatus panel_second_order_create(const CalPanelDef *def, const PanelFem *fem, const DenseModes *modes,
                                    const unsigned char *role, PanelSecondOrder *out, int *bad_dof);
void panel_second_order_free(PanelSecondOrder *second); // accepts {0}

/** phi2 of a grid node. */
void panel_second_order_node(const PanelSecondOrder *second, int node, FlexBuilderNode *out);
/** Geometric stiffness of all particles (CalFlexDef.geometric). */
void panel_second_order_mass(const CalPanelDef *def, const PanelSecondOrder *second, double *geometric);

#endif
