// SPDX-License-Identifier: Apache-2.0
/*
 * components.c — what a component costs the model that it is attached to, by the number of bodies inside: the claim of
 * Kasper and Vlasenko that a subsystem is seen through its interface only.
 *
 * A hub flies with a chain of hinged bars attached to it as a compiled subsystem (cal_subsystem_from_model). The time within
 * the functions of the subsystem is that of its inside; what is left of an evaluation is the hub, the ties and their
 * solution. The smallest time of many short runs counts, of each.
 */
#include <math.h>
#include <stdlib.h>

#include <calder/subsystem.h>

#include "papers.h"

enum { SIZES = 5, REPEATS = 50 };
static const int sizes[SIZES] = {1, 4, 16, 64, 256};

/* A subsystem whose functions are timed. */
typedef struct Timed {
	CalSubsystemDef of;
	double inside; // [s]
} Timed;

#define TIMED(call)                              \
	do {                                         \
		Timed *timed = self;                     \
		const double begin = wall_seconds();     \
		const int code = timed->of.ops->call;    \
		timed->inside += wall_seconds() - begin; \
		return code;                             \
	} while (0)

static int start(void *self, double t, const CalInterfaceNode *nodes, double *x) {
	TIMED(start(timed->of.self, t, nodes, x));
}
static int interface_motion(void *self, double t, const double *x, CalInterfaceNode *nodes) {
	TIMED(interface_motion(timed->of.self, t, x, nodes));
}
static int respond(void *self, double t, const double *x, double *Lambda, double *b) {
	TIMED(respond(timed->of.self, t, x, Lambda, b));
}
static int rates(void *self, double t, const double *x, const CalSpatial *wrench, double *xdot) {
	TIMED(rates(timed->of.self, t, x, wrench, xdot));
}

static const CalSubsystemOps timed_ops = {
	.type = "timed chain", .start = start, .interface_motion = interface_motion, .respond = respond, .rates = rates};

/* Bars, each hinged to the end of the one before, or to nothing: the first flies. */
static CalStatus add_chain(CalDesc *desc, int count, CalNodeId *first) {
	CalNodeId end = {0};
	CalStatus status = CAL_OK;
	for (int i = 0; i < count && status == CAL_OK; i++) {
		char name[32];
		CalBodyDef body = cal_body_def();
		CalJointDef joint = cal_joint_def(i ? CAL_JOINT_REVOLUTE : CAL_JOINT_FREE);
		CalNodeDef node = cal_node_def();
		CalBodyId id;
		snprintf(name, sizeof name, "bar%d", i);
		body.name = joint.name = name, body.mass = 1, body.com.x = 0.25;
		body.inertia = (CalMat3){{{0.001, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
		node.name = "end", node.placement.position.x = 0.5, node.placement.orientation = (CalQuat){0.8, 0.6, 0, 0};
		status = cal_desc_add_body(desc, &body, &id, NULL);
		const CalNodeId from = end, head = cal_desc_body_node(desc, id);
		if (status == CAL_OK)
			status = cal_desc_add_node(desc, id, &node, &end, NULL);
		if (status == CAL_OK)
			status = cal_desc_attach(desc, from, &joint, head, NULL, NULL);
		*first = i ? *first : head;
	}
	return status;
}

typedef struct Result {
	double inside, outside; // [s] per evaluation
} Result;

static CalStatus run_once(CalSim *sim, Timed *timed, int steps, Result *best, CalError *error) {
	const int64_t before = cal_sim_stats(sim).evaluations;
	const double begin = wall_seconds(), inside = timed->inside;
	const CalStatus status = cal_sim_advance(sim, cal_sim_time(sim) + 1e-3 * steps, error);
	const double count = (double)(cal_sim_stats(sim).evaluations - before);
	const double whole = (wall_seconds() - begin) / count, own = (timed->inside - inside) / count;
	if (status == CAL_OK)
		*best = (Result){fmin(best->inside, own), fmin(best->outside, whole - own)};
	return status;
}

static CalStatus measure(int bodies, int steps, Result *best, CalError *error) {
	CalDesc *hub = NULL, *chain = NULL;
	CalModel *inside = NULL;
	CalSim *sim = NULL;
	CalNodeId node = {0}, port = {0};
	Timed timed = {0};
	CalStatus status = cal_desc_create(NULL, &hub);
	if (status == CAL_OK)
		status = cal_desc_create(NULL, &chain);
	if (status == CAL_OK)
		status = add_chain(hub, 1, &port);
	if (status == CAL_OK)
		status = add_chain(chain, bodies, &node);
	if (status == CAL_OK)
		status = cal_model_compile(chain, NULL, &inside, error);
	const int interface_node = status == CAL_OK ? cal_model_node_index(inside, node) : 0;
	if (status == CAL_OK)
		status = cal_subsystem_from_model(inside, &interface_node, 1, &(CalModelSubsystemOptions){.fit = 1}, &timed.of,
		                                  error);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
	if (status == CAL_OK)
		status = cal_sim_create(hub, &options, &sim, error);
	CalSubsystemDef def = timed.of;
	def.ops = &timed_ops, def.self = &timed;
	const CalSubsystemTie tie = {.node = port, .joint = cal_loop_def(CAL_LOOP_WELD)};
	if (status == CAL_OK)
		status = cal_sim_add_subsystem(sim, "chain", &def, &tie, 1, NULL, error);
	*best = (Result){INFINITY, INFINITY};
	for (int i = 0; i < REPEATS && status == CAL_OK; i++)
		status = run_once(sim, &timed, steps, best, error);
	cal_sim_destroy(sim);
	if (timed.of.ops)
		timed.of.ops->destroy(timed.of.self);
	cal_model_destroy(inside);
	cal_desc_destroy(chain);
	cal_desc_destroy(hub);
	return status;
}

int write_components(const PaperJob *job) {
	FILE *out = paper_file(job, "components.md");
	if (!out)
		return 1;
	fprintf(out,
	        "| bodies in the component | evaluation [us] | inside [us] | outside [us] |\n| --- | --- | --- | --- |\n");
	for (int i = 0; i < SIZES; i++) {
		Result best;
		CalError error = {0};
		const CalStatus status = measure(sizes[i], job->scale == PAPER_QUICK ? 1 : 20, &best, &error);
		if (status != CAL_OK) {
			fclose(out);
			return paper_fail("components", status, &error);
		}
		fprintf(out, "| %d | %.2f | %.2f | %.2f |\n", sizes[i], 1e6 * (best.inside + best.outside), 1e6 * best.inside,
		        1e6 * best.outside);
	}
	fclose(out);
	return 0;
}
