// SPDX-License-Identifier: Apache-2.0
/*
 * compile_flex.c — flexible bodies in the model compiler: shapes, masses and modal matrices in the block, and
 * the links that carry them (body/flex.h).
 *
 * A node moves if its description gives it shapes. Only moving nodes that carry a joint become links; others
 * keep their shape for loads and outputs.
 */
#include <float.h>

#include "body/modal.h"
#include "model/compile.h"

static const CalFlexDef *flex_of(const Compiler *c, int desc_body) { return c->desc->bodies[desc_body].flex; }

static int moves(const CalFlexNode *node) { return node->phi || node->psi || node->phi2; }

void compile_flex_count(Compiler *c, int desc_body) {
	const CalFlexDef *flex = flex_of(c, desc_body);
	if (!flex)
		return;
	const size_t m = (size_t)flex->modes, n = (size_t)row_length(flex->modes);
	++c->flex_count;
	++c->link_count;
	++c->shape_count; // of the head
	c->modal_columns += 6 * (int)n;
	c->nq += flex->modes;
	c->nu += flex->modes;
	c->mass_count += flex->node_count;
	c->flex_numbers += 2 * m * m + m * n + 6 * n; // K, D, M_ee, s1, c
	for (int i = 0; i < flex->node_count; ++i) {
		c->flex_numbers += 6 * n + (flex->nodes[i].phi2 ? 3 * m * n : 0);
		c->shape_count += moves(&flex->nodes[i]);
	}
	invariants_count(c, flex);
}

int compile_flex_node_moves(const Compiler *c, CalNodeId node) {
	if (!node.value)
		return 0;
	const CalBodyId body = desc_node(c->desc, node)->body;
	const CalFlexDef *flex = body.value ? desc_body(c->desc, body)->flex : NULL;
	for (int i = 0; flex && i < flex->node_count; ++i) {
		if (flex->nodes[i].node.value == node.value)
			return moves(&flex->nodes[i]);
	}
	return 0;
}

static double *take_numbers(Compiler *c, int count) {
	double *taken = c->numbers;
	c->numbers += count;
	return taken;
}

/* Copies a [3][m] array to three rows; zeros for NULL. */
static const double *keep_rows(Compiler *c, const double *from, int m) {
	const int n = row_length(m);
	double *rows = take_numbers(c, 3 * n);
	for (int k = 0; from && k < 3 * m; ++k)
		rows[k / m * n + k % m] = from[k];
	return rows;
}

/* Copies a [3][m][m] array to m times three rows, made symmetric; NULL for NULL. */
static const double *keep_second_order(Compiler *c, const double *from, int m) {
	if (!from)
		return NULL;
	const int n = row_length(m);
	double *rows = take_numbers(c, m * 3 * n);
	for (int i = 0; i < 3 * m * m; ++i) {
		const int axis = i / (m * m), k = i / m % m, l = i % m;
		rows[(3 * k + axis) * n + l] = 0.5 * (from[i] + from[(axis * m + l) * m + k]);
	}
	return rows;
}

static const double *keep_numbers(Compiler *c, const double *from, int count) {
	double *kept = take_numbers(c, count);
	for (int i = 0; i < count; ++i)
		kept[i] = from[i];
	return kept;
}

static int is_turned(dmat3 R) {
	const dmat3 one = dmat_identity();
	return R.x.x != one.x.x || R.y.y != one.y.y || R.z.z != one.z.z || R.x.y != 0 || R.x.z != 0 || R.y.x != 0 ||
	       R.y.z != 0 || R.z.x != 0 || R.z.y != 0;
}

/* Such masses enter by sums over them; the others by the invariants, or not at all if they do not move. */
static int is_summed(const CalFlexNode *node, int invariants) { return node->phi2 || (node->phi && !invariants); }

/* Masses of the listed nodes that are summed, or those that are not. */
static void keep_masses(Compiler *c, const CalFlexDef *def, int invariants, int summed) {
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *from = &def->nodes[i];
		const Node *node = &c->nodes[c->node_of[from->node.value - 1]];
		if (!(from->mass > 0) || is_summed(from, invariants) != summed)
			continue;
		const FlexShape none = {0}, *shape = node->shape >= 0 ? &c->shapes[node->shape] : &none;
		c->masses[c->masses_made++] = (FlexMass){from->mass, node->in_body.r, shape->phi, shape->phi2};
	}
}

/* Shapes and masses of the listed nodes; model indices of the nodes are known. */
static void compile_flex_shapes(Compiler *c, const CalFlexDef *def, Flex *flex) {
	const int invariants = invariants_pay(c, def);
	flex->shape_first = c->shapes_made;
	flex->masses = c->masses + c->masses_made;
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *from = &def->nodes[i];
		if (!moves(from))
			continue;
		Node *node = &c->nodes[c->node_of[from->node.value - 1]];
		const dpose pose = node->in_body;
		const double *phi = keep_rows(c, from->phi, def->modes), *psi = keep_rows(c, from->psi, def->modes);
		const double *phi2 = keep_second_order(c, from->phi2, def->modes);
		node->shape = c->shapes_made;
		c->shapes[c->shapes_made++] = (FlexShape){pose.r, pose.R, 1, is_turned(pose.R), phi, psi, phi2};
	}
	keep_masses(c, def, invariants, 0);
	flex->summed_first = (int)(c->masses + c->masses_made - flex->masses);
	keep_masses(c, def, invariants, 1);
	flex->mass_count = (int)(c->masses + c->masses_made - flex->masses);
	flex->shape_end = c->shapes_made;
}

static dvec3 row_vector(const double *rows, int m, int k) {
	return rows ? (dvec3){rows[k], rows[m + k], rows[2 * m + k]} : (dvec3){0, 0, 0};
}

static void add_to_rows(double *rows, int n, int k, dvec3 v) {
	rows[k] += v.x;
	rows[n + k] += v.y;
	rows[2 * n + k] += v.z;
}

/* Modal mass, s1 and c of all nodes; masses that phi2 moves are left to the evaluation. Returns M_ee. */
static double *add_modal_mass(Compiler *c, const CalFlexDef *def, Flex *flex) {
	const int m = def->modes, n = flex->n;
	double *M = take_numbers(c, m * n), *s1 = take_numbers(c, 3 * n), *rotary = take_numbers(c, 3 * n);
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *node = &def->nodes[i];
		const dmat3 J = dmat_in(&node->inertia);
		for (int k = 0; k < m; ++k) {
			const dvec3 mphi = dscale(node->phi2 ? 0.0 : node->mass, row_vector(node->phi, m, k));
			const dvec3 Jpsi = dmat_mul_vec(J, row_vector(node->psi, m, k));
			add_to_rows(s1, n, k, mphi);
			add_to_rows(rotary, n, k, Jpsi);
			for (int l = 0; l < m; ++l)
				M[k * n + l] += ddot(mphi, row_vector(node->phi, m, l)) + ddot(Jpsi, row_vector(node->psi, m, l));
		}
	}
	for (int k = 0; k < m; ++k) { // exactly symmetric
		for (int l = 0; l < k; ++l)
			M[l * n + k] = M[k * n + l];
	}
	flex->Mee = M, flex->s1 = s1;
	for (int k = 0; k < 3 * n; ++k)
		flex->c = rotary[k] != 0 ? rotary : flex->c;
	return M;
}

/* ---- frequency bound ------------------------------------------------------------------------ */

size_t compile_flex_scratch(const Compiler *c) {
	size_t most = 0;
	for (int i = 0; i < c->body_count; ++i) {
		const CalFlexDef *flex = flex_of(c, c->order[i]);
		if (!flex || flex->frequency_bound <= 0)
			continue;
		const size_t m = (size_t)flex->modes, nodes = (size_t)flex->node_count;
		const size_t size = modal_scratch_size(flex->modes) + 4 * m * m + m + 3 * nodes;
		if (size > most)
			most = size;
	}
	return most;
}

/* A = A^-1 by Gauss and Jordan with row pivots; A is well conditioned where it is used. */
static void invert(double *A, double *inverse, int m) {
	for (int i = 0; i < m * m; ++i)
		inverse[i] = i % (m + 1) == 0;
	for (int k = 0; k < m; ++k) {
		int pivot = k;
		for (int i = k + 1; i < m; ++i) {
			if (fabs(A[i * m + k]) > fabs(A[pivot * m + k]))
				pivot = i;
		}
		for (int j = 0; j < m; ++j) {
			const double a = A[k * m + j], b = inverse[k * m + j];
			A[k * m + j] = A[pivot * m + j], inverse[k * m + j] = inverse[pivot * m + j];
			A[pivot * m + j] = a, inverse[pivot * m + j] = b;
		}
		const double scale_row = 1.0 / A[k * m + k];
		for (int j = 0; j < m; ++j)
			A[k * m + j] *= scale_row, inverse[k * m + j] *= scale_row;
		for (int i = 0; i < m; ++i) {
			const double f = A[i * m + k];
			for (int j = 0; i != k && j < m; ++j) {
				A[i * m + j] -= f * A[k * m + j];
				inverse[i * m + j] -= f * inverse[k * m + j];
			}
		}
	}
}

/* sum_ab W_ai X_ab W_bj, or W'W for X NULL. */
static double congruence(const double *W, const double *X, int m, int i, int j) {
	double sum = 0;
	for (int a = 0; a < m; ++a) {
		double Xw = X ? 0 : W[a * m + j];
		for (int b = 0; X && b < m; ++b)
			Xw += X[a * m + b] * W[b * m + j];
		sum += W[a * m + i] * Xw;
	}
	return sum;
}

/*
 * The bound gives canonical coordinates eta = C xi in which the modal mass, with what it added, is 1. Back in
 * the user's: M_ee + added = W'W and D = W'D_c W with W = C^-1.
 */
static void apply_bound(Compiler *c, int desc_body, const CalFlexDef *def, double *Mee, double *D) {
	const int m = def->modes;
	double *C = c->modal, *W = C + m * m, *Dc = W + m * m, *total = Dc + m * m, *w2 = total + m * m;
	CalVec3 *position = (CalVec3 *)(void *)(w2 + m);
	for (int i = 0; i < def->node_count; ++i)
		position[i] = desc_node(c->desc, def->nodes[i].node)->def.placement.position;
	const ModalBody body = {&c->desc->bodies[desc_body].def, def, position};
	ModalForm form = {.C = C, .w2 = w2, .D = Dc};
	if (modal_canonicalize(&body, &form, w2 + m + 3 * def->node_count) != CAL_OK || form.bounded == 0)
		return; // the check of the description has reported what is wrong
	modal_mass(&body, NULL, NULL, total);
	invert(C, W, m);
	for (int i = 0; i < m * m; ++i) {
		Mee[i / m * row_length(m) + i % m] += congruence(W, NULL, m, i / m, i % m) - total[i];
		if (D)
			D[i] = congruence(W, Dc, m, i / m, i % m);
	}
}

/* ---- links ----------------------------------------------------------------------------------- */

static Link *new_link(Compiler *c, Motion motion, int parent, int body, dpose X) {
	Link *link = &c->links[c->links_made];
	*link = (Link){.parent = parent,
	               .motion = (int32_t)motion,
	               .u = c->u_made,
	               .q = c->q_made,
	               .slot = -1,
	               .carries = -1,
	               .trig = -1,
	               .body = body,
	               .E = X.R,
	               .p = X.r};
	link->run = parent >= 0 && parent == c->links_made - 1 ? c->links[parent].run : c->links_made;
	++c->links_made;
	return link;
}

/*
 * A head that moves with the modes needs a link of its own for B. Where it does not, B is fixed to the link that
 * the joint ends with, and that link carries the body like any other.
 */
static int own_link(Compiler *c, int index, int parent, const dpose *X, int f) {
	Link *link = new_link(c, MOTION_FLEX, parent, index, *X);
	link->flex = f;
	link->shape = c->shapes_made;
	c->shapes[c->shapes_made++] = c->flexes[f].head;
	link->columns = c->columns_made;
	c->columns_made += 6 * c->flexes[f].n;
	return c->links_made - 1;
}

void compile_flex_body(Compiler *c, int index, const dpose *X) {
	Body *body = &c->bodies[index];
	const CalFlexDef *def = flex_of(c, c->order[index]);
	const int m = def->modes, f = c->flexes_made++;
	Flex *flex = &c->flexes[f];
	flex->m = m, flex->n = row_length(m), flex->body = index, flex->q = c->q_made, flex->u = c->u_made;
	compile_flex_shapes(c, def, flex);
	double *Mee = add_modal_mass(c, def, flex);
	flex->K = keep_numbers(c, def->stiffness, m * m);
	double *D = c->numbers;
	flex->D = def->damping ? keep_numbers(c, def->damping, m * m) : NULL;
	if (def->frequency_bound > 0)
		apply_bound(c, c->order[index], def, Mee, def->damping ? D : NULL);
	const Node *head = &c->nodes[body->head_node];
	const FlexShape fixed = {.p = head->in_body.r, .E = head->in_body.R, .turned = is_turned(head->in_body.R)};
	flex->head = head->shape >= 0 ? c->shapes[head->shape] : fixed;
	body->flex = f;
	if (flex->head.moves || body->link < 0 || body->nlink == 0) {
		body->link = own_link(c, index, body->link, X, f);
		body->in_link = dpose_identity();
	} else {
		body->in_link = dpose_mul(*X, dpose_inverse(head->in_body));
	}
	flex->link = body->link;
	c->links[body->link].carries = f;
	c->q_made += m;
	c->u_made += m;
}

/* ---- how it is evaluated ----------------------------------------------------------------------- */

static const double ROUNDING = 1e-12; // of matrices that a generator made diagonal

/* Diagonal to round-off, relative to the diagonal; then made so exactly. n: length of a row. */
static int make_diagonal(Compiler *c, const double *A, int m, int n) {
	for (int i = 0; A && i < m * m; ++i) {
		const int k = i / m, l = i % m;
		if (k != l && fabs(A[k * n + l]) > ROUNDING * sqrt(fabs(A[k * (n + 1)] * A[l * (n + 1)])))
			return 0;
	}
	double *own = A ? c->number_block + (A - c->number_block) : NULL;
	for (int i = 0; own && i < m * m; ++i)
		own[i / m * n + i % m] = i % (m + 1) == 0 ? own[i / m * n + i % m] : 0.0;
	return 1;
}

/*
 * The linear elimination needs modes with diagonal mass, stiffness and damping, first-order shapes and a head that does
 * not move. Flops, estimated for m modes and k ports: direct m^3/3 + 50 m^2 + 200 m, linear 800 k^2 + 290 m (1 + k);
 * the crossing with one port, 9 modes, is as measured (8: direct faster by 6 %, 10: linear by 9 %).
 */
static void choose_elimination(Compiler *c, Flex *flex) {
	const int m = flex->m;
	flex->diagonal = make_diagonal(c, flex->K, m, m) && make_diagonal(c, flex->D, m, m);
	int second_order = 0;
	for (int i = 0; i < flex->mass_count; ++i)
		second_order |= flex->masses[i].phi2 != NULL;
	const int possible = flex->diagonal && !second_order && !flex->head.moves && flex->port_count <= FLEX_MAX_PORTS &&
	                     make_diagonal(c, flex->Mee, m, flex->n);
	const double k = flex->port_count, direct = m * (m * m / 3.0 + 50.0 * m + 200.0);
	const double linear = 800.0 * k * k + 290.0 * m * (1.0 + k);
	flex->linear = possible && (k == 0 || linear < direct);
}

/*
 * One joint on the body, its node the next link, nothing else on either and no inertia on the node: what the joint
 * carries is then all that arrives.
 */
static int is_chained(const Compiler *c, const Flex *flex) {
	const Link *link = &c->links[flex->link];
	const DInertia *on_node = &link[1].inertia;
	return flex->m == PACK && !flex->linear && flex->summed_first == flex->mass_count && link->motion != MOTION_FLEX &&
	       flex->port_count == 1 && flex->ports[0] == flex->link + 1 && link[0].slot < 0 && link[1].slot < 0 &&
	       on_node->m == 0 && on_node->zz == 0 && on_node->ha == 0 && on_node->hb == 0;
}

/* R to the nearest turn by right angles, if it is one to round-off. Returns nonzero then. */
static int snap(dmat3 *R) {
	const double from[9] = {R->x.x, R->x.y, R->x.z, R->y.x, R->y.y, R->y.z, R->z.x, R->z.y, R->z.z};
	double to[9];
	for (int i = 0; i < 9; ++i) {
		to[i] = round(from[i]);
		if (fabs(from[i] - to[i]) > 8 * DBL_EPSILON)
			return 0;
	}
	*R = (dmat3){{to[0], to[1], to[2]}, {to[3], to[4], to[5]}, {to[6], to[7], to[8]}};
	return 1;
}

static void turn_rows(Compiler *c, const double *rows, int n, dmat3 R) {
	double *own = rows ? c->number_block + (rows - c->number_block) : NULL;
	for (int k = 0; own && k < n; ++k) {
		const dvec3 v = dmat_mul_vec(R, (dvec3){own[k], own[n + k], own[2 * n + k]});
		own[k] = v.x, own[n + k] = v.y, own[2 * n + k] = v.z;
	}
}

/*
 * Shapes in the axes of the link, where these are the body's own but for order and sign: their zeros stay zeros, and
 * the evaluation need not turn anything.
 */
static void turn_shapes(Compiler *c, Flex *flex, dmat3 R) {
	const int m = flex->m, n = flex->n;
	for (int i = flex->shape_first; i < flex->shape_end; ++i) {
		FlexShape *shape = &c->shapes[i];
		turn_rows(c, shape->phi, n, R);
		turn_rows(c, shape->psi, n, R);
		for (int k = 0; shape->phi2 && k < m; ++k)
			turn_rows(c, shape->phi2 + 3 * k * n, n, R);
		// exp([R theta]x) R E = R exp([theta]x) E
		shape->p = dmat_mul_vec(R, shape->p), shape->E = dmat_mul(R, shape->E);
		shape->turned = is_turned(shape->E);
	}
	for (int i = 0; i < flex->mass_count; ++i) {
		FlexMass *mass = c->masses + (flex->masses - c->masses) + i;
		mass->p = dmat_mul_vec(R, mass->p);
	}
	turn_rows(c, flex->s1, n, R);
	turn_rows(c, flex->c, n, R);
	flex->right_angles = R;
	flex->R = dmat_identity();
	flex->turned = 0;
}

void compile_flex_place(Compiler *c) {
	for (int f = 0; f < c->flex_count; ++f) {
		Flex *flex = &c->flexes[f];
		const dpose T = c->bodies[flex->body].in_link;
		const dvec3 origin = dmat_tmul_vec(T.R, T.r); // of B, in its own axes
		for (int i = 0; i < flex->mass_count; ++i) {
			FlexMass *mass = c->masses + (flex->masses - c->masses) + i;
			mass->p = dadd(origin, mass->p);
		}
		for (int i = flex->shape_first; i < flex->shape_end; ++i)
			c->shapes[i].p = dadd(origin, c->shapes[i].p);
		flex->R = T.R;
		flex->turned = is_turned(T.R);
		flex->right_angles = dmat_identity();
		if (flex->turned && snap(&flex->R))
			turn_shapes(c, flex, flex->R);
	}
}

static void rigid_add_mass(FlexRigid *sum, double m, dvec3 p) {
	sum->m += m;
	sum->mc = dadd(sum->mc, dscale(m, p));
	sum->xx += m * p.x * p.x, sum->yy += m * p.y * p.y, sum->zz += m * p.z * p.z;
	sum->xy += m * p.x * p.y, sum->xz += m * p.x * p.z, sum->yz += m * p.y * p.z;
}

/* Rotary inertias, as second moments: tr J/2 - J. */
static void rigid_add_rotary(FlexRigid *sum, const CalMat3 *inertia, dmat3 R) {
	const dmat3 J = dmat_mul(R, dmat_mul(dmat_in(inertia), dmat_transpose(R)));
	const double half = 0.5 * (J.x.x + J.y.y + J.z.z);
	sum->xx += half - J.x.x, sum->yy += half - J.y.y, sum->zz += half - J.z.z;
	sum->xy -= J.x.y, sum->xz -= J.x.z, sum->yz -= J.y.z;
}

/* What else the link carries, in the axes of B. */
static void rigid_add_link(FlexRigid *sum, const DInertia *in, dmat3 R) {
	const dmat3 S = {{2 * in->ha + in->zz, in->d, in->e}, {in->d, 2 * in->hb + in->zz, in->f}, {in->e, in->f, in->zz}};
	const dmat3 T = dmat_mul(dmat_transpose(R), dmat_mul(S, R));
	sum->m += in->m;
	sum->mc = dadd(sum->mc, dmat_tmul_vec(R, in->mc));
	sum->xx += T.x.x, sum->yy += T.y.y, sum->zz += T.z.z;
	sum->xy += T.x.y, sum->xz += T.x.z, sum->yz += T.y.z;
}

void compile_flex_finish(Compiler *c) {
	for (int f = 0; f < c->flex_count; ++f) {
		Flex *flex = &c->flexes[f];
		const CalFlexDef *def = flex_of(c, c->order[flex->body]);
		for (int i = 0; i < flex->summed_first; ++i)
			rigid_add_mass(&flex->own, flex->masses[i].m, flex->masses[i].p);
		for (int i = 0; i < def->node_count; ++i)
			rigid_add_rotary(&flex->own, &def->nodes[i].inertia, flex->right_angles);
		flex->all = flex->own;
		rigid_add_link(&flex->all, &c->links[flex->link].inertia, flex->R);
		if (invariants_pay(c, def))
			invariants_fill(c, def, flex);
		choose_elimination(c, flex);
		flex->chained = is_chained(c, flex);
	}
}

int compile_flex_node_link(Compiler *c, int body, int node) {
	const Body *owner = &c->bodies[c->nodes[node].body];
	Link *link = new_link(c, MOTION_NODE, owner->link, body, dpose_identity());
	link->flex = owner->flex;
	link->shape = c->nodes[node].shape;
	link->columns = c->columns_made;
	c->columns_made += 6 * c->flexes[owner->flex].n;
	Flex *flex = &c->flexes[owner->flex];
	link->port = flex->port_count;
	if (flex->port_count < FLEX_MAX_PORTS)
		flex->ports[flex->port_count] = c->links_made - 1;
	++flex->port_count;
	return c->links_made - 1;
}
