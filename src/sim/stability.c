// SPDX-License-Identifier: Apache-2.0
/*
 * stability.c — whether a fixed step is beyond what is stable, and because of what.
 *
 * With y = (delta, u, x) and y' = f(y) as the method evaluates it (what implicit methods take implicitly adds to the inertia
 * and is no function of y), the largest |lambda| of A = df/dy is found by the power method. A is applied by differences,
 * A z = (f(y + e z) - f(y))/e, and twice in each turn: of an oscillation A^2 z = -w^2 z, while A z turns by a right angle.
 * Steps are unstable for h |lambda| > limit, where the limit is that of an undamped oscillation, q'' = -w^2 q, or of decay if
 * A^2 z has the direction of z; both are the method's (CalMethodInfo).
 * The cause is the device without which the same A^2 z is smallest, if that makes a difference; else the degree of freedom
 * that moves most.
 *
 * It is the present state that is looked at: a contact that is not touching has no stiffness. Observers' workspaces are
 * used, states are put back bit by bit, and what is computed has no effect on the run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "sim/sim_internal.h"

static const double margin = 1.05;         // beyond the limit, so that it is known to be exceeded
static const double same_direction = 0.99; // cosine of a direction and its image above which it is an eigenvector
static const double agreement = 0.02;      // of two turns in a row that ends the iteration
static const double perturbation = 1e-7;   // of the largest speed, at least of 1
enum { MOST_TURNS = 30 };

/* Numbers of y and their rates; delta[nu], u[nu], x[nx] one after another. */
typedef struct Probe {
	CalSim *sim;
	int nu, nx;        // nx without the accounts
	double *z;         // direction
	double *rate;      // f(y)
	double *image;     // A z
	double *kept;      // the direction that was found; before, three in a row
	double implicit_h; // of cal_implicit_dynamics; 0: explicit
	double e;          // size of differences
} Probe;

static Probe probe_of(CalSim *sim) {
	const SimSystem *w = &sim->system;
	const int nx = w->nx - ACCOUNTS, n = 2 * w->nu + nx;
	Probe p = {.sim = sim, .nu = w->nu, .nx = nx, .z = w->probe, .rate = w->probe + n, .e = perturbation};
	p.image = p.rate + n;
	p.kept = p.image + n;
	p.implicit_h = cal_method_info(sim->method.method)->implicit_share * sim->method.step;
	for (int i = 0; i < w->nu; i++)
		p.e = fmax(p.e, perturbation * fabs(w->before.u[i]));
	return p;
}

static int size_of(const Probe *p) { return 2 * p->nu + p->nx; }

/* ---- rates --------------------------------------------------------------------------------------- */

/* start: the group's state that differences are taken from. What is implicit is that of it, whatever the difference. */
static CalStatus group_rate(const Probe *p, SimGroup *g, const CalState *start, const CalInput *input, double *udot) {
	if (g->motion) {
		memset(udot, 0, (size_t)g->model->nu * sizeof *udot);
		return CAL_OK;
	}
	if (p->implicit_h > 0)
		return cal_implicit_dynamics(g->model, &g->state, start, input, p->implicit_h, g->view_work, udot);
	CalSystemForm *const *forms = p->sim->formulation.forms;
	if (forms)
		return cal_system_form_dynamics(forms[g - p->sim->groups], &g->state, input, g->view_work, udot, NULL);
	return cal_forward_dynamics(g->model, &g->state, input, g->view_work, udot);
}

/* f at the present states. */
static CalStatus evaluate(const Probe *p, double *rate) {
	CalSim *sim = p->sim;
	CalEvalContext context;
	CalStatus status = sim_evaluate_for_observers(sim, true, &context);
	double *delta_rate = rate, *udot = rate + p->nu;
	CalState start = sim->system.before;
	for (int i = 0; i < sim->group_count && status == CAL_OK; i++) {
		SimGroup *g = &sim->groups[i];
		const int nu = g->model->nu;
		for (int k = 0; k < nu; k++)
			delta_rate[k] = g->motion ? 0 : g->state.u[k];
		status = group_rate(p, g, &start, &sim->system.inputs[i], udot);
		delta_rate += nu;
		udot += nu;
		start.q += g->model->nq;
		start.u += nu;
	}
	if (p->nx > 0)
		memcpy(udot, sim->system.xdot, (size_t)p->nx * sizeof *udot);
	return status;
}

/* Groups and devices at y + e z, from system.before; image is scratch. */
static void displace(const Probe *p, double e) {
	CalSim *sim = p->sim;
	const SimSystem *w = &sim->system;
	int q = 0, u = 0;
	for (int i = 0; i < size_of(p); i++)
		p->image[i] = e * p->z[i];
	for (int i = 0; i < sim->group_count; i++) {
		SimGroup *g = &sim->groups[i];
		const double *du = p->image + p->nu + u;
		if (!g->motion) {
			cal_config_integrate(g->model, w->before.q + q, p->image + u, g->state.q);
			for (int k = 0; k < g->model->nu; k++)
				g->state.u[k] = w->before.u[u + k] + du[k];
		}
		q += g->model->nq;
		u += g->model->nu;
	}
	for (int i = 0; i < sim->device_count; i++)
		for (int k = 0; k < sim->devices[i].def.nx; k++)
			sim->devices[i].x[k] =
				w->before.x[sim->devices[i].x_at + k] + p->image[2 * p->nu + sim->devices[i].x_at + k];
}

/* image = A z, with z of largest number 1. */
static CalStatus apply_jacobian(const Probe *p) {
	displace(p, p->e);
	const CalStatus status = evaluate(p, p->image);
	for (int i = 0; i < size_of(p) && status == CAL_OK; i++)
		p->image[i] = (p->image[i] - p->rate[i]) / p->e;
	return status;
}

/* ---- the power method ---------------------------------------------------------------------------- */

/* image to z, with a largest number of 1; returns what that was. */
static double normalize(const Probe *p) {
	double largest = 0;
	for (int i = 0; i < size_of(p); i++)
		largest = fmax(largest, fabs(p->image[i]));
	for (int i = 0; i < size_of(p); i++)
		p->z[i] = largest > 0 ? p->image[i] / largest : 0;
	return largest;
}

static double norm_of(const Probe *p, const double *z) {
	double sum = 0;
	for (int i = 0; i < size_of(p); i++)
		sum += z[i] * z[i];
	return sqrt(sum);
}

/* |A A z| / |z|; z becomes the image. Not finite: it is unknown. */
static double power_iteration(const Probe *p) {
	double growth = 1 / norm_of(p, p->z);
	for (int k = 0; k < 2; k++) {
		if (apply_jacobian(p) != CAL_OK)
			return NAN;
		const double largest = normalize(p);
		if (!(largest > 0) || !isfinite(largest))
			return largest > 0 ? NAN : 0;
		growth *= largest;
	}
	return growth * norm_of(p, p->z);
}

/* Numbers between -1 and 1 that no symmetry of a model is blind to; the same in every run. */
static void fill_start(const Probe *p) {
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < size_of(p); i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		p->image[i] = (double)(x >> 11) * 0x1p-52 - 1;
	}
	normalize(p);
}

static double inner(const Probe *p, const double *a, const double *b) {
	double sum = 0;
	for (int i = 0; i < size_of(p); i++)
		sum += a[i] * b[i];
	return sum;
}

/*
 * |mu| of the largest eigenvalues of B = A^2 by three directions in a row, v1 = B v0 and v2 = B v1, all of length one here
 * with the growths g1 and g2: v2 - a v1 + b v0 = 0 in the sense of least squares, mu the roots of mu^2 - a mu + b. A pair of
 * complex ones makes directions turn without end, but not the roots.
 */
static double largest_root(const Probe *p, const double *v0, const double *v1, const double *v2, double g1, double g2) {
	const double c01 = inner(p, v0, v1), c02 = inner(p, v0, v2), c12 = inner(p, v1, v2), det = 1 - c01 * c01;
	if (!(det > 1e-8))
		return g2;
	const double a = g2 * (c12 - c01 * c02) / det, b = g1 * g2 * (c01 * c12 - c02) / det, half = 0.5 * a;
	const double disc = half * half - b;
	return disc < 0 ? sqrt(b) : fabs(half) + sqrt(disc);
}

/* Copies the direction, with length one. */
static void copy_normalized(const Probe *p, double *to) {
	const double length = norm_of(p, p->z);
	for (int i = 0; i < size_of(p); i++)
		to[i] = p->z[i] / length;
}

/* The largest |lambda| [1/s], or 0 if it is unknown. *decays: it is a real number. */
static double largest_rate(const Probe *p, bool *decays) {
	double *v0 = p->kept, *v1 = p->kept + size_of(p), *v2 = p->kept + 2 * (ptrdiff_t)size_of(p);
	double growth = 0, last = 0, root = 0;
	fill_start(p);
	copy_normalized(p, v1);
	for (int i = 0; i < MOST_TURNS; i++) {
		const double next = power_iteration(p);
		if (!(next > 0) || !isfinite(next))
			return 0;
		copy_normalized(p, v2);
		last = root;
		root = i > 0 ? largest_root(p, v0, v1, v2, growth, next) : next;
		growth = next;
		*decays = inner(p, v1, v2) > same_direction;
		if (i > 3 && fabs(root - last) <= agreement * root)
			return sqrt(root);
		double *oldest = v0;
		v0 = v1, v1 = v2, v2 = oldest;
	}
	return fabs(root - last) <= 10 * agreement * root ? sqrt(root) : 0;
}

/* ---- the cause ----------------------------------------------------------------------------------- */

/* Groups and devices as they were. */
static void restore_states(CalSim *sim) {
	const SimSystem *w = &sim->system;
	memcpy(w->now.q, w->before.q, (size_t)w->nq * sizeof(double));
	memcpy(w->now.u, w->before.u, (size_t)w->nu * sizeof(double));
	memcpy(w->now.x, w->before.x, (size_t)w->nx * sizeof(double));
	sim_scatter(sim);
}

/* Growth in one turn of the direction that was found. */
static double growth_of_kept(const Probe *p) {
	memcpy(p->z, p->kept, (size_t)size_of(p) * sizeof *p->z);
	restore_states(p->sim);
	return evaluate(p, p->rate) == CAL_OK ? power_iteration(p) : NAN;
}

/* Stiffness is the same for differences of any size. A jump is not: it is no matter of stability. */
static bool is_smooth(const Probe *p) {
	Probe larger = *p;
	larger.e *= 10;
	const double growth = growth_of_kept(p), other = growth_of_kept(&larger);
	return other > 0.5 * growth && growth > 0.5 * other;
}

/* The device without which the direction grows least, -1: none makes much of a difference. */
static int find_device(const Probe *p) {
	CalSim *sim = p->sim;
	double least = 0.5 * growth_of_kept(p);
	int cause = -1;
	for (int i = 0; i < sim->device_count; i++) {
		if (!sim->devices[i].active)
			continue;
		sim->devices[i].active = false;
		const double growth = growth_of_kept(p);
		sim->devices[i].active = true;
		if (growth < least) {
			least = growth;
			cause = i;
		}
	}
	return cause;
}

const CalModel *sim_model_of_dof(const CalSim *sim, int u, int *own) {
	*own = u;
	for (int i = 0; i < sim->group_count; i++) {
		const CalModel *model = sim->groups[i].model;
		if (*own < model->nu)
			return model;
		*own -= model->nu;
	}
	return NULL;
}

void sim_name_dof(const CalSim *sim, int u, char *text, size_t size) {
	int own;
	const CalModel *model = sim_model_of_dof(sim, u, &own);
	if (!model)
		return;
	const Body *body = &model->bodies[model->dofs[own].body];
	const int mode = own - body->u - body->nu;
	char name[64] = "";
	cal_model_dof_name(model, own, name, sizeof name);
	if (mode < 0)
		snprintf(text, size, "joint \"%.60s\"", name);
	else
		snprintf(text, size, "mode %d of body \"%.60s\"", mode + 1, body->name);
}

/* The joint or mode that moves most. */
static void name_body(const Probe *p, char *text, size_t size) {
	int most = 0;
	for (int k = 1; k < p->nu; k++)
		most = fabs(p->kept[k]) > fabs(p->kept[most]) ? k : most;
	sim_name_dof(p->sim, most, text, size);
}

/* ---- the doubt ----------------------------------------------------------------------------------- */

static double limit_of(const CalSim *sim, bool decays) {
	const CalMethodInfo *info = cal_method_info(sim->method.method);
	return decays ? info->real_limit : info->imaginary_limit;
}

static void add_stability_doubt(CalSim *sim, const char *object, double rate, double stable) {
	const double h = sim->method.step;
	doubts_note(&sim->doubts, CAL_DOUBT_STABILITY, object, cal_sim_time(sim), h, stable,
	            "a step of %g s is too large for %s: %s moves at %.4g rad/s at t = %.6g s, which is unstable above "
	            "%.3g s; take a smaller step, or the method %s",
	            h, cal_method_name(sim->method.method), object, rate, cal_sim_time(sim), stable,
	            cal_method_name(CAL_METHOD_DEFAULT));
}

static void note_cause(const Probe *p, double rate, double stable) {
	char object[96] = "";
	const int device = find_device(p);
	if (device >= 0)
		snprintf(object, sizeof object, "device \"%.80s\"", p->sim->devices[device].def.name);
	else
		name_body(p, object, sizeof object);
	add_stability_doubt(p->sim, object, rate, stable);
}

void stability_examine(CalSim *sim) {
	SimSystem *w = &sim->system;
	if (!method_is_fixed(sim->method.method) || w->nu == 0)
		return;
	sim_gather(sim);
	memcpy(w->before.q, w->now.q, (size_t)w->nq * sizeof(double));
	memcpy(w->before.u, w->now.u, (size_t)w->nu * sizeof(double));
	memcpy(w->before.x, w->now.x, (size_t)w->nx * sizeof(double));
	w->before.t = w->now.t;
	const Probe p = probe_of(sim);
	bool decays = false;
	const double rate = evaluate(&p, p.rate) == CAL_OK ? largest_rate(&p, &decays) : 0;
	const double stable = rate > 0 ? limit_of(sim, decays) / rate : INFINITY;
	memcpy(p.kept, p.z, (size_t)size_of(&p) * sizeof *p.z);
	if (sim->method.step > margin * stable && is_smooth(&p))
		note_cause(&p, rate, stable);
	restore_states(sim);
}
