// SPDX-License-Identifier: Apache-2.0
/*
 * compile_flex.c — flexible bodies in the model compiler: their numbers (flex_form.h) in the block, where masses and
 * shapes are, and the links that carry them (flexbody/flex_body.h).
 *
 * A node moves if its description gives it shapes. Only moving nodes that carry a joint become links; others
 * keep their shape for loads and outputs.
 */
#include <float.h>

#include "model/compile/compile.h"
#include "model/compile/flex_form.h"

static const CalFlexDef *flex_of(const Compiler *c, int desc_body) { return c->desc->bodies[desc_body].flex; }

CalStatus compile_flex_forms(Compiler *c) {
	c->forms = memory_alloc(&c->desc->allocator, sizeof *c->forms * (size_t)(c->body_count + 1));
	if (!c->forms)
		return CAL_ERR_MEMORY;
	for (int i = 0; i < c->body_count; ++i)
		c->forms[i] = NULL;
	for (int i = 0; i < c->body_count; ++i) {
		const DescBody *body = &c->desc->bodies[c->order[i]];
		if (!body->flex)
			continue;
		const FlexForm *kept = c->modal_inertia == CAL_MODAL_INERTIA_AUTO ? body->form : NULL;
		c->forms[i] = kept ? kept : flex_form_create(c->desc, c->order[i], c->modal_inertia, &c->desc->allocator);
		if (!c->forms[i])
			return CAL_ERR_MEMORY;
	}
	return CAL_OK;
}

void compile_flex_release(Compiler *c) {
	for (int i = 0; c->forms && i < c->body_count; ++i) {
		if (c->forms[i] != c->desc->bodies[c->order[i]].form)
			memory_free(&c->desc->allocator, (void *)(uintptr_t)c->forms[i]);
	}
	memory_free(&c->desc->allocator, c->forms);
}

void compile_flex_count(Compiler *c, int index) {
	const FlexForm *form = c->forms[index];
	if (!form)
		return;
	++c->flex_count;
	++c->link_count;
	c->shape_count += 1 + form->shape_count; // and of the head
	c->modal_columns += 6 * form->n;
	c->nq += form->m;
	c->nu += form->m;
	c->mass_count += flex_of(c, c->order[index])->node_count;
	c->flex_numbers += form->number_count;
	invariants_room(c, form);
}

int compile_flex_node_moves(const Compiler *c, CalNodeId node) {
	if (!node.value)
		return 0;
	const CalBodyId body = desc_node(c->desc, node)->body;
	const CalFlexDef *flex = body.value ? desc_body(c->desc, body)->flex : NULL;
	for (int i = 0; flex && i < flex->node_count; ++i) {
		if (flex->nodes[i].node.value == node.value)
			return flex_node_moves(&flex->nodes[i]);
	}
	return 0;
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

/* Shapes and masses of the listed nodes, whose numbers are at `at`; model indices of the nodes are known. */
static void place_shapes(Compiler *c, const CalFlexDef *def, const FlexForm *form, const double *at, Flex *flex) {
	const int m = flex->m, n = flex->n;
	flex->shape_first = c->shapes_made;
	flex->masses = c->masses + c->masses_made;
	for (int i = 0; i < def->node_count; ++i) {
		const CalFlexNode *from = &def->nodes[i];
		if (!flex_node_moves(from))
			continue;
		Node *node = &c->nodes[c->node_of[from->node.value - 1]];
		const dpose pose = node->in_body;
		node->shape = c->shapes_made;
		c->shapes[c->shapes_made++] =
			(FlexShape){pose.r, pose.R, 1, is_turned(pose.R), at, at + 3 * n, from->phi2 ? at + 6 * n : NULL};
		at += 6 * n + (from->phi2 ? 3 * m * n : 0);
	}
	keep_masses(c, def, form->invariants, 0);
	flex->summed_first = (int)(c->masses + c->masses_made - flex->masses);
	keep_masses(c, def, form->invariants, 1);
	flex->mass_count = (int)(c->masses + c->masses_made - flex->masses);
	flex->shape_end = c->shapes_made;
}

/* The numbers of a body, its own copy of them. */
static void place_numbers(Compiler *c, const FlexForm *form, const CalFlexDef *def, Flex *flex) {
	const double *at = memcpy(c->numbers, form->numbers, sizeof(double) * form->number_count);
	c->numbers += form->number_count;
	flex->Mee = at + form->Mee;
	flex->s1 = at + form->s1;
	flex->c = form->rotary ? at + form->c : NULL;
	flex->K = at + form->K;
	flex->D = form->D ? at + form->D : NULL;
	flex->geometric = form->geometric ? at + form->geometric : NULL;
	flex->diagonal = form->diagonal;
	place_shapes(c, def, form, at, flex);
}

/* ---- links ----------------------------------------------------------------------------------- */

static Link *new_link(Compiler *c, JointPrimitive motion, int parent, int body, dpose X) {
	Link *link = &c->links[c->links_made];
	*link = (Link){.parent = parent,
	               .motion = (int32_t)motion,
	               .u = c->u_made,
	               .q = c->q_made,
	               .accumulator = -1,
	               .flex_body = -1,
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
int compile_flex_own_link(Compiler *c, int body, int parent, const dpose *X, int f) {
	Link *link = new_link(c, PRIMITIVE_FLEX, parent, body, *X);
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
	flex->ops = c->desc->bodies[c->order[index]].link;
	flex->ops_data = c->desc->bodies[c->order[index]].link_data;
	place_numbers(c, c->forms[index], def, flex);
	const Node *head = &c->nodes[body->head_node];
	const FlexShape fixed = {.p = head->in_body.r, .E = head->in_body.R, .turned = is_turned(head->in_body.R)};
	flex->head = head->shape >= 0 ? c->shapes[head->shape] : fixed;
	body->flex = f;
	if (flex->head.moves || body->link < 0 || body->nlink == 0) {
		body->link = compile_flex_own_link(c, index, body->link, X, f);
		body->in_link = dpose_identity();
	} else {
		body->in_link = dpose_mul(*X, dpose_inverse(head->in_body));
	}
	flex->link = body->link;
	c->links[body->link].flex_body = f;
	c->q_made += m;
	c->u_made += m;
}

/* ---- how it is evaluated ----------------------------------------------------------------------- */

/* Of a modal mass that is diagonal to round-off. */
static void clear_off_diagonal(Compiler *c, const double *A, int m, int n) {
	double *own = c->number_block + (A - c->number_block);
	for (int i = 0; i < m * m; ++i)
		own[i / m * n + i % m] = i % (m + 1) == 0 ? own[i / m * n + i % m] : 0.0;
}

/*
 * The linear elimination needs modes with diagonal mass, stiffness and damping, first-order shapes and a head that does
 * not move. Flops, estimated for m modes and k ports: direct m^3/3 + 50 m^2 + 200 m, linear 800 k^2 + 290 m (1 + k);
 * the crossing with one port, 9 modes, is as measured (8: direct faster by 6 %, 10: linear by 9 %).
 */
static void choose_elimination(Compiler *c, const FlexForm *form, Flex *flex) {
	const int m = flex->m;
	int second_order = 0;
	for (int i = 0; i < flex->mass_count; ++i)
		second_order |= flex->masses[i].phi2 != NULL;
	const int possible = !flex->ops && flex->diagonal && !second_order && !flex->head.moves &&
	                     flex->port_count <= FLEX_MAX_PORTS && form->mass_diagonal;
	if (possible)
		clear_off_diagonal(c, flex->Mee, m, flex->n);
	const double k = flex->port_count, direct = m * (m * m / 3.0 + 50.0 * m + 200.0);
	const double linear = 800.0 * k * k + 290.0 * m * (1.0 + k);
	flex->by_ports = possible && (k == 0 || linear < direct);
}

/*
 * One joint on the body, its node the next link, nothing else on either and no inertia on the node: what the joint
 * carries is then all that arrives. What is welded to the node has no link, and may be without mass.
 */
static int can_fuse(const Compiler *c, const Flex *flex) {
	const Link *link = &c->links[flex->link];
	const DInertia *on_node = &link[1].inertia;
	return flex->m == PACK && !flex->ops && !flex->by_ports && flex->summed_first == flex->mass_count &&
	       !flex->geometric && link->motion != PRIMITIVE_FLEX && flex->port_count == 1 &&
	       flex->ports[0] == flex->link + 1 && link[0].accumulator < 0 && link[1].accumulator < 0 && on_node->m == 0 &&
	       on_node->zz == 0 && on_node->ha == 0 && on_node->hb == 0 && flex->link + 2 < c->link_count &&
	       link[2].parent == flex->link + 1;
}

/* R to the nearest turn by right angles, if it is one to round-off. Returns nonzero then. */
static int snap_to_right_angles(dmat3 *R) {
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

/*
 * The matrices of W see points from the origin of the link: W r = W (r - o) + W o. Then both in its axes, if R turns
 * them.
 */
static void place_geometric(Compiler *c, const Flex *flex, dvec3 o, dmat3 R) {
	const int n = flex->n;
	const double at[3] = {o.x, o.y, o.z};
	const double T[3][3] = {{R.x.x, R.y.x, R.z.x}, {R.x.y, R.y.y, R.z.y}, {R.x.z, R.y.z, R.z.z}};
	double *row = flex->geometric ? c->number_block + (flex->geometric - c->number_block) : NULL;
	for (int i = 0; row && i < flex->m * n; ++i) {
		double *to = row + i / n * CAL_FLEX_GEOMETRIC * n + i % n, a[3] = {0}, W[9] = {0};
		for (int k = 0; k < 27; ++k) // a <- R a, W <- R (W + a o') R'
			a[k / 9] += k % 9 < 3 ? T[k / 9][k % 3] * to[k % 3 * n] : 0.0;
		for (int k = 0; k < 81; ++k) {
			const int p = k % 9 / 3, q = k % 3;
			W[k / 9] += T[k / 27][p] * (to[(3 + 3 * p + q) * n] + to[p * n] * at[q]) * T[k / 9 % 3][q];
		}
		for (int k = 0; k < 3; ++k)
			to[k * n] = a[k];
		for (int k = 0; k < 9; ++k)
			to[(3 + k) * n] = W[k];
	}
}

void compile_flex_place(Compiler *c) {
	for (int f = 0; f < c->flex_count; ++f) {
		Flex *flex = &c->flexes[f];
		if (!c->forms[flex->body]) // a mechanism has a link of its own
			continue;
		const dpose T = c->bodies[flex->body].in_link;
		const dvec3 origin = dmat_tmul_vec(T.R, T.r); // of B, in its own axes
		for (int i = 0; i < flex->mass_count; ++i) {
			FlexMass *mass = c->masses + (flex->masses - c->masses) + i;
			mass->p = dadd(origin, mass->p);
		}
		for (int i = flex->shape_first; i < flex->shape_end; ++i)
			c->shapes[i].p = dadd(origin, c->shapes[i].p);
		flex->origin = origin;
		flex->R = T.R;
		flex->turned = is_turned(T.R);
		flex->right_angles = dmat_identity();
		const int snapped = flex->turned && !flex->ops && snap_to_right_angles(&flex->R);
		place_geometric(c, flex, origin, snapped ? flex->R : dmat_identity());
		if (snapped)
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
	const dmat3 Sigma = {
		{2 * in->ha + in->zz, in->d, in->e}, {in->d, 2 * in->hb + in->zz, in->f}, {in->e, in->f, in->zz}};
	const dmat3 T = dmat_mul(dmat_transpose(R), dmat_mul(Sigma, R));
	sum->m += in->m;
	sum->mc = dadd(sum->mc, dmat_tmul_vec(R, in->mc));
	sum->xx += T.x.x, sum->yy += T.y.y, sum->zz += T.z.z;
	sum->xy += T.x.y, sum->xz += T.x.z, sum->yz += T.y.z;
}

void compile_flex_finish(Compiler *c) {
	for (int f = 0; f < c->flex_count; ++f) {
		Flex *flex = &c->flexes[f];
		const CalFlexDef *def = flex_of(c, c->order[flex->body]);
		const FlexForm *form = c->forms[flex->body];
		if (!form)
			continue;
		for (int i = 0; i < flex->summed_first; ++i)
			rigid_add_mass(&flex->own, flex->masses[i].m, flex->masses[i].p);
		for (int i = 0; i < def->node_count; ++i)
			rigid_add_rotary(&flex->own, &def->nodes[i].inertia, flex->right_angles);
		flex->all = flex->own;
		rigid_add_link(&flex->all, &c->links[flex->link].inertia, flex->R);
		if (form->invariants)
			invariants_fill(c, form, flex);
		choose_elimination(c, form, flex);
		flex->fused = can_fuse(c, flex);
	}
}

int compile_flex_node_link(Compiler *c, int body, int node) {
	return compile_flex_add_node_link(c, c->bodies[c->nodes[node].body].flex, c->nodes[node].shape, body);
}

int compile_flex_add_node_link(Compiler *c, int f, int shape, int body) {
	Flex *flex = &c->flexes[f];
	Link *link = new_link(c, PRIMITIVE_NODE, flex->link, body, dpose_identity());
	link->flex = f;
	link->shape = shape;
	link->columns = c->columns_made;
	c->columns_made += 6 * flex->n;
	link->port = flex->port_count;
	if (flex->port_count < FLEX_MAX_PORTS)
		flex->ports[flex->port_count] = c->links_made - 1;
	++flex->port_count;
	return c->links_made - 1;
}
