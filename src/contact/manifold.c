// SPDX-License-Identifier: Apache-2.0
/*
 * manifold.c — collecting the candidates of a pair, sharing stiffness among neighbors, and the table of pairs.
 *
 * Weights. Let K_ij(l) = max(0, n_i.n_j)^2 max(0, 1 - |p_i - p_j|^2 / l^2)^2 and x_i = fade_i depth_i. Candidates at one
 * place are first made one: with the short length l' = patch/10
 *   share_i = x_i / sum_j K_ij(l') x_j,  mass_i = share_i x_i,
 * and then neighbors within the patch share one stiffness:
 *   weight_i = fade_i share_i (sum_j K_ij(l') mass_j) / (sum_j K_ij(patch) mass_j).
 * A point alone has the weight fade_i. A feature may hand a contact over to another, or split into two, without a jump,
 * also of third points near by: these see the same mass. Points farther apart than `patch`, or with normals at right
 * angles, do not know of each other.
 */
#include "contact/narrow.h"

void manifold_add(Manifold *m, vec3 p, vec3 n, double depth, double radius, double fade) {
	if (!(depth > 0) || !(fade > 0))
		return;
	int at = m->count;
	if (at == CAL_CONTACT_PAIR_POINTS) {
		m->dropped++;
		at = 0;
		for (int i = 1; i < m->count; i++)
			if (m->touch[i].depth < m->touch[at].depth)
				at = i;
		if (m->touch[at].depth >= depth)
			return;
	} else {
		m->count++;
	}
	m->touch[at] = (Touch){.p = p, .n = n, .depth = depth, .radius = radius, .fade = fade};
}

static double kernel(const Touch *a, const Touch *b, double length2) {
	const double c = dot(a->n, b->n);
	const vec3 d = sub(a->p, b->p);
	const double x = 1 - dot(d, d) / length2;
	return c > 0 && x > 0 ? c * c * x * x : 0;
}

/* sum_j K_ij value_j, with K_ii = 1 to the last bit. */
static double sum_neighbors(const Manifold *m, int i, double length2, const double *value) {
	double sum = value[i];
	for (int j = 0; j < m->count; j++)
		if (j != i)
			sum += kernel(&m->touch[i], &m->touch[j], length2) * value[j];
	return sum;
}

/* Sets the weights: 1 for a point alone, shares of 1 for points within `patch` whose normals are alike. */
static void manifold_blend(Manifold *m, double patch) {
	double x[CAL_CONTACT_PAIR_POINTS], share[CAL_CONTACT_PAIR_POINTS], mass[CAL_CONTACT_PAIR_POINTS];
	const double far2 = patch * patch, near2 = 0.01 * far2;
	for (int i = 0; i < m->count; i++)
		x[i] = m->touch[i].fade * m->touch[i].depth;
	for (int i = 0; i < m->count; i++) {
		share[i] = x[i] / sum_neighbors(m, i, near2, x);
		mass[i] = share[i] * x[i];
	}
	for (int i = 0; i < m->count; i++)
		m->touch[i].weight =
			m->touch[i].fade * share[i] * (sum_neighbors(m, i, near2, mass) / sum_neighbors(m, i, far2, mass));
}

/* Pairs that have no entry never touch. */
static const TouchFn pairs[CAL_SHAPE_COUNT][CAL_SHAPE_COUNT] = {
	[CAL_SHAPE_SPHERE] = {touch_sphere_sphere, touch_sphere_capsule, touch_sphere_box, touch_sphere_plane,
                          touch_sphere_mesh},
	[CAL_SHAPE_CAPSULE] = {NULL, touch_capsule_capsule, touch_capsule_box, touch_capsule_plane, touch_capsule_mesh},
	[CAL_SHAPE_BOX] = {NULL, NULL, touch_box_box, touch_box_plane, touch_box_mesh},
	[CAL_SHAPE_PLANE] = {NULL, NULL, NULL, NULL, touch_plane_mesh},
	[CAL_SHAPE_MESH] = {NULL, NULL, NULL, NULL, touch_mesh_mesh},
};

bool shapes_touch(const Shape *a, const Frame *fa, const Shape *b, const Frame *fb, Manifold *m) {
	m->count = m->dropped = 0;
	const bool swapped = a->type > b->type;
	const TouchFn touch = swapped ? pairs[b->type][a->type] : pairs[a->type][b->type];
	if (!touch)
		return false;
	if (swapped)
		touch(b, fb, a, fa, m);
	else
		touch(a, fa, b, fb, m);
	for (int i = 0; swapped && i < m->count; i++)
		m->touch[i].n = neg(m->touch[i].n);
	manifold_blend(m, fmin(a->patch, b->patch));
	return m->count > 0;
}
