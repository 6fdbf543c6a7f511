// SPDX-License-Identifier: Apache-2.0
/*
 * embed.c — cal_desc_embed(): which bodies become mechanisms, which of their coordinates stay, and what is refused
 * [THEORY 5.8].
 *
 * A loop encloses the bodies on the paths from its sides to the body that both share, a coupling those from its joints to
 * the body that carries all of them. Loops with a common body are one mechanism; its base is the innermost body that
 * carries all of it. Marks are put on joints and loops of the description first; then each mechanism is compiled, closed
 * and its coordinates chosen. Whatever fails takes all marks off again.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "component/embed.h"
#include "component/mechanism_motion.h"
#include "loop/loop_type.h"

/* ---- the tree ------------------------------------------------------------------------------------------------ */

static uint32_t body_of(const CalDesc *desc, CalNodeId node) {
	return node.value ? desc_node(desc, node)->body.value : 0;
}

/* Joints that carry bodies and depths by body id; false: a body has no joint, or carries itself. */
static int find_tree(Embedding *e) {
	const CalDesc *desc = e->desc;
	for (int j = 0; j < desc->joint_count; ++j)
		e->joint[body_of(desc, desc->joints[j].outboard)] = j + 1;
	for (int b = 1; b <= desc->body_count; ++b) {
		int depth = 0;
		for (uint32_t up = (uint32_t)b; up; up = embed_parent(e, up)) {
			if (!e->joint[up] || ++depth > desc->body_count)
				return 0;
		}
		e->depth[b] = depth;
	}
	return 1;
}

uint32_t embed_parent(const Embedding *e, uint32_t body) {
	return body ? body_of(e->desc, e->desc->joints[e->joint[body] - 1].inboard) : 0;
}

static uint32_t common_body(const Embedding *e, uint32_t a, uint32_t b) {
	while (a != b) {
		const uint32_t deeper = e->depth[a] >= e->depth[b] ? a : b;
		*(deeper == a ? &a : &b) = embed_parent(e, deeper);
	}
	return a;
}

/* ---- which bodies -------------------------------------------------------------------------------------------- */

/* All that has mark `from` gets mark `to`. */
static void merge(Embedding *e, int from, int to) {
	for (int l = 0; l < e->desc->loop_count; ++l)
		e->desc->loops[l].mechanism = e->desc->loops[l].mechanism == from ? to : e->desc->loops[l].mechanism;
	for (int j = 0; j < e->desc->joint_count; ++j) {
		DescEmbedding *at = &e->desc->joints[j].embedding;
		at->mechanism = at->mechanism == from ? to : at->mechanism;
	}
}

/* Marks the bodies from `body` up to the base as part of the loop's mechanism; an older one: 0. */
static int mark_path(Embedding *e, uint32_t body, uint32_t base, int mark) {
	for (; body != base; body = embed_parent(e, body)) {
		DescEmbedding *at = &e->desc->joints[e->joint[body] - 1].embedding;
		if (at->mechanism && at->mechanism < e->first)
			return 0;
		if (at->mechanism && at->mechanism != mark)
			merge(e, at->mechanism, mark);
		at->mechanism = mark;
	}
	return 1;
}

static int mark_loop(Embedding *e, DescLoop *loop, int mark) {
	const CalLoopDef *def = &loop->def;
	loop->mechanism = mark;
	if (!loop_type_has_terms(def->type)) {
		const uint32_t a = body_of(e->desc, loop->a), b = body_of(e->desc, loop->b), base = common_body(e, a, b);
		return mark_path(e, a, base, mark) && mark_path(e, b, base, mark);
	}
	uint32_t base = embed_parent(e, def->term[0].body.value);
	for (int i = 1; i < def->term_count; ++i)
		base = common_body(e, base, embed_parent(e, def->term[i].body.value));
	for (int i = 0; i < def->term_count; ++i) {
		if (!mark_path(e, def->term[i].body.value, base, mark))
			return 0;
	}
	return 1;
}

static CalStatus mark_loops(Embedding *e, const CalEmbedDef *def, CalError *error) {
	for (int i = 0; i < def->loop_count; ++i) {
		const uint32_t id = def->loops[i].value;
		if (!id || id > (uint32_t)e->desc->loop_count)
			return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_embed: the description has no loop with id %u",
			                 (unsigned)id);
		DescLoop *loop = &e->desc->loops[id - 1];
		if (loop->mechanism)
			return embed_refuse_loop(loop, error, "it is embedded already, or listed twice; name it once");
		if (!mark_loop(e, loop, e->first + i))
			return embed_refuse_loop(loop, error,
			                         "it shares bodies with a loop that was embedded before; embed both at once");
	}
	return CAL_OK;
}

/* ---- one mechanism ------------------------------------------------------------------------------------------- */

static DescJoint *joint_named(CalDesc *desc, const char *name) {
	return &desc->joints[cal_desc_find_joint(desc, name).value - 1];
}

/* Guesses, or zero; what is kept while loops are closed: independent joints with a guess. */
static void load_guesses(const Embedding *e, const CalEmbedDef *def, const Mechanism *m, MechanismTrial *t) {
	cal_config_neutral(m->model, t->q);
	memset(t->frozen, 0, (size_t)m->model->nu);
	memset(t->known, 0, sizeof *t->known * (size_t)m->model->body_count);
	for (int b = 0; b < m->model->body_count; ++b) {
		const Body *body = &m->model->bodies[b];
		const DescJoint *joint = joint_named(e->desc, body->joint);
		for (int i = 0; i < def->guess_count; ++i) {
			if (&e->desc->joints[def->guesses[i].joint.value - 1] != joint)
				continue;
			memcpy(t->q + body->q, def->guesses[i].q, sizeof *t->q * (size_t)body->nq);
			for (int k = 0; joint->embedding.independent && k < body->nu; ++k)
				t->frozen[body->u + k] = 1;
			t->known[b] = def->guesses[i].known ? i + 1 : 0;
		}
	}
}

static CalStatus close_mechanism(const Mechanism *m, MechanismTrial *t, CalError *error) {
	CalState state = {.q = t->q, .u = t->u};
	CalProjectReport report;
	char row[128] = "";
	const CalProjectOptions options = {.frozen = t->frozen, .euclidean = 1, .tolerance = 1e-15, .search = 1};
	const CalStatus status = cal_loop_project(m->model, &state, &options, t->work, &report);
	if (status == CAL_OK)
		return CAL_OK;
	cal_model_row_name(m->model, report.row, row, sizeof row);
	return error_set(
		error, CAL_ERR_MODEL,
		"embedded loop \"%s\": it cannot be closed from the coordinates given (%s is left with %.3g); give "
		"coordinates nearer to a closed configuration",
		m->name, row, report.residual);
}

/* Independent joints as described, or all of whose dofs were chosen by rank. */
static CalStatus keep_choice(const Embedding *e, const Mechanism *m, const uint8_t *chosen, CalError *error) {
	for (int b = 0; b < m->model->body_count; ++b) {
		const Body *body = &m->model->bodies[b];
		int count = 0, quaternion = 0;
		for (int u = body->u; u < body->u + body->nu; ++u) {
			count += chosen[u] != 0;
			quaternion |= chosen[u] && m->model->dofs[u].q < 0;
		}
		DescJoint *joint = joint_named(e->desc, body->joint);
		if (quaternion)
			return embed_refuse_joint(joint, error,
			                          "its coordinates are a quaternion, which cannot be independent; make other "
			                          "joints independent, or do not embed the loop");
		if (count && count < body->nu)
			return embed_refuse_joint(joint, error,
			                          "only some of its degrees of freedom would be independent; make other joints "
			                          "independent, or divide it into joints of one degree of freedom each");
		joint->embedding.independent = count > 0;
	}
	return CAL_OK;
}

static CalStatus refuse_choice(const Mechanism *m, int mobility, CalStatus status, CalError *error) {
	if (status == CAL_SINGULAR)
		return error_set(error, CAL_ERR_MODEL,
		                 "embedded loop \"%s\": its independent joints do not determine the others in the initial "
		                 "configuration (a dead center); choose other joints, or leave the choice to Calder",
		                 m->name);
	return error_set(error, CAL_ERR_MODEL,
	                 "embedded loop \"%s\": %d degrees of freedom are named as independent, but it has %d; name joints "
	                 "with %d in all, or none",
	                 m->name, m->dofs, mobility, mobility);
}

/* How many speeds stay free once those in t->frozen are held. */
static int mobility_beside(MechanismTrial *t) {
	const CalState state = {.q = t->q, .u = t->u};
	const CalProjectionOptions options = {.held = t->frozen};
	return cal_projection_update(t->projection, &state, &options, t->work) == CAL_OK
	           ? cal_projection_count(t->projection)
	           : -1;
}

static void hold_joint(const Body *body, MechanismTrial *t, uint8_t held) {
	for (int k = 0; k < body->nu; ++k)
		t->frozen[body->u + k] = held;
}

/* The body whose joint is next in the list of known ones after `last`, -1: none; angles and lengths only. */
static int next_known(const Mechanism *m, const MechanismTrial *t, int last) {
	int next = -1;
	for (int b = 0; b < m->model->body_count; ++b) {
		const Body *body = &m->model->bodies[b];
		if (t->known[b] > last && body->nq == body->nu && (next < 0 || t->known[b] < t->known[next]))
			next = b;
	}
	return next;
}

/* Known joints as far as each adds to what is determined, the rest by rank; the choice is in t->frozen. */
static void choose_by_rank(const Mechanism *m, MechanismTrial *t, int mobility) {
	int left = mobility;
	memset(t->frozen, 0, (size_t)m->model->nu);
	for (int b = next_known(m, t, 0); b >= 0 && left > 0; b = next_known(m, t, t->known[b])) {
		const Body *body = &m->model->bodies[b];
		hold_joint(body, t, 1);
		if (mobility_beside(t) == left - body->nu)
			left -= body->nu;
		else
			hold_joint(body, t, 0);
	}
	mobility_beside(t);
	for (int k = 0; k < m->model->nu; ++k)
		t->frozen[k] = t->frozen[k] || cal_projection_independent(t->projection)[k];
}

static CalStatus choose_coordinates(const Embedding *e, const Mechanism *m, MechanismTrial *t, CalError *error) {
	const CalState state = {.q = t->q, .u = t->u};
	memset(t->frozen, 0, (size_t)m->model->nu);
	const int mobility = mobility_beside(t);
	if (mobility == 0)
		return error_set(error, CAL_ERR_MODEL,
		                 "embedded loop \"%s\": its bodies cannot move; weld them instead, or do not embed it",
		                 m->name);
	if (m->dofs > 0)
		memcpy(t->frozen, m->independent, (size_t)m->model->nu);
	else
		choose_by_rank(m, t, mobility);
	const CalProjectionOptions options = {.independent = t->frozen};
	const CalStatus status = cal_projection_update(t->projection, &state, &options, t->work);
	return status == CAL_OK ? keep_choice(e, m, t->frozen, error) : refuse_choice(m, mobility, status, error);
}

static void keep_reference(const Embedding *e, const Mechanism *m, const double *q) {
	for (int b = 0; b < m->model->body_count; ++b) {
		const Body *body = &m->model->bodies[b];
		memcpy(joint_named(e->desc, body->joint)->embedding.q, q + body->q, sizeof *q * (size_t)body->nq);
	}
}

static CalStatus try_mechanism(const Embedding *e, const CalEmbedDef *def, const Mechanism *m, MechanismTrial *t,
                               CalError *error) {
	load_guesses(e, def, m, t);
	CalStatus status = close_mechanism(m, t, error);
	if (status == CAL_OK)
		status = choose_coordinates(e, m, t, error);
	if (status == CAL_OK)
		keep_reference(e, m, t->q);
	return status;
}

/* Compiles the mechanism and finds its reference configuration. */
static CalStatus embed_mechanism(const Embedding *e, const CalEmbedDef *def, int id, CalError *error) {
	const CalAllocator *allocator = &e->desc->allocator;
	Mechanism *m = NULL;
	MechanismTrial t = {0};
	CalStatus status = mechanism_create(e->desc, id, allocator, &m, error);
	if (status != CAL_OK)
		return status;
	const size_t nq = (size_t)m->model->nq, nu = (size_t)m->model->nu;
	const size_t bodies = (size_t)m->model->body_count;
	t.q = memory_alloc(allocator, (nq + nu + 1) * sizeof *t.q + bodies * sizeof *t.known + nu);
	status = t.q ? cal_work_create(m->model, &t.work) : CAL_ERR_MEMORY;
	if (status == CAL_OK)
		status = cal_projection_create(m->model, &t.projection);
	if (status == CAL_OK) {
		t.u = t.q + nq;
		t.known = (int *)(void *)(t.u + nu + 1);
		t.frozen = (uint8_t *)(void *)(t.known + bodies);
		memset(t.u, 0, nu * sizeof *t.u);
		status = try_mechanism(e, def, m, &t, error);
	} else {
		error_set(error, status, "embedded loop \"%s\": %s", m->name, cal_status_text(status));
	}
	cal_projection_destroy(t.projection);
	cal_work_destroy(t.work);
	memory_free(allocator, t.q);
	mechanism_destroy(m);
	return status;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static CalStatus mark_independent(Embedding *e, const CalEmbedDef *def, CalError *error) {
	for (int i = 0; i < def->independent_count + def->guess_count; ++i) {
		const int guess = i - def->independent_count;
		const uint32_t id = guess < 0 ? def->independent[i].value : def->guesses[guess].joint.value;
		if (!id || id > (uint32_t)e->desc->joint_count || (guess >= 0 && !def->guesses[guess].q))
			return error_set(error, CAL_ERR_ARGUMENT,
			                 "cal_desc_embed: the description has no joint with id %u, or its guess is missing",
			                 (unsigned)id);
		DescEmbedding *at = &e->desc->joints[id - 1].embedding;
		if (guess < 0 && at->mechanism < e->first)
			return embed_refuse_joint(&e->desc->joints[id - 1], error,
			                          "it is not part of a loop that is embedded, so that it cannot be independent "
			                          "there; embed its loop, or do not name it");
		at->independent = at->independent || guess < 0;
	}
	return CAL_OK;
}

static void unmark(Embedding *e) {
	for (int l = 0; l < e->desc->loop_count; ++l)
		e->desc->loops[l].mechanism = e->desc->loops[l].mechanism >= e->first ? 0 : e->desc->loops[l].mechanism;
	for (int j = 0; j < e->desc->joint_count; ++j) {
		if (e->desc->joints[j].embedding.mechanism >= e->first)
			e->desc->joints[j].embedding = (DescEmbedding){0};
	}
}

static CalStatus embed_marked(Embedding *e, const CalEmbedDef *def, CalError *error) {
	CalStatus status = mark_loops(e, def, error);
	if (status == CAL_OK)
		status = mark_independent(e, def, error);
	if (status == CAL_OK)
		status = embed_check(e, error);
	for (int id = e->first; id < e->first + def->loop_count && status == CAL_OK; ++id) {
		int used = 0;
		for (int l = 0; l < e->desc->loop_count; ++l)
			used |= e->desc->loops[l].mechanism == id;
		if (used)
			status = embed_mechanism(e, def, id, error);
	}
	return status;
}

static int next_mechanism(const CalDesc *desc) {
	int most = 0;
	for (int l = 0; l < desc->loop_count; ++l)
		most = desc->loops[l].mechanism > most ? desc->loops[l].mechanism : most;
	return most + 1;
}

CalStatus cal_desc_embed(CalDesc *desc, const CalEmbedDef *def, CalError *error) {
	if (!desc || !def || def->loop_count < 0 || (def->loop_count > 0 && !def->loops) || def->independent_count < 0 ||
	    (def->independent_count > 0 && !def->independent) || def->guess_count < 0 ||
	    (def->guess_count > 0 && !def->guesses))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_desc_embed: give a description and the lists of its definition");
	if (def->loop_count == 0 && def->independent_count == 0)
		return CAL_OK;
	const size_t count = (size_t)desc->body_count + 1;
	int *lists = memory_alloc(&desc->allocator, 2 * count * sizeof *lists);
	if (!lists)
		return error_set(error, CAL_ERR_MEMORY, "cal_desc_embed: %s", cal_status_text(CAL_ERR_MEMORY));
	memset(lists, 0, 2 * count * sizeof *lists);
	Embedding e = {.desc = desc, .joint = lists, .depth = lists + count, .first = next_mechanism(desc)};
	CalStatus status = find_tree(&e) ? embed_marked(&e, def, error)
	                                 : error_set(error, CAL_ERR_MODEL,
	                                             "cal_desc_embed: a body has no joint or carries itself; attach all "
	                                             "bodies before loops are embedded (calder check says which)");
	if (status == CAL_OK)
		desc->mechanisms = &mechanism_functions;
	else
		unmark(&e);
	memory_free(&desc->allocator, lists);
	return status;
}
