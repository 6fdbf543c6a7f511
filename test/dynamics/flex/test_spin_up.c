// SPDX-License-Identifier: Apache-2.0
/*
 * test_spin_up.c — motion-induced stiffness: a beam that is spun up about its root past its first frequency
 * (Kane, Ryan and Banerjee 1987). With second-order shapes it lags, comes back and turns steadily; without them
 * it diverges.
 *
 * The reference is integrated here, from the closed-form modes of a cantilever: a point x of the axis is at
 * (x + eta'B eta, phi eta) in the turning frame, B = -1/2 int_0^x phi'phi'. It has two forms. The linear one, with
 * which benchmarks are tabulated, keeps what is linear in eta in the equations of motion: the centrifugal force on
 * the foreshortening is a stiffness. The other keeps all of it, as the body does. The body must agree with the full
 * form, the linear form with the tabulated digits, and the difference of the two must be terms of higher order: over
 * the deflection w it falls as (w/L)^2.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <calder/flex.h>
#include <calder/integrate.h>
#include "support/check.h"

static const double PI = 3.14159265358979323846;
static const double LENGTH = 10, MASS = 12, EI = 1.4e4, FINAL = 6; // [m], [kg], [N m^2], [rad/s]

/** 6 (t/T - sin(2 pi t/T)/(2 pi)) rad/s up to T, and its rate. */
static double spin_rate(double t, double T) { return t < T ? FINAL * (t / T - sin(2 * PI * t / T) / (2 * PI)) : FINAL; }
static double spin_acceleration(double t, double T) { return t < T ? FINAL / T * (1 - cos(2 * PI * t / T)) : 0; }

/* ---- reference ----------------------------------------------------------------------------------- */

enum { MODES = 5, POINTS = 201 }; // points for Simpson's rule, at every second node of a grid twice as fine

typedef struct Reference {
	int modes;
	bool linear;
	double T;                       // of the spin-up [s]
	double t, eta[MODES], v[MODES]; //
	double x[POINTS], mass[POINTS]; //
	double phi[POINTS][MODES];      //
	double B[POINTS][MODES][MODES]; //
	double K[MODES];                //
} Reference;

static const double beta_L[MODES] = {1.875104068711961, 4.694091132974175, 7.854757438237613, 10.99554073487547,
                                     14.13716839104647};

static double shape(int i, double x) {
	const double b = beta_L[i], s = (cosh(b) + cos(b)) / (sinh(b) + sin(b)), z = b * x / LENGTH;
	return cosh(z) - cos(z) - s * (sinh(z) - sin(z));
}

static double slope(int i, double x) {
	const double b = beta_L[i], s = (cosh(b) + cos(b)) / (sinh(b) + sin(b)), z = b * x / LENGTH;
	return b / LENGTH * (sinh(z) + sin(z) - s * (cosh(z) - cos(z)));
}

static Reference *reference_create(int modes, bool linear, double T) {
	Reference *r = test_alloc(1, sizeof *r);
	const double h = LENGTH / (POINTS - 1);
	r->modes = modes, r->linear = linear, r->T = T;
	for (int k = 0; k < POINTS; k++) {
		r->x[k] = k * h;
		r->mass[k] = MASS / LENGTH * h / 3 * (k == 0 || k == POINTS - 1 ? 1 : k % 2 ? 4 : 2);
		for (int i = 0; i < modes; i++) {
			r->phi[k][i] = shape(i, r->x[k]);
			for (int j = 0; k > 0 && j < modes; j++) {
				const double a = (k - 1) * h, m = a + h / 2, b = a + h;
				r->B[k][i][j] =
					r->B[k - 1][i][j] -
					h / 12 * (slope(i, a) * slope(j, a) + 4 * slope(i, m) * slope(j, m) + slope(i, b) * slope(j, b));
			}
		}
	}
	for (int i = 0; i < modes; i++) // int phi^2 = L
		r->K[i] = pow(beta_L[i] / LENGTH, 4) * EI * LENGTH;
	return r;
}

/** x = A^-1 x, A symmetric positive definite. */
static void solve(int n, double A[MODES][MODES], double *x) {
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++) {
			const double factor = A[j][i] / A[i][i];
			for (int k = i; k < n; k++)
				A[j][k] -= factor * A[i][k];
			x[j] -= factor * x[i];
		}
	for (int i = n - 1; i >= 0; i--) {
		for (int k = i + 1; k < n; k++)
			x[i] -= A[i][k] * x[k];
		x[i] /= A[i][i];
	}
}

/** One point: adds its inertia to A, minus the force that its motion needs to f. */
static void add_point(const Reference *r, int k, double w, double al, const double *eta, const double *v,
                      double A[MODES][MODES], double *f) {
	const double *phi = r->phi[k], m = r->mass[k];
	double gx[MODES] = {0}, x = r->x[k], y = 0, vx = 0, vy = 0, rest = 0;
	for (int i = 0; i < r->modes; i++) {
		double Bv = 0;
		for (int j = 0; j < r->modes; j++) {
			gx[i] += 2 * r->B[k][i][j] * eta[j];
			Bv += r->B[k][i][j] * v[j];
		}
		x += gx[i] * eta[i] / 2;
		y += phi[i] * eta[i];
		vx += gx[i] * v[i];
		vy += phi[i] * v[i];
		rest += 2 * Bv * v[i];
	}
	const double ax = r->linear ? -w * w * r->x[k] : rest - 2 * w * vy - al * y - w * w * x;
	const double ay = r->linear ? al * r->x[k] - w * w * y : 2 * w * vx + al * x - w * w * y;
	for (int i = 0; i < r->modes; i++) {
		f[i] -= m * (gx[i] * ax + phi[i] * ay);
		for (int j = 0; j < r->modes; j++)
			A[i][j] += m * (phi[i] * phi[j] + (r->linear ? 0 : gx[i] * gx[j]));
	}
}

static void reference_rate(const Reference *r, double t, const double *eta, const double *v, double *a) {
	double A[MODES][MODES] = {{0}};
	for (int i = 0; i < r->modes; i++)
		a[i] = -r->K[i] * eta[i];
	for (int k = 0; k < POINTS; k++)
		add_point(r, k, spin_rate(t, r->T), spin_acceleration(t, r->T), eta, v, A, a);
	solve(r->modes, A, a);
}

/** One step of the classical Runge-Kutta scheme. */
static void reference_step(Reference *r, double h) {
	static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
	double dv[MODES] = {0}, da[MODES] = {0}, sum_v[MODES] = {0}, sum_a[MODES] = {0};
	for (int s = 0; s < 4; s++) {
		double eta[MODES] = {0}, v[MODES] = {0};
		for (int i = 0; i < r->modes; i++) {
			eta[i] = r->eta[i] + h * node[s] * dv[i];
			v[i] = r->v[i] + h * node[s] * da[i];
		}
		memcpy(dv, v, sizeof dv);
		reference_rate(r, r->t + h * node[s], eta, v, da);
		for (int i = 0; i < r->modes; i++) {
			sum_v[i] += weight[s] * dv[i];
			sum_a[i] += weight[s] * da[i];
		}
	}
	for (int i = 0; i < r->modes; i++) {
		r->eta[i] += h * sum_v[i];
		r->v[i] += h * sum_a[i];
	}
	r->t += h;
}

/** Deflection of the tip at t. */
static double reference_at(Reference *r, double t, double step) {
	const int steps = (int)ceil((t - r->t) / step - 1e-9);
	const double h = steps > 0 ? (t - r->t) / steps : 0;
	double tip = 0;
	for (int s = 0; s < steps; s++)
		reference_step(r, h);
	for (int i = 0; i < r->modes; i++)
		tip += shape(i, LENGTH) * r->eta[i];
	return tip;
}

/* ---- the body ------------------------------------------------------------------------------------ */

typedef struct SpinUp {
	CalModel *model;
	CalWork *work;
	CalState state;
	CalIntegrator *integrator;
	double T; // [s]
	double udot[16];
} SpinUp;

static int spin(void *user, const CalModel *model, const CalState *state, CalInput *input) {
	(void)model;
	SpinUp *s = user;
	s->udot[0] = spin_acceleration(state->t, s->T);
	input->udot = s->udot;
	return 0;
}

/** The body "beam" of desc on a hub that turns about an axis. */
static SpinUp *spin_up_start(CalDesc *desc, CalVec3 axis, double T) {
	SpinUp *s = test_alloc(1, sizeof *s);
	CalError error = {0};
	CalJointDef hub = cal_joint_def(CAL_JOINT_REVOLUTE);
	hub.name = "hub", hub.dof[0].prescribed = 1, hub.axis = axis;
	check_ok(0, cal_desc_attach(desc, (CalNodeId){0}, &hub, cal_desc_find_node(desc, "beam/root"), NULL, &error));
	check_ok(0, cal_model_compile(desc, NULL, &s->model, &error));
	cal_desc_destroy(desc);
	s->T = T;
	check_ok(0, cal_state_create(s->model, &s->state));
	check_ok(0, cal_work_create(s->model, &s->work));
	const CalIntegratorOptions options = {
		.method = CAL_METHOD_DOPRI5, .rtol = 1e-9, .atol = 1e-11, .input = spin, .user = s};
	check_ok(0, cal_integrator_create(s->model, s->work, &options, &s->integrator));
	return s;
}

/** A lattice whose three ribs bend as the beam, across the plane in which it turns. */
static SpinUp *panel_create(int modes, int second_order) {
	CalDesc *desc;
	CalError error = {0};
	CalPanelDef def = cal_panel_def();
	def.name = "beam", def.length = LENGTH, def.width = 1, def.cells_x = 24, def.cells_y = 2;
	def.rib_x = (CalSection){.EA = 1e7, .EIy = EI / 3, .EIz = EI, .GJ = 1e4, .rhoA = MASS / LENGTH / 3};
	def.rib_y = (CalSection){.EA = 1e7, .EIy = EI, .EIz = EI, .GJ = 1e4};
	def.choice.modes = modes, def.second_order = second_order;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_panel_add(desc, &def, NULL, &error));
	return spin_up_start(desc, (CalVec3){0, -1, 0}, 15);
}

static SpinUp *spin_up_create(int modes, int second_order, double T) {
	CalDesc *desc;
	CalError error = {0};
	CalBodyId beam;
	CalBeamDef def = cal_beam_def();
	def.name = "beam", def.length = LENGTH, def.deformation = CAL_BEAM_BEND_Y;
	def.root = (CalSection){.shape = CAL_SECTION_DIRECT,
	                        .EA = 2.8e7,
	                        .EIy = EI,
	                        .EIz = EI,
	                        .GJ = 1e4,
	                        .rhoA = MASS / LENGTH,
	                        .rhoIy = 6e-4,
	                        .rhoIz = 6e-4};
	def.choice.modes = modes, def.second_order = second_order;
	check_ok(0, cal_desc_create(NULL, &desc));
	check_ok(0, cal_beam_add(desc, &def, &beam, &error));
	return spin_up_start(desc, (CalVec3){0, 0, 1}, T);
}

static void spin_up_destroy(SpinUp *s) {
	cal_integrator_destroy(s->integrator);
	cal_work_destroy(s->work);
	cal_state_destroy(&s->state);
	cal_model_destroy(s->model);
	free(s);
}

/* Deflection of the tip in the turning frame at time t, along an axis of the body. */
static double tip_along(SpinUp *s, double t, int axis) {
	check_ok(0, cal_integrator_advance(s->integrator, &s->state, t));
	check_ok(0, cal_kinematics(s->model, &s->state, NULL, s->work));
	CalPose root, tip;
	check_ok(0, cal_node_pose(s->model, s->work, cal_model_find_node(s->model, "beam"), &root));
	check_ok(0, cal_node_pose(s->model, s->work, cal_model_find_node(s->model, "beam/tip"), &tip));
	return root.R.m[0][axis] * tip.r.x + root.R.m[1][axis] * tip.r.y + root.R.m[2][axis] * tip.r.z;
}

static double tip_at(SpinUp *s, double t) { return tip_along(s, t, 1); }

/* ---- what is shown ------------------------------------------------------------------------------- */

static const double STEP = 0.005; // of the reference [s]: 1.08 rad of the fifth mode

static void check_tip(double t, double got, double want, double tolerance) {
	if (!(fabs(got - want) <= tolerance))
		fail_msg("at %g s the tip is at %.9f m, not at %.9f m (%.1e)", t, got, want, tolerance);
}

static void all_terms_are_kept(void **state) {
	(void)state;
	static const double at[] = {5, 6.76, 7.5, 10, 15, 20};
	SpinUp *s = spin_up_create(5, 1, 15);
	Reference *full = reference_create(5, false, 15);
	for (int i = 0; i < 6; i++)
		check_tip(at[i], tip_at(s, at[i]), reference_at(full, at[i], STEP), 2e-9);
	for (double t = 20.5; t < 30; t += 0.5)
		assert_true(fabs(tip_at(s, t)) < 0.01); // turns steadily
	free(full);
	spin_up_destroy(s);
}

/* The digits of the catalogue of benchmarks. */
static void linear_form_has_the_tabulated_digits(void **state) {
	(void)state;
	static const int modes[] = {1, 3, 5};
	static const double least[] = {-0.5783, -0.57444, -0.57438}, digit[] = {5e-5, 5e-6, 5e-6};
	static const double at[] = {7.5, 10, 15}, tip[] = {-0.55953, -0.36284, 0.0013}, unit[] = {5e-6, 5e-6, 5e-5};
	for (int k = 0; k < 3; k++) {
		Reference *linear = reference_create(modes[k], true, 15);
		double deepest = 0;
		const double early = reference_at(linear, 5, STEP);
		for (double t = 6.7; t < 6.83; t += 0.01)
			deepest = fmin(deepest, reference_at(linear, t, STEP));
		check_tip(6.76, deepest, least[k], digit[k]);
		for (int i = 0; modes[k] == 5 && i < 3; i++)
			check_tip(at[i], reference_at(linear, at[i], STEP), tip[i], unit[i]);
		if (modes[k] == 5)
			check_tip(5, early, -0.46878, 5e-6);
		free(linear);
	}
}

/** Largest difference between the body and the linear reference over the largest deflection. */
static double nonlinear_part(double T) {
	SpinUp *s = spin_up_create(2, 1, T);
	Reference *linear = reference_create(2, true, T);
	double largest = 0, difference = 0;
	for (int i = 1; i <= 10; i++) {
		const double w = reference_at(linear, i * T / 10, 4 * STEP);
		largest = fmax(largest, fabs(w));
		difference = fmax(difference, fabs(tip_at(s, i * T / 10) - w));
	}
	free(linear);
	spin_up_destroy(s);
	return difference / largest;
}

/* Half the acceleration, half the deflection: terms of order (w/L)^2 are a quarter. */
static void difference_to_the_linear_form_is_quadratic(void **state) {
	(void)state;
	double last = nonlinear_part(15);
	assert_true(last > 0.002 && last < 0.003);
	for (double T = 30; T <= 60; T *= 2) {
		const double now = nonlinear_part(T);
		if (!(last / now > 3.5 && last / now < 4.5))
			fail_msg("spin-up in %g s: %.3g of the deflection, after %.3g at twice the deflection", T, now, last);
		last = now;
	}
}

static void without_second_order_shapes_it_diverges(void **state) {
	(void)state;
	SpinUp *s = spin_up_create(3, 0, 15);
	assert_true(fabs(tip_at(s, 7.5) - -1.46) < 0.01);
	assert_true(fabs(tip_at(s, 10) - -72) < 1);
	spin_up_destroy(s);
}

/*
 * The modal equations of a driven panel are linear in the deflection: the tabulated digits, to the size of its cells.
 */
static void panel_spins_up_as_the_beam(void **state) {
	(void)state;
	static const double at[] = {5, 7.5, 10, 15}, tip[] = {-0.46878, -0.55953, -0.36284, 0.0013};
	SpinUp *s = panel_create(6, 1), *loose = panel_create(6, 0);
	for (int i = 0; i < 4; i++) {
		const double got = tip_along(s, at[i], 2);
		print_message("panel at %g s: %.5f m, beam %.5f m\n", at[i], got, tip[i]);
		check_tip(at[i], got, tip[i], 1e-3);
	}
	assert_true(fabs(tip_along(loose, 10, 2)) > 10); // diverges
	spin_up_destroy(s);
	spin_up_destroy(loose);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_terms_are_kept),
		cmocka_unit_test(linear_form_has_the_tabulated_digits),
		cmocka_unit_test(difference_to_the_linear_form_is_quadratic),
		cmocka_unit_test(without_second_order_shapes_it_diverges),
		cmocka_unit_test(panel_spins_up_as_the_beam),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
