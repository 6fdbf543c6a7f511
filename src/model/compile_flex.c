// SPDX-License-Identifier: Apache-2.0
/*
 * compile_flex.c — flexible bodies in the model compiler: shapes, masses and modal matrices in the block, and
 * the links that carry them (body/flex.h).
 *
 * A node moves if its description gives it shapes. Only moving nodes that carry a joint become links; others
 * keep their shape for loads and outputs.
 */
#include "body/modal.h"
#include "model/compile.h"

static const CalFlexDef *flex_of(const Compiler *c, int desc_body) { return c->desc->bodies[desc_body].flex; }

static int moves(const CalFlexNode *node) { return node->phi || node->psi || node->phi2; }

void compile_flex_count(Compiler *c, int desc_body) {
	const CalFlexDef *flex = flex_of(c, desc_body);
	if (!flex)
		return;
	const size_t m = (size_t)flex->modes;
	++c->flex_count;
	++c->link_count;
	++c->shape_count; // of the head
	c->modal_columns += flex->modes;
	c->nq += flex->modes;
	c->nu += flex->modes;
	c->mass_count += flex->node_count;
	c->flex_vectors += 2 * m;
	c->flex_numbers += 3 * m * m;
	for (int i = 0; i < flex->node_count; ++i) {
		c->flex_vectors += 2 * m + (flex->nodes[i].phi2 ? m * m : 0);
		c->shape_count += moves(&flex->nodes[i]);
	}
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

/* Copies a [3][m] array to m vectors; zeros for NULL. */
static const dvec3 *keep_vectors(Compiler *c, const double *rows, int m) {
	dvec3 *kept = c->vectors;
	c->vectors += m;
	for (int k = 0; k < m; ++k)
		kept[k] = rows ? (dvec3){rows[k], rows[m + k], rows[2 * m + k]} : (dvec3){0, 0, 0};
	return kept;
}

/* Copies a [3][m][m] array to m*m vectors, made symmetric; NULL for NULL. */
static const dvec3 *keep_second_order(Compiler *c, const double *rows, int m) {
	if (!rows)
		return NULL;
	dvec3 *kept = c->vectors;
	c->vectors += m * m;
	for (int i = 0; i < m * m; ++i) {
		const int j = i % m * m + i / m; // the mirrored entry
		kept[i] = (dvec3){0.5 * (rows[i] + rows[j]), 0.5 * (rows[m * m + i] + rows[m * m + j]),
		                  0.5 * (rows[2 * m * m + i] + rows[2 * m * m + j])};
	}
	return kept;
}

static const double *keep_numbers(Compiler *c, const double *from, int count) {
	double *kept = c->numbers;
	c->numbers += count;
	for (int i = 0; i < count; ++i)
		kept[i] = from[i];
	return kept;
}

/* Shapes and masses of the listed nodes; model indices of the nodes are known. */
static void compile_flex_shapes(Compiler *c, int desc_body, Flex *flex) {
	const CalFlexDef *def = flex_of(c, desc_body);
	flex->shape_first = c->shapes_made;
	flex->masses = c->masses + c->masses_made;
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *from = &def->nodes[i];
		const int node = c->node_of[from->node.value - 1];
		const dpose pose = c->nodes[node].in_body;
		const dvec3 *phi = keep_vectors(c, from->phi, def->modes), *psi = keep_vectors(c, from->psi, def->modes);
		const dvec3 *phi2 = keep_second_order(c, from->phi2, def->modes);
		if (moves(from)) {
			c->nodes[node].shape = c->shapes_made;
			c->shapes[c->shapes_made++] = (FlexShape){pose.r, pose.R, 1, phi, psi, phi2};
		}
		if (from->mass > 0)
			c->masses[c->masses_made++] = (FlexMass){from->mass, pose.r, phi, phi2};
	}
	flex->mass_count = (int)(c->masses + c->masses_made - flex->masses);
	flex->shape_end = c->shapes_made;
}

/* Modal mass, first moments and rotary sums: M_ee = sum m phi'phi + psi'J psi; not the masses that phi2 moves. */
static double *add_modal_mass(Compiler *c, const CalFlexDef *def, Flex *flex) {
	const int m = def->modes;
	double *M = c->numbers;
	dvec3 *s1 = c->vectors, *rotary = c->vectors + m;
	c->numbers += m * m;
	c->vectors += 2 * m;
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *node = &def->nodes[i];
		const dmat3 J = dmat_in(&node->inertia);
		flex->J.x = dadd(flex->J.x, J.x), flex->J.y = dadd(flex->J.y, J.y), flex->J.z = dadd(flex->J.z, J.z);
		for (int k = 0; k < m; ++k) {
			const dvec3 phi =
				node->phi ? (dvec3){node->phi[k], node->phi[m + k], node->phi[2 * m + k]} : (dvec3){0, 0, 0};
			const dvec3 psi =
				node->psi ? (dvec3){node->psi[k], node->psi[m + k], node->psi[2 * m + k]} : (dvec3){0, 0, 0};
			const dvec3 mphi = dscale(node->phi2 ? 0.0 : node->mass, phi), Jpsi = dmat_mul_vec(J, psi);
			s1[k] = dadd(s1[k], mphi);
			rotary[k] = dadd(rotary[k], Jpsi);
			for (int l = 0; l < m; ++l) {
				if (node->phi)
					M[k * m + l] += ddot(mphi, (dvec3){node->phi[l], node->phi[m + l], node->phi[2 * m + l]});
				if (node->psi)
					M[k * m + l] += ddot(Jpsi, (dvec3){node->psi[l], node->psi[m + l], node->psi[2 * m + l]});
			}
		}
	}
	for (int i = 0; i < m * m; ++i) // exactly symmetric
		M[i] = i / m < i % m ? M[i % m * m + i / m] : M[i];
	flex->Mee = M, flex->s1 = s1, flex->c = rotary;
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
		Mee[i] += congruence(W, NULL, m, i / m, i % m) - total[i];
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
	c->columns_made += c->flexes[f].m;
	return c->links_made - 1;
}

void compile_flex_body(Compiler *c, int index, const dpose *X) {
	Body *body = &c->bodies[index];
	const CalFlexDef *def = flex_of(c, c->order[index]);
	const int m = def->modes, f = c->flexes_made++;
	Flex *flex = &c->flexes[f];
	flex->vectors = c->vectors;
	compile_flex_shapes(c, c->order[index], flex);
	double *Mee = add_modal_mass(c, def, flex);
	flex->vector_count = (int)(c->vectors - flex->vectors);
	flex->m = m, flex->body = index, flex->q = c->q_made, flex->u = c->u_made;
	flex->K = keep_numbers(c, def->stiffness, m * m);
	double *D = c->numbers;
	flex->D = def->damping ? keep_numbers(c, def->damping, m * m) : NULL;
	if (def->frequency_bound > 0)
		apply_bound(c, c->order[index], def, Mee, def->damping ? D : NULL);
	const Node *head = &c->nodes[body->head_node];
	const FlexShape fixed = {head->in_body.r, head->in_body.R, 0, NULL, NULL, NULL};
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

static dpose moved(dpose T, dvec3 p, dmat3 E) { return dpose_mul(T, (dpose){E, p}); }

static const double ROUNDING = 1e-12; // of matrices that a generator made diagonal

/* Diagonal to round-off, relative to the diagonal; then made so exactly. */
static int make_diagonal(Compiler *c, const double *A, int m) {
	for (int i = 0; A && i < m * m; ++i) {
		const double scale_ij = sqrt(fabs(A[i / m * (m + 1)] * A[i % m * (m + 1)]));
		if (i % (m + 1) != 0 && fabs(A[i]) > ROUNDING * scale_ij)
			return 0;
	}
	double *own = A ? c->number_block + (A - c->number_block) : NULL;
	for (int i = 0; own && i < m * m; ++i)
		own[i] = i % (m + 1) == 0 ? own[i] : 0.0;
	return 1;
}

static int is_unit(const double *A, int m) {
	for (int i = 0; i < m * m; ++i) {
		if (fabs(A[i] - (i % (m + 1) == 0)) > ROUNDING)
			return 0;
	}
	return 1;
}

/*
 * The linear elimination needs modes with unit mass, diagonal stiffness and damping, first-order shapes and a head
 * that does not move. Flops, estimated for m modes and n ports: direct m^3/3 + 50 m^2 + 200 m, linear 1500 n^2 +
 * 330 m (1 + n); with one port direct was measured faster at 8 modes, linear at 16.
 */
void compile_flex_choose(Compiler *c) {
	for (int f = 0; f < c->flex_count; ++f) {
		Flex *flex = &c->flexes[f];
		const int m = flex->m;
		flex->diagonal = make_diagonal(c, flex->K, m) && make_diagonal(c, flex->D, m);
		int second_order = 0;
		for (int i = 0; i < flex->mass_count; ++i)
			second_order |= flex->masses[i].phi2 != NULL;
		const int possible = flex->diagonal && is_unit(flex->Mee, m) && !second_order && !flex->head.moves &&
		                     flex->port_count <= FLEX_MAX_PORTS;
		const double n = flex->port_count, direct = m * (m * m / 3.0 + 50.0 * m + 200.0);
		const double linear = 1500.0 * n * n + 330.0 * m * (1.0 + n);
		flex->linear = possible && (n == 0 || linear < direct);
	}
}

void compile_flex_turn(Compiler *c) {
	for (int f = 0; f < c->flex_count; ++f) {
		Flex *flex = &c->flexes[f];
		const dpose T = c->bodies[flex->body].in_link;
		for (int i = 0; i < flex->vector_count; ++i)
			flex->vectors[i] = dmat_mul_vec(T.R, flex->vectors[i]);
		for (int i = 0; i < flex->mass_count; ++i) {
			FlexMass *mass = c->masses + (flex->masses - c->masses) + i;
			mass->p = dadd(T.r, dmat_mul_vec(T.R, mass->p));
		}
		for (int i = flex->shape_first; i < flex->shape_end; ++i) {
			const dpose pose = moved(T, c->shapes[i].p, c->shapes[i].E);
			c->shapes[i].p = pose.r, c->shapes[i].E = pose.R;
		}
		flex->J = dmat_mul(T.R, dmat_mul(flex->J, dmat_transpose(T.R)));
	}
}

int compile_flex_node_link(Compiler *c, int body, int node) {
	const Body *owner = &c->bodies[c->nodes[node].body];
	Link *link = new_link(c, MOTION_NODE, owner->link, body, dpose_identity());
	link->flex = owner->flex;
	link->shape = c->nodes[node].shape;
	link->columns = c->columns_made;
	c->columns_made += c->flexes[owner->flex].m;
	Flex *flex = &c->flexes[owner->flex];
	link->port = flex->port_count;
	if (flex->port_count < FLEX_MAX_PORTS)
		flex->ports[flex->port_count] = c->links_made - 1;
	++flex->port_count;
	return c->links_made - 1;
}
