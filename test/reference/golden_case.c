// SPDX-License-Identifier: Apache-2.0
/*
 * golden_case.c — bodies, nodes, constraints, springs and inputs of a golden case as a RefModel.
 *
 * The body frame itself, which the schema calls "head", becomes a node where a constraint, a spring or a wrench
 * names it. Masses on the nodes of a rigid body are added to its rigid part: the reference lumps only those of
 * flexible bodies.
 */
#include "reference/golden_case.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bad(const TreeNode *node, const char *what) {
	fprintf(stderr, "golden case: line %d: %s\n", node ? node->line : 0, what);
	exit(2);
}

static void *array(int count, size_t size) {
	void *p = calloc((size_t)count + 1, size);
	if (!p)
		bad(NULL, "out of memory");
	return p;
}

static void collect(const TreeNode *node, double *x, int n, int *filled) {
	if (node->kind == TREE_SCALAR) {
		const char *end = *filled < n ? number_parse(node->text, &x[*filled]) : NULL;
		if (!end || *end)
			bad(node, "not a number, or too many");
		++*filled;
	}
	for (int i = 0; node->kind == TREE_LIST && i < node->count; i++)
		collect(node->items[i], x, n, filled);
}

void ref_case_numbers(const TreeNode *node, double *x, int n) {
	int filled = 0;
	if (!node)
		bad(node, "numbers are missing");
	collect(node, x, n, &filled);
	if (filled != n)
		bad(node, "too few numbers");
}

double ref_case_number(const TreeNode *node, double absent) {
	double x = absent;
	if (node)
		ref_case_numbers(node, &x, 1);
	return x;
}

static int count_of(const TreeNode *list) { return list && list->kind != TREE_SCALAR ? list->count : 0; }

static const char *text_of(const TreeNode *node, const char *absent) {
	if (!node || tree_is_null(node))
		return absent;
	if (node->kind != TREE_SCALAR)
		bad(node, "not a text");
	return node->text;
}

static CalVec3 vec3_of(const TreeNode *node) {
	double x[3] = {0, 0, 0};
	if (node)
		ref_case_numbers(node, x, 3);
	return (CalVec3){x[0], x[1], x[2]};
}

static CalMat3 mat3_of(const TreeNode *node) {
	CalMat3 a = {{{0}}};
	if (node)
		ref_case_numbers(node, &a.m[0][0], 9);
	return a;
}

static CalPlacement placement_of(const TreeNode *node) {
	double o[4] = {1, 0, 0, 0};
	if (tree_get(node, "quat"))
		ref_case_numbers(tree_get(node, "quat"), o, 4);
	return (CalPlacement){vec3_of(tree_get(node, "r")), {o[0], o[1], o[2], o[3]}};
}

static double *shape_of(const TreeNode *node, int n) {
	double *x = NULL;
	if (node && n > 0) {
		x = array(n, sizeof *x);
		ref_case_numbers(node, x, n);
	}
	return x;
}

static void copy_name(char name[32], const char *text) {
	if (strlen(text) > 31)
		bad(NULL, "a name is too long");
	strcpy(name, text);
}

/* ---- bodies and nodes ----------------------------------------------------------------------- */

static int find_body(const RefModel *m, const TreeNode *at, const char *name) {
	for (int i = 0; name && i < m->body_count; i++)
		if (strcmp(m->bodies[i].name, name) == 0)
			return i;
	bad(at, "unknown body");
	return -1;
}

/* The node of a body by its name; "head" is made when it is first asked for. */
static int find_node(RefModel *m, const TreeNode *at, int body, const char *name) {
	for (int i = 0; i < m->node_count; i++)
		if (m->nodes[i].body == body && strcmp(m->nodes[i].name, name) == 0)
			return i;
	if (strcmp(name, "head") != 0)
		bad(at, "unknown node");
	m->nodes[m->node_count] = (RefNode){.body = body};
	copy_name(m->nodes[m->node_count].name, name);
	return m->node_count++;
}

/* The node that an end {"body", "node"} names, -1 for the ground. */
static int end_node(RefModel *m, const TreeNode *end) {
	const char *body = text_of(tree_get(end, "body"), NULL);
	return body ? find_node(m, end, find_body(m, end, body), text_of(tree_get(end, "node"), "head")) : -1;
}

/* a += b: mass, center, inertia about the center. */
static void add_mass(RefBody *a, double mass, CalVec3 at, const CalMat3 *inertia) {
	double total = a->mass + mass, c0[3] = {a->com.x, a->com.y, a->com.z}, c1[3] = {at.x, at.y, at.z}, c[3];
	for (int i = 0; i < 3; i++)
		c[i] = total > 0 ? (a->mass * c0[i] + mass * c1[i]) / total : 0;
	for (int part = 0; part < 2; part++) {
		double d[3], mm = part ? mass : a->mass;
		for (int i = 0; i < 3; i++)
			d[i] = (part ? c1[i] : c0[i]) - c[i];
		for (int i = 0; i < 9; i++)
			a->inertia.m[i / 3][i % 3] +=
				mm * ((i % 4 == 0 ? d[0] * d[0] + d[1] * d[1] + d[2] * d[2] : 0) - d[i / 3] * d[i % 3]);
	}
	for (int i = 0; i < 9; i++)
		a->inertia.m[i / 3][i % 3] += inertia->m[i / 3][i % 3];
	a->mass = total;
	a->com = (CalVec3){c[0], c[1], c[2]};
}

static void read_nodes(RefModel *m, int body, const TreeNode *list) {
	RefBody *b = &m->bodies[body];
	int nm = b->modes;
	for (int i = 0; i < count_of(list); i++) {
		const TreeNode *x = list->items[i];
		RefNode *n = &m->nodes[m->node_count++];
		copy_name(n->name, text_of(tree_get(x, "name"), ""));
		n->body = body;
		n->placement.position = vec3_of(tree_get(x, "p"));
		double mass = ref_case_number(tree_get(x, "m"), 0);
		CalMat3 inertia = mat3_of(tree_get(x, "J"));
		if (nm == 0) {
			add_mass(b, mass, n->placement.position, &inertia);
			continue;
		}
		n->mass = mass;
		n->inertia = inertia;
		n->phi = shape_of(tree_get(x, "phi"), 3 * nm);
		n->psi = shape_of(tree_get(x, "psi"), 3 * nm);
		n->phi2 = shape_of(tree_get(x, "phi2"), 3 * nm * nm);
	}
}

static const struct {
	const char *name;
	CalJointType type;
} element_types[] = {{"revolute", CAL_JOINT_REVOLUTE},
                     {"prismatic", CAL_JOINT_PRISMATIC},
                     {"screw", CAL_JOINT_SCREW},
                     {"spherical", CAL_JOINT_SPHERICAL},
                     {"free", CAL_JOINT_FREE}};

static CalJointType element_type(const TreeNode *element) {
	const char *type = text_of(tree_get(element, "type"), "");
	for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++)
		if (strcmp(element_types[i].name, type) == 0)
			return element_types[i].type;
	bad(element, "unknown type of element");
	return CAL_JOINT_WELD;
}

/* Springs and dampers of an element whose first speed is `at`; its speeds. */
static int read_dof(CalJointDef *def, const TreeNode *e, CalJointType type, int at) {
	int nu = type == CAL_JOINT_FREE ? 6 : type == CAL_JOINT_SPHERICAL ? 3 : 1;
	if (at + nu > CAL_JOINT_MAX_DOF)
		bad(e, "a joint with more than six degrees of freedom");
	def->dof[at].stiffness = ref_case_number(tree_get(e, "k"), 0);
	def->dof[at].damping = ref_case_number(tree_get(e, "d"), 0);
	def->dof[at].rest = ref_case_number(tree_get(e, "q_rest"), 0);
	return nu;
}

static CalJointDef joint_of(const TreeNode *joint) {
	const TreeNode *list = tree_get(joint, "elements");
	int n = count_of(list), dof = 0;
	CalJointDef def = cal_joint_def(n == 0   ? CAL_JOINT_WELD
	                                : n == 1 ? element_type(list->items[0])
	                                         : CAL_JOINT_SEQUENCE);
	def.inboard = placement_of(tree_get(joint, "parent_offset"));
	def.outboard = placement_of(tree_get(joint, "child_offset"));
	for (int i = 0; i < n; i++) {
		const TreeNode *e = list->items[i];
		CalJointType type = element_type(e);
		CalElement element = {type, vec3_of(tree_get(e, "axis")), ref_case_number(tree_get(e, "pitch"), 0)};
		dof += read_dof(&def, e, type, dof);
		if (n == 1) {
			def.axis = element.axis;
			def.pitch = element.pitch;
		} else if (type == CAL_JOINT_FREE) {
			for (int k = 0; k < 3; k++)
				def.elements[def.element_count++] = (CalElement){CAL_JOINT_PRISMATIC, {k == 0, k == 1, k == 2}, 0};
			def.elements[def.element_count++] = (CalElement){.type = CAL_JOINT_SPHERICAL};
		} else {
			def.elements[def.element_count++] = element;
		}
	}
	return def;
}

static void read_body(RefModel *m, const TreeNode *x) {
	int i = m->body_count++;
	RefBody *b = &m->bodies[i];
	const TreeNode *rigid = tree_get(x, "rigid");
	const char *parent = text_of(tree_get(x, "parent"), NULL), *head = text_of(tree_get(x, "head"), "head");
	const char *on = text_of(tree_get(x, "parent_node"), "head");
	copy_name(b->name, text_of(tree_get(x, "name"), ""));
	copy_name(b->joint_name, b->name);
	b->mass = ref_case_number(tree_get(rigid, "mass"), 0);
	b->com = vec3_of(tree_get(rigid, "com"));
	b->inertia = mat3_of(tree_get(rigid, "inertia"));
	b->modes = (int)ref_case_number(tree_get(x, "nm"), 0);
	b->stiffness = shape_of(tree_get(x, "K"), b->modes * b->modes);
	b->damping = shape_of(tree_get(x, "D"), b->modes * b->modes);
	read_nodes(m, i, tree_get(x, "nodes"));
	b->joint = joint_of(tree_get(x, "joint"));
	b->parent = parent ? find_body(m, x, parent) : -1;
	b->parent_node = parent && strcmp(on, "head") != 0 ? find_node(m, x, b->parent, on) : -1;
	b->head_node = strcmp(head, "head") != 0 ? find_node(m, x, i, head) : -1;
}

/* ---- constraints and springs ---------------------------------------------------------------- */

static void read_constraint(RefModel *m, const TreeNode *x) {
	const char *given = text_of(tree_get(x, "type"), "");
	const char *type = strcmp(given, "point") == 0 ? "spherical" : given; // its name in the schema of the cases
	int t = 0;
	while (t < REF_LOOP_TYPE_COUNT && strcmp(ref_loop_type_name((RefLoopType)t), type) != 0)
		t++;
	if (t == REF_LOOP_TYPE_COUNT)
		bad(x, "unknown type of constraint");
	RefLoop *l = ref_model_add_loop(m, (RefLoopType)t);
	copy_name(l->name, text_of(tree_get(x, "name"), ""));
	l->node_a = end_node(m, tree_get(x, "A"));
	l->frame_a = placement_of(tree_get(x, "A"));
	l->node_b = end_node(m, tree_get(x, "B"));
	l->frame_b = placement_of(tree_get(x, "B"));
}

static void read_spring(RefModel *m, const TreeNode *x, RefSpring *s) {
	for (int side = 0; side < 2; side++) {
		const TreeNode *end = tree_get(x, side ? "B" : "A");
		s->node[side] = end_node(m, end);
		s->r[side] = vec3_of(tree_get(end, "r"));
	}
	s->k = ref_case_number(tree_get(x, "k"), 0);
	s->c = ref_case_number(tree_get(x, "c"), 0);
	s->l0 = ref_case_number(tree_get(x, "l0"), 0);
}

static RefModel *read_model(const TreeNode *x, RefSpring *springs) {
	const TreeNode *bodies = tree_get(x, "bodies"), *constraints = tree_get(x, "constraints");
	int n = count_of(bodies), nodes = n;
	for (int i = 0; i < n; i++)
		nodes += count_of(tree_get(bodies->items[i], "nodes"));
	RefModel *m = array(1, sizeof *m);
	m->gravity = vec3_of(tree_get(x, "gravity"));
	m->bodies = array(n, sizeof *m->bodies);
	m->nodes = array(nodes, sizeof *m->nodes);
	for (int i = 0; i < n; i++)
		read_body(m, bodies->items[i]);
	for (int i = 0; i < count_of(constraints); i++)
		read_constraint(m, constraints->items[i]);
	for (int i = 0; i < count_of(tree_get(x, "springs")); i++)
		read_spring(m, tree_get(x, "springs")->items[i], &springs[i]);
	ref_model_index(m);
	return m;
}

/* ---- states and inputs ---------------------------------------------------------------------- */

void ref_case_state(const RefCase *c, const TreeNode *state, double *q, double *u) {
	for (int i = 0; i < c->model->body_count; i++) {
		const RefBody *b = &c->model->bodies[i];
		const TreeNode *x = tree_get(state, b->name);
		if (b->nu > 0) {
			ref_case_numbers(tree_get(x, "q"), q + b->q, b->nq);
			ref_case_numbers(tree_get(x, "u"), u + b->u, b->nu);
		}
		if (b->modes > 0) {
			ref_case_numbers(tree_get(x, "eta"), q + b->q + b->nq, b->modes);
			ref_case_numbers(tree_get(x, "etadot"), u + b->u + b->nu, b->modes);
		}
	}
}

static void read_tau(RefCase *c, const TreeNode *map, int modal) {
	for (int i = 0; i < count_of(map); i++) {
		const RefBody *b = &c->model->bodies[find_body(c->model, map, tree_key(map, i)->text)];
		ref_case_numbers(map->items[i], c->tau + b->u + (modal ? b->nu : 0), modal ? b->modes : b->nu);
	}
}

static void read_prescribed(RefCase *c, const TreeNode *map) {
	memset(c->prescribed, 0, (size_t)c->model->nu);
	for (int i = 0; i < count_of(map); i++) {
		const RefBody *b = &c->model->bodies[find_body(c->model, map, tree_key(map, i)->text)];
		const TreeNode *dofs = tree_get(map->items[i], "dofs"), *udot = tree_get(map->items[i], "udot");
		for (int k = 0; k < count_of(dofs); k++) {
			int j = b->u + (int)ref_case_number(dofs->items[k], 0);
			c->prescribed[j] = 1;
			c->udot[j] = ref_case_number(udot->items[k], 0);
		}
	}
}

void ref_case_input(RefCase *c, const TreeNode *applied, const TreeNode *prescribed) {
	const TreeNode *list = tree_get(applied, "wrenches");
	memset(c->tau, 0, sizeof *c->tau * (size_t)c->model->nu);
	read_tau(c, tree_get(applied, "tau"), 0);
	read_tau(c, tree_get(applied, "modal"), 1);
	read_prescribed(c, prescribed);
	free(c->wrenches);
	c->wrenches = array(count_of(list) + 2 * c->spring_count, sizeof *c->wrenches);
	c->applied = count_of(list);
	for (int i = 0; i < c->applied; i++) {
		const TreeNode *x = list->items[i];
		CalFrame frame = strcmp(text_of(tree_get(x, "frame"), "world"), "node") == 0 ? CAL_FRAME_NODE : CAL_FRAME_WORLD;
		c->wrenches[i] =
			(CalWrench){end_node(c->model, x), frame, {vec3_of(tree_get(x, "moment")), vec3_of(tree_get(x, "force"))}};
	}
	c->input = (CalInput){c->tau, c->prescribed, c->udot, c->wrenches, c->applied};
}

static CalVec3 cross(CalVec3 a, CalVec3 b) {
	return (CalVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* Arm from the node's origin, position and velocity of one end of a spring. */
static void spring_end(const RefSpring *s, int side, const RefMotion *nodes, CalVec3 *arm, CalVec3 *r, CalVec3 *v) {
	*arm = *r = s->r[side];
	*v = (CalVec3){0, 0, 0};
	if (s->node[side] < 0)
		return;
	const RefMotion *n = &nodes[s->node[side]];
	const double d[3] = {arm->x, arm->y, arm->z};
	double x[3];
	for (int i = 0; i < 3; i++)
		x[i] = n->pose.R.m[i][0] * d[0] + n->pose.R.m[i][1] * d[1] + n->pose.R.m[i][2] * d[2];
	*arm = (CalVec3){x[0], x[1], x[2]};
	CalVec3 turn = cross(n->velocity.angular, *arm), lin = n->velocity.linear;
	*r = (CalVec3){n->pose.r.x + x[0], n->pose.r.y + x[1], n->pose.r.z + x[2]};
	*v = (CalVec3){lin.x + turn.x, lin.y + turn.y, lin.z + turn.z};
}

double ref_case_springs(RefCase *c, const double *q, const double *u) {
	double energy = 0;
	c->input.wrench_count = c->applied;
	if (c->spring_count == 0)
		return 0;
	RefMotion *nodes = array(c->model->node_count, sizeof *nodes);
	ref_kinematics(c->model, q, u, NULL, NULL, nodes);
	for (int i = 0; i < c->spring_count; i++) {
		const RefSpring *s = &c->springs[i];
		CalVec3 arm[2], r[2], v[2];
		for (int side = 0; side < 2; side++)
			spring_end(s, side, nodes, &arm[side], &r[side], &v[side]);
		CalVec3 d = {r[1].x - r[0].x, r[1].y - r[0].y, r[1].z - r[0].z};
		CalVec3 dv = {v[1].x - v[0].x, v[1].y - v[0].y, v[1].z - v[0].z};
		double l = sqrt(d.x * d.x + d.y * d.y + d.z * d.z), rate = (d.x * dv.x + d.y * dv.y + d.z * dv.z) / l;
		double pull = (s->k * (l - s->l0) + s->c * rate) / l;
		energy += s->k * (l - s->l0) * (l - s->l0) / 2;
		for (int side = 0; side < 2; side++) {
			double f = side ? -pull : pull;
			CalVec3 force = {f * d.x, f * d.y, f * d.z};
			if (s->node[side] >= 0)
				c->wrenches[c->input.wrench_count++] =
					(CalWrench){s->node[side], CAL_FRAME_WORLD, {cross(arm[side], force), force}};
		}
	}
	free(nodes);
	return energy;
}

RefCase *ref_case_read(const char *path) {
	RefCase *c = array(1, sizeof *c);
	CalError error = {0};
	if (tree_read(path, NULL, &c->tree, &error) != CAL_OK)
		bad(NULL, error.text);
	c->root = tree_root(c->tree);
	const TreeNode *model = tree_get(c->root, "model");
	c->spring_count = count_of(tree_get(model, "springs"));
	c->springs = array(c->spring_count, sizeof *c->springs);
	c->model = read_model(model, c->springs);
	c->q = array(c->model->nq, sizeof *c->q);
	c->u = array(c->model->nu, sizeof *c->u);
	c->tau = array(c->model->nu, sizeof *c->tau);
	c->udot = array(c->model->nu, sizeof *c->udot);
	c->prescribed = array(c->model->nu, 1);
	ref_case_state(c, tree_get(c->root, "state"), c->q, c->u);
	ref_model_set_start(c->model, c->q, c->u);
	ref_case_input(c, tree_get(c->root, "applied"), tree_get(c->root, "prescribed"));
	ref_case_springs(c, c->q, c->u);
	return c;
}

void ref_case_destroy(RefCase *c) {
	tree_destroy(c->tree);
	ref_model_destroy(c->model);
	free(c->q), free(c->u), free(c->tau), free(c->udot), free(c->prescribed), free(c->wrenches), free(c->springs);
	free(c);
}
