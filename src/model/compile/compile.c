// SPDX-License-Identifier: Apache-2.0
/*
 * compile.c — description to model: order, links, frames, merged inertias, one block.
 *
 * 1. order the group's bodies depth first (order.c)
 * 2. count links, coordinates, nodes and strings, and take one block that holds everything
 * 3. bodies and links outward: each joint step becomes a link whose z is the step's axis; welded bodies
 *    join their parent's link
 * 4. turn link frames about their z so that as many links as possible are reached by a turn about x alone
 *    (frames.c)
 * 5. add each body's inertia to its link; tables of degrees of freedom, springs, angles
 * 6. estimate the flops of both solvers
 */
#include "base/cursor.h"
#include "base/error.h"
#include "model/compile/compile.h"
#include "model/loop_blocks.h"
#include "model/coupled_plan.h"
#include "model/loop_plan.h"
#include "model/mass_pattern.h"
#include "model/model_check.h"

dpose compile_pose(CalPlacement p) { return (dpose){dquat_matrix(p.orientation), dvec_in(p.position)}; }

/* ---- sizes and memory ---------------------------------------------------------------------- */

static void index_layout(Compiler *c, Cursor *cursor) {
	const int counts[MODEL_KIND_COUNT] = {[MODEL_BODIES] = c->body_count,
	                                      [MODEL_JOINTS] = c->body_count,
	                                      [MODEL_NODES] = c->node_count,
	                                      [MODEL_LOOPS] = c->loop_count};
	for (int kind = 0; kind < MODEL_KIND_COUNT; ++kind) {
		NameIndex *tables[] = {&c->index.names[kind], &c->index.ids[kind]};
		for (int k = 0; k < 2; ++k) {
			const uint32_t capacity = model_index_capacity(counts[kind]);
			NameSlot *slots = NULL;
			if (capacity)
				CURSOR_ARRAY(cursor, slots, capacity);
			*tables[k] = (NameIndex){.slots = slots, .capacity = capacity};
		}
	}
}

static void block_layout(Compiler *c, Cursor *cursor) {
	cursor_array(cursor, 1, sizeof(CalModel)); // the model itself
	CURSOR_ARRAY(cursor, c->links, c->link_count);
	CURSOR_ARRAY(cursor, c->local_links, c->link_count);
	CURSOR_ARRAY(cursor, c->bodies, c->body_count);
	CURSOR_ARRAY(cursor, c->nodes, c->node_count);
	CURSOR_ARRAY(cursor, c->dofs, c->nu);
	CURSOR_ARRAY(cursor, c->rotor, c->nu);
	CURSOR_ARRAY(cursor, c->damping, c->nu);
	CURSOR_ARRAY(cursor, c->spring_dof, c->nu);
	CURSOR_ARRAY(cursor, c->ball_springs, c->nu);
	CURSOR_ARRAY(cursor, c->user_spring_link, c->link_count);
	CURSOR_ARRAY(cursor, c->trig_q, c->link_count);
	CURSOR_ARRAY(cursor, c->trig_offset, c->link_count);
	CURSOR_ARRAY(cursor, c->dof_parent, c->nu);
	CURSOR_ARRAY(cursor, c->dof_depth, c->nu);
	CURSOR_ARRAY(cursor, c->mass_row, c->nu + 1);
	CURSOR_ARRAY(cursor, c->prescribed, c->nu);
	CURSOR_ARRAY(cursor, c->loops, c->loop_count);
	CURSOR_ARRAY(cursor, c->flexes, c->flex_count);
	CURSOR_ARRAY(cursor, c->shapes, c->shape_count);
	CURSOR_ARRAY(cursor, c->masses, c->mass_count);
	c->numbers = CURSOR_ARRAY(cursor, c->number_block, c->flex_numbers);
	CURSOR_ARRAY(cursor, c->indices, c->flex_indices);
	CURSOR_ARRAY(cursor, c->strings, c->string_size);
	index_layout(c, cursor);
}

/* Node k of the group, those of the ground last; -1: there are no more. */
static int member_node(const Compiler *c, int k) {
	const GroupMembers *nodes = &c->groups->nodes;
	const int own = nodes->first[c->group + 1] - nodes->first[c->group], ground = nodes->first[c->desc->group_count];
	if (k < own)
		return nodes->member[nodes->first[c->group] + k];
	return ground + k - own < c->desc->node_count ? nodes->member[ground + k - own] : -1;
}

static void count_everything(Compiler *c) {
	const CalDesc *desc = c->desc;
	c->string_size = strlen(desc->groups[c->group].name) + 1;
	for (int i = 0; i < c->body_count; ++i) {
		const DescBody *body = &desc->bodies[c->order[i]];
		const DescJoint *record = &desc->joints[c->joint_of[c->order[i]]];
		const CalJointDef *joint = &record->def;
		JointElement step[CAL_JOINT_MAX_DOF];
		c->string_size += strlen(body->def.name) + strlen(joint->name) + 2;
		if (record->embedding.mechanism) {
			compile_mechanism_count(c, record);
			continue;
		}
		c->link_count += joint_elements(joint, step);
		c->nq += joint_coordinate_count(joint);
		c->nu += joint_speed_count(joint);
		compile_flex_count(c, i);
		if (compile_flex_node_moves(c, record->inboard)) {
			++c->link_count;
			c->modal_columns += 6 * row_length(desc_body(desc, desc_node(desc, record->inboard)->body)->flex->modes);
		}
	}
	for (int k = 0, i; (i = member_node(c, k)) >= 0; ++k) {
		++c->node_count;
		c->string_size += strlen(desc->nodes[i].def.name) + 1;
	}
	compile_loop_count(c);
}

const char *compile_keep_string(Compiler *c, const char *text) {
	const size_t size = strlen(text) + 1;
	char *kept = c->strings;
	memcpy(kept, text, size);
	c->strings += size;
	return kept;
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* Model index of the body that carries a node of the group; body_count for the ground. */
static int owner_of(const Compiler *c, int node) {
	const uint32_t body = c->desc->nodes[node].body.value;
	return body ? c->index_of[body - 1] : c->body_count;
}

/* Nodes grouped by body in model order, each body's own frame first; those of the ground last. */
static void place_nodes(Compiler *c) {
	const CalDesc *desc = c->desc;
	int *next = c->scratch; // [body_count + 2] counts, then where the next node of a body goes
	for (int b = 0; b < c->body_count + 2; ++b)
		next[b] = 0;
	for (int k = 0, i; (i = member_node(c, k)) >= 0; ++k)
		++next[owner_of(c, i) + 1];
	for (int b = 1; b <= c->body_count; ++b)
		next[b] += next[b - 1];
	for (int k = 0, i; (i = member_node(c, k)) >= 0; ++k) {
		const DescNode *from = &desc->nodes[i];
		const uint32_t owner = from->body.value;
		const int b = owner_of(c, i), at = next[b]++;
		c->node_of[i] = at;
		c->nodes[at] = (Node){compile_keep_string(c, from->def.name),
		                      {(uint32_t)i + 1},
		                      owner ? b : -1,
		                      -1,
		                      compile_pose(from->def.placement),
		                      compile_pose(from->def.placement),
		                      -1};
	}
}

/* ---- bodies and links ---------------------------------------------------------------------- */

/* A rotation that takes z to the unit vector a; the identity if they agree. */
static dmat3 turn_z_to(CalVec3 a) { return a.z == 1.0 ? dmat_identity() : joint_axes_z(a); }

/* The links of a joint, starting from the frame X in link `parent`; X becomes the moved frame in the last link. */
static int add_links(Compiler *c, int body, const CalJointDef *joint, int parent, dpose *X) {
	JointElement step[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(joint, step);
	for (int k = 0; k < count; ++k) {
		const JointPrimitive motion = step[k].motion;
		const int axial = motion == PRIMITIVE_ROTATION || motion == PRIMITIVE_TRANSLATION || motion == PRIMITIVE_SCREW;
		const dmat3 turn = axial ? turn_z_to(step[k].axis) : dmat_identity();
		Link *link = &c->links[c->links_made];
		*link = (Link){.parent = parent,
		               .motion = (int32_t)motion,
		               .u = c->u_made,
		               .q = c->q_made,
		               .nu = primitive_u_count(motion, joint->ops),
		               .nq = primitive_q_count(motion, joint->ops),
		               .accumulator = -1,
		               .trig = -1,
		               .body = body,
		               .flex_body = -1,
		               .flex = -1,
		               .E = dmat_mul(X->R, turn),
		               .p = X->r,
		               .data = {step[k].pitch, joint->ops, joint->ops_data}};
		if (motion == PRIMITIVE_ROTATION) {
			link->trig = c->trig_made;
			c->trig_q[c->trig_made] = link->q;
			c->trig_offset[c->trig_made++] = 0;
		}
		c->u_made += link->nu;
		c->q_made += link->nq;
		link->run = parent >= 0 && parent == c->links_made - 1 ? c->links[parent].run : c->links_made;
		parent = c->links_made++;
		*X = (dpose){dmat_transpose(turn), {0, 0, 0}};
	}
	return parent;
}

static void add_body(Compiler *c, int index) {
	const CalDesc *desc = c->desc;
	const int from = c->order[index], j = c->joint_of[from];
	const DescBody *def = &desc->bodies[from];
	const DescJoint *joint = &desc->joints[j];
	Body *body = &c->bodies[index];
	const int inboard = joint->inboard.value ? c->node_of[joint->inboard.value - 1] : -1;
	const int parent = inboard >= 0 ? c->nodes[inboard].body : -1;
	*body = (Body){.name = compile_keep_string(c, def->def.name),
	               .joint = compile_keep_string(c, joint->def.name),
	               .id = {(uint32_t)from + 1},
	               .joint_id = {(uint32_t)j + 1},
	               .type = joint->def.type,
	               .parent = parent,
	               .q = c->q_made,
	               .u = c->u_made,
	               .first_link = c->links_made,
	               .node = c->node_of[def->frame.value - 1],
	               .inboard_node = inboard,
	               .head_node = c->node_of[joint->outboard.value - 1],
	               .mass = def->def.mass,
	               .com = dvec_in(def->def.com),
	               .inertia = dmat_in(&def->def.inertia),
	               .flex = -1};
	if (joint->embedding.mechanism) {
		compile_mechanism_body(c, index, joint);
		return;
	}
	dpose X = inboard >= 0 ? c->nodes[inboard].in_body : dpose_identity();
	if (parent >= 0)
		X = dpose_mul(c->bodies[parent].in_link, X);
	int base = parent >= 0 ? c->bodies[parent].link : -1;
	if (inboard >= 0 && c->nodes[inboard].shape >= 0) { // the node itself is a link
		base = compile_flex_node_link(c, index, inboard);
		body->first_link = c->links_made;
		X = dpose_identity();
	}
	X = dpose_mul(X, compile_pose(joint->def.inboard));
	body->link = add_links(c, index, &joint->def, base, &X);
	body->nlink = c->links_made - body->first_link;
	body->nq = c->q_made - body->q;
	body->nu = c->u_made - body->u;
	X = dpose_mul(X, compile_pose(joint->def.outboard));
	if (def->flex) {
		compile_flex_body(c, index, &X);
	} else {
		body->in_link = dpose_mul(X, dpose_inverse(c->nodes[body->head_node].in_body));
	}
}

static void place_node_frames(Compiler *c) {
	for (int i = 0; i < c->node_count; ++i) {
		Node *node = &c->nodes[i];
		if (node->body < 0)
			continue;
		node->link = c->bodies[node->body].link;
		node->in_link = dpose_mul(c->bodies[node->body].in_link, node->in_body);
	}
}

/* Children other than the next link go through an accumulator. */
static void assign_accumulators(Compiler *c) {
	for (int i = 0; i < c->link_count; ++i) {
		const int parent = c->links[i].parent;
		if (parent >= 0 && parent != i - 1 && c->links[parent].accumulator < 0)
			c->links[parent].accumulator = c->accumulator_count++;
	}
}

/* ---- inertia ------------------------------------------------------------------------------- */

static dmat3 dmat_add_outer(dmat3 m, double s, dvec3 a) {
	m.x = dadd(m.x, dscale(s * a.x, a));
	m.y = dadd(m.y, dscale(s * a.y, a));
	m.z = dadd(m.z, dscale(s * a.z, a));
	return m;
}

/* Second moments of each link's bodies about its origin: Sigma = sum R (tr I/2 - I) R' + m c c'. */
static void add_inertias(Compiler *c) {
	for (int i = 0; i < c->body_count; ++i) {
		const Body *body = &c->bodies[i];
		if (body->link < 0)
			continue;
		DInertia *in = &c->links[body->link].inertia;
		const dmat3 I = body->inertia;
		const double half = 0.5 * (I.x.x + I.y.y + I.z.z);
		const double xy = -0.5 * (I.x.y + I.y.x), xz = -0.5 * (I.x.z + I.z.x), yz = -0.5 * (I.y.z + I.z.y);
		const dmat3 Sigma = {{half - I.x.x, xy, xz}, {xy, half - I.y.y, yz}, {xz, yz, half - I.z.z}};
		const dmat3 R = body->in_link.R;
		const dvec3 com = dadd(body->in_link.r, dmat_mul_vec(R, body->com));
		const dmat3 Sigma_link = dmat_add_outer(dmat_mul(R, dmat_mul(Sigma, dmat_transpose(R))), body->mass, com);
		in->m += body->mass;
		in->mc = dadd(in->mc, dscale(body->mass, com));
		in->zz += Sigma_link.z.z;
		in->ha += 0.5 * (Sigma_link.x.x - Sigma_link.z.z);
		in->hb += 0.5 * (Sigma_link.y.y - Sigma_link.z.z);
		in->d += 0.5 * (Sigma_link.x.y + Sigma_link.y.x);
		in->e += 0.5 * (Sigma_link.x.z + Sigma_link.z.x);
		in->f += 0.5 * (Sigma_link.y.z + Sigma_link.z.y);
	}
}

/* ---- degrees of freedom -------------------------------------------------------------------- */

static void add_ball_spring(Compiler *c, CalModel *model, int q, int u) {
	const Dof *dof = &c->dofs[u];
	if (dof[0].stiffness + dof[1].stiffness + dof[2].stiffness == 0)
		return;
	const dvec3 rest = {dof[0].rest, dof[1].rest, dof[2].rest};
	c->ball_springs[model->ball_spring_count++] =
		(BallSpring){q, u, dquat_exp(rest), {dof[0].stiffness, dof[1].stiffness, dof[2].stiffness}};
}

static int has_spring(const Compiler *c, const Link *link) {
	double sum = 0;
	for (int k = 0; k < link->nu; ++k)
		sum += c->dofs[link->u + k].stiffness;
	return sum > 0;
}

/* The outermost degree of freedom that moves link i, modes of its body included; -1: none. */
static int last_dof(const Compiler *c, int i) {
	for (; i >= 0; i = c->links[i].parent) {
		const Link *link = &c->links[i];
		const Flex *flex = link->flex_body >= 0 ? &c->flexes[link->flex_body] : NULL;
		if (flex && flex->m > 0)
			return flex->u + flex->m - 1;
		if (link->nu > 0)
			return link->u + link->nu - 1;
	}
	return -1;
}

/* The last degree of freedom of the joints between the ground and link i, i included; modes of i itself left out. */
static int joint_dof(const Compiler *c, int i) {
	const Link *link = &c->links[i];
	return link->nu > 0 ? link->u + link->nu - 1 : last_dof(c, link->parent);
}

static void add_dof(Compiler *c, CalModel *model, const Link *link, int i, int k) {
	const Body *body = &c->bodies[link->body];
	const int u = link->u + k;
	const CalDofDef *def = &c->desc->joints[body->joint_id.value - 1].def.dof[u - body->u];
	const double gear = def->gear_ratio == 0 ? 1.0 : def->gear_ratio;
	const int axial = link->motion != PRIMITIVE_SPHERICAL && link->motion != PRIMITIVE_USER &&
	                  (link->motion != PRIMITIVE_FREE || k < 3);
	c->dofs[u] = (Dof){link->body,
	                   u - body->u,
	                   i,
	                   axial ? link->q + k : -1,
	                   def->stiffness,
	                   def->rest,
	                   def->damping,
	                   def->rotor_inertia * gear * gear};
	c->rotor[u] = c->dofs[u].rotor;
	c->damping[u] = def->damping;
	c->prescribed[u] = def->prescribed || model->propagation == CAL_PROPAGATE_KINEMATIC;
	model->any_rotor |= c->rotor[u] != 0;
	model->any_damping |= def->damping != 0;
	model->any_prescribed |= c->prescribed[u];
	if (axial && def->stiffness != 0)
		c->spring_dof[model->spring_count++] = u;
	if (k > 0) {
		c->dof_parent[u] = u - 1;
		return;
	}
	c->dof_parent[u] = last_dof(c, link->parent);
}

static void add_modal_dofs(Compiler *c, CalModel *model, const Link *link, int i) {
	const Flex *flex = &c->flexes[link->flex_body];
	const Body *body = &c->bodies[flex->body];
	const uint8_t *prescribed = c->desc->bodies[c->order[flex->body]].prescribed;
	for (int k = 0; k < flex->m; ++k) {
		c->dofs[flex->u + k] = (Dof){.body = flex->body, .index = body->nu + k, .link = i, .q = flex->q + k};
		c->dof_parent[flex->u + k] = k > 0 ? flex->u + k - 1 : joint_dof(c, i);
		c->prescribed[flex->u + k] = model->propagation != CAL_PROPAGATE_FLEXIBLE || (prescribed && prescribed[k]);
		model->any_prescribed |= c->prescribed[flex->u + k];
	}
}

static void add_dofs(Compiler *c, CalModel *model) {
	for (int i = 0; i < c->link_count; ++i) {
		const Link *link = &c->links[i];
		if (link->flex_body >= 0)
			add_modal_dofs(c, model, link, i);
		for (int k = 0; k < link->nu; ++k)
			add_dof(c, model, link, i, k);
		if (link->motion == PRIMITIVE_SPHERICAL)
			add_ball_spring(c, model, link->q, link->u);
		if (link->motion == PRIMITIVE_FREE)
			add_ball_spring(c, model, link->q + 3, link->u + 3);
		if (link->motion == PRIMITIVE_USER && has_spring(c, link))
			c->user_spring_link[model->user_spring_count++] = i;
	}
}

/* Columns that are eliminated one by one; those of a ball go at once (articulated.c). */
static int eliminations(const Link *link) {
	if (link->motion == PRIMITIVE_SPHERICAL)
		return 1;
	return link->motion == PRIMITIVE_FREE ? 2 : link->nu;
}

/*
 * Flops of one forward dynamics, estimated from hand counts of the sweeps and fitted to timings; a division or square root
 * counts as 20. Recursive: 270 per link and 260 per elimination. Dense: 430 per link for bias and composite inertias, 20
 * per entry of M's paths, 60 per dof for its pivot, n^3/3 + 2n^2 to factor and solve. Flexible bodies: 60 per mode and
 * mass for their own terms, then the elimination (compile_flex.c) or the modal blocks of M.
 */
static void estimate_flops(Compiler *c, CalModel *model) {
	const double pairs = (double)c->mass_row[c->nu];
	double joints = 0;
	for (int i = 0; i < c->link_count; ++i)
		joints += eliminations(&c->links[i]);
	double own = 0, direct = 0, modal = 0; // of flexible bodies
	for (int f = 0; f < c->flex_count; ++f) {
		const double m = c->flexes[f].m;
		own += invariants_flops(&c->flexes[f]) + 250.0;
		direct +=
			c->flexes[f].by_ports ? 290.0 * m * (1.0 + c->flexes[f].port_count) : m * (m * m / 3.0 + 50.0 * m + 200.0);
		modal += m * (120.0 * m + 300.0);
	}
	const double n = c->nu, links = c->link_count;
	model->flops_recursive = 270.0 * links + 260.0 * joints + own + direct;
	model->flops_dense = 430.0 * links + 20.0 * pairs + 60.0 * n + n * n * n / 3.0 + 2.0 * n * n + own + modal;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void fill_model(Compiler *c, CalModel *model, CalSolver solver) {
	const CalGroupDef *group = &c->desc->groups[c->group];
	model->name = compile_keep_string(c, group->name);
	model->gravity = dvec_in(group->gravity);
	model->propagation = group->propagation;
	model->isa = cpu_isa();
	place_nodes(c);
	for (int i = 0; i < c->body_count; ++i)
		add_body(c, i);
	c->link_count = c->links_made; // a flexible body was counted with a link of its own
	c->modal_columns = c->columns_made;
	assign_accumulators(c);
	compile_turn_frames(c);
	compile_flex_place(c);
	place_node_frames(c);
	add_inertias(c);
	compile_flex_finish(c);
	for (int i = 0; i < c->link_count; ++i) {
		const DInertia *in = &c->links[i].inertia;
		const dvec3 p = c->links[i].p;
		c->links[i].massless = in->m == 0 && in->zz == 0 && in->ha == 0 && in->hb == 0;
		c->links[i].zero_offset = p.x == 0 && p.y == 0 && p.z == 0;
		c->links[i].loop_link = -1;
	}
	local_links_fill(c->links, c->link_count, c->local_links);
	compile_loops(c, model);
	add_dofs(c, model);
	mass_pattern_fill(c->nu, c->dof_parent, c->dof_depth, c->mass_row);
	compile_mechanism_dofs(c, model);
	estimate_flops(c, model);
	model->solver = solver == CAL_SOLVER_AUTO ? CAL_SOLVER_RECURSIVE : solver; // decision 0036
	model->link_count = c->link_count, model->body_count = c->body_count, model->node_count = c->node_count;
	model->nq = c->nq, model->nu = c->nu, model->accumulator_count = c->accumulator_count,
	model->trig_count = c->trig_made;
	model->local_links = c->local_links;
	model->links = c->links, model->bodies = c->bodies, model->nodes = c->nodes, model->dofs = c->dofs;
	model->rotor = c->rotor, model->damping = c->damping, model->prescribed = c->prescribed;
	model->spring_dof = c->spring_dof, model->ball_springs = c->ball_springs;
	model->user_spring_link = c->user_spring_link;
	model->flexes = c->flexes, model->flex_count = c->flex_count, model->modal_columns = c->modal_columns;
	model->shapes = c->shapes, model->shape_count = c->shape_count;
	model->loops = c->loops, model->loop_count = c->loop_count, model->row_count = c->row_count;
	model->mechanisms = c->mechanisms, model->mechanism_count = c->mechanism_count;
	model->trig_q = c->trig_q, model->trig_offset = c->trig_offset, model->dof_parent = c->dof_parent;
	model->dof_depth = c->dof_depth, model->mass_row = c->mass_row;
	model_index_fill(&c->index, model);
	model->index = c->index;
	compile_loop_units(model, c->loops);
}

/* Links and bodies learn which loops reach them. */
static CalStatus eliminate_locally(Compiler *c, CalModel *model) {
	LoopSchedule *plan = loop_schedule_create(model);
	if (!plan)
		return CAL_ERR_MEMORY;
	for (int k = 0; k < plan->link_count; ++k) {
		Link *link = &c->links[plan->links[k].link];
		link->loop_link = k;
		if (link->flex_body >= 0) // their rows take part in the elimination of each mode
			c->flexes[link->flex_body].by_ports = c->flexes[link->flex_body].fused = 0;
	}
	model->loop_schedule = plan;
	model->size += plan->size + (plan->late ? plan->late->size : 0);
	model->solver = CAL_SOLVER_RECURSIVE;
	CoupledPlan *coupled;
	if (!coupled_plan_create(model, &coupled))
		return CAL_ERR_MEMORY;
	model->coupled = coupled;
	model->size += coupled ? coupled->size : 0;
	return CAL_OK;
}

/* Loops are eliminated where they close, unless another way is asked for. */
static CalStatus schedule_loops(Compiler *c, const CalCompileOptions *options, CalModel *model) {
	const int cut = options->loops == CAL_LOOPS_CUT_JOINT || (!options->loops && options->solver == CAL_SOLVER_DENSE);
	model->loops_by = options->loops;
	if (model->loop_count == 0)
		return CAL_OK;
	CalStatus status = loop_find_light(model);
	if (status == CAL_OK && !cut)
		status = eliminate_locally(c, model);
	if (status != CAL_OK)
		return status;
	model->blocks = loop_blocks_create(model);
	model->size += model->blocks ? model->blocks->size : 0;
	return model->blocks ? CAL_OK : CAL_ERR_MEMORY;
}

static CalStatus compile_block(Compiler *c, const CalCompileOptions *options, CalModel **out) {
	count_everything(c);
	Cursor cursor = {0};
	block_layout(c, &cursor);
	const CalAllocator allocator = allocator_or_default(&options->allocator);
	const size_t turns = sizeof(double) * 2 * (size_t)c->link_count;
	c->turn = memory_alloc(&c->desc->allocator, turns + sizeof(int) * (size_t)(c->body_count + 2));
	if (!c->turn)
		return CAL_ERR_MEMORY;
	c->scratch = (int *)(void *)(c->turn + 2 * c->link_count);
	CalModel *model = cursor_alloc_at_start(&cursor, &allocator);
	if (!model)
		return CAL_ERR_MEMORY;
	cursor_clear(&cursor);
	block_layout(c, &cursor);
	CAL_ASSERT(cursor.used == cursor.size);
	const char *strings_end = c->strings + c->string_size;
	model->allocator = allocator;
	model->size = cursor.size;
	fill_model(c, model, options->solver);
	CAL_ASSERT(c->strings <= strings_end && c->links_made <= c->link_count && c->u_made == c->nu && c->q_made == c->nq);
	const CalStatus status = schedule_loops(c, options, model);
	links_mark_special(model->loop_schedule, c->links, c->link_count);
	if (status == CAL_OK) {
		CAL_ASSERT(model_is_consistent(model));
		*out = model;
	} else {
		model->mechanism_count = 0; // they are the compiler's
		cal_model_destroy(model);
	}
	return status;
}

CalStatus compile_listed(const DescGroups *groups, const CalCompileOptions *options, CalModel **model) {
	Compiler c = {.desc = groups->desc,
	              .groups = groups,
	              .group = options->group.value ? (int)options->group.value - 1 : 0,
	              .modal_inertia = options->modal_inertia};
	const CalAllocator allocator = allocator_or_default(&options->allocator);
	compile_order(&c);
	CalStatus status = compile_flex_forms(&c);
	if (status == CAL_OK)
		status = compile_mechanisms(&c, &allocator);
	if (status == CAL_OK)
		status = compile_block(&c, options, model);
	if (status != CAL_OK)
		compile_mechanisms_release(&c, &allocator);
	compile_flex_release(&c);
	memory_free(&c.desc->allocator, c.turn);
	return status;
}

CalStatus compile_checked(const CalDesc *desc, const CalCompileOptions *options, CalModel **model) {
	DescGroups *groups = desc_groups_create(desc);
	const CalStatus status = groups ? compile_listed(groups, options, model) : CAL_ERR_MEMORY;
	desc_groups_destroy(groups);
	return status;
}

/* keep_first() counts on from what the error holds; callers need not have set theirs. */
static void clear_error(CalError *error) {
	if (error)
		*error = (CalError){0};
}

static void keep_first(void *user, const CalFinding *finding) {
	CalError *error = user;
	if (finding->status == CAL_OK || !error)
		return;
	const int count = error->count + 1;
	if (count == 1)
		error_set(error, finding->status, "%s", finding->text);
	error->count = count;
}

static CalStatus no_memory(CalError *error) {
	return error_set(error, CAL_ERR_MEMORY, "cal_model_compile: %s", cal_status_text(CAL_ERR_MEMORY));
}

CalStatus compile_check_structure(const CalDesc *desc, CalGroupId group, CalError *error) {
	clear_error(error);
	const CalStatus status = desc_check_structure(desc, group, keep_first, error);
	return status == CAL_ERR_MEMORY ? no_memory(error) : status;
}

CalStatus compile_group(const DescGroups *groups, const CalCompileOptions *options, CalModel **model, CalError *error) {
	CalStatus status = compile_listed(groups, options, model);
	if (status != CAL_OK)
		return error_set(error, status, "cal_model_compile: %s", cal_status_text(status));
	clear_error(error);
	status = model_check_singular(*model, groups->desc, keep_first, error);
	if (status != CAL_OK) {
		cal_model_destroy(*model);
		*model = NULL;
	}
	return status == CAL_ERR_MEMORY ? no_memory(error) : status;
}

CalStatus cal_model_compile(const CalDesc *desc, const CalCompileOptions *options, CalModel **model, CalError *error) {
	const CalCompileOptions defaults = {0};
	if (!options)
		options = &defaults;
	clear_error(error);
	if (!desc || !model)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_model_compile: desc and model must not be NULL");
	*model = NULL;
	if ((int)options->group.value > desc->group_count) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_model_compile: the description has no group with id %u",
		                 options->group.value);
	}
	const CalGroupId group = {options->group.value ? options->group.value : 1};
	CalStatus status = compile_check_structure(desc, group, error);
	if (status != CAL_OK)
		return status;
	DescGroups *groups = desc_groups_create(desc);
	status = groups ? compile_group(groups, options, model, error) : no_memory(error);
	desc_groups_destroy(groups);
	return status;
}
