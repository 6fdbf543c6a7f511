// SPDX-License-Identifier: Apache-2.0
/*
 * law.c — Hunt and Crossley's normal force, smooth Coulomb friction, and how two materials make a pair.
 *
 * Normal force N = k d^n max(0, 1 + lambda v), lambda = 3/2 c. A free impact from v to -e v has, for any k, n and mass,
 *   lambda v (1 + e) = log((1 + lambda v) / (1 - e lambda v)),
 * which follows from m v dv/dd = -k d^n (1 + lambda v) by separating v and d. To first order e = 1 - c v.
 *
 * Pairs: the two surfaces are springs in series. A force N presses side i by (N/k_i)^(1/n), so the compliances
 * k_i^(-1/n) add up, and likewise 1/E_i; c is their mean weighted by compliance. Only square roots where n is 1, 3/2
 * or 2, so that machines agree to the last bit.
 */
#include "contact/law.h"

#include "math/portable.h"

static double power(double x, double n) {
	if (n == 1.5)
		return x * sqrt(x);
	if (n == 1)
		return x;
	return n == 2 ? x * x : portable_pow(x, n);
}

static double weighted(double ca, double sa, double cb, double sb) {
	return sa + sb > 0 ? (ca * sa + cb * sb) / (sa + sb) : 0;
}

/* k^(-1/n): 0 for a rigid side, INFINITY for one whose stiffness is not known. */
double material_compliance(const CalContactMaterial *m) {
	return m->exponent == 1 ? 1 / m->stiffness : portable_pow(m->stiffness, -1 / m->exponent);
}

PairLaw law_combine(const Shape *sa, const Shape *sb) {
	const CalContactMaterial *a = &sa->material, *b = &sb->material;
	const double pa = 1 / a->modulus, pb = 1 / b->modulus; // INFINITY: not known
	PairLaw law = {.exponent = sa->compliance > 0 && isfinite(sa->compliance) ? a->exponent : b->exponent,
	               .mu_static = sqrt(a->friction_static * b->friction_static),
	               .mu_dynamic = sqrt(a->friction_dynamic * b->friction_dynamic),
	               .transition = fmax(a->transition_speed, b->transition_speed),
	               .stribeck = fmax(a->stribeck_speed, b->stribeck_speed),
	               .torsion = fmax(a->torsion_radius, b->torsion_radius)};
	if (isfinite(sa->compliance + sb->compliance)) {
		law.stiffness = 1 / power(sa->compliance + sb->compliance, law.exponent);
		law.dissipation = weighted(a->dissipation, sa->compliance, b->dissipation, sb->compliance);
	}
	if (isfinite(pa + pb)) {
		law.modulus = 1 / (pa + pb);
		law.hertz_dissipation = weighted(a->dissipation, pa, b->dissipation, pb);
	}
	return law;
}

PointForce law_evaluate(const PairLaw *law, double weight, double depth, double radius, double speed, double slip,
                        double spin) {
	const bool hertz = law->modulus > 0 && radius > 0;
	const double n = hertz ? 1.5 : law->exponent;
	const double k = weight * (hertz ? 4.0 / 3 * law->modulus * sqrt(radius) : law->stiffness);
	const double c = hertz ? law->hertz_dissipation : law->dissipation;
	const double elastic = k * power(depth, n);
	PointForce f = {.stored = elastic * depth / (n + 1)};
	f.normal = elastic * fmax(0, 1 + 1.5 * c * speed);
	f.dissipated = (f.normal - elastic) * speed;
	const double x = slip / law->stribeck;
	const double mu = law->mu_dynamic + (law->mu_static - law->mu_dynamic) / (1 + x * x);
	f.friction = mu * f.normal / sqrt(slip * slip + law->transition * law->transition);
	const double rim = law->torsion * spin;
	f.torsion =
		law->mu_dynamic * f.normal * law->torsion * law->torsion / sqrt(rim * rim + law->transition * law->transition);
	return f;
}

/* ---- restitution ------------------------------------------------------------------------------- */

/*
 * log((1 + x) / (1 - e x)) - x (1 + e), of which e is a root for x = lambda v. Near 0 the logarithms cancel: the
 * difference is then taken from the series of log(1 + y) - y.
 */
static double log_rest(double y) { // log(1 + y) - y
	if (fabs(y) > 0.05)
		return portable_log1p(y) - y;
	double sum = 0, term = -y;
	for (int k = 2; k <= 14; k++) {
		term *= -y; // (-1)^k y^k
		sum -= term / k;
	}
	return sum;
}

static double impact_rest(double x, double e) { return log_rest(x) - log_rest(-e * x); }

double cal_contact_restitution(double dissipation, double speed) {
	const double x = 1.5 * dissipation * speed;
	if (!(x >= 0) || !isfinite(x))
		return NAN;
	if (x == 0)
		return 1;
	double low = 0, high = fmin(1, 1 / x); // the rest rises with e
	for (int i = 0; i < 200 && high - low > 1e-16 * high; i++) {
		const double e = 0.5 * (low + high);
		if (impact_rest(x, e) > 0)
			high = e;
		else
			low = e;
	}
	return 0.5 * (low + high);
}

double cal_contact_dissipation(double restitution, double speed) {
	if (!(restitution > 0) || !(restitution <= 1) || !(speed > 0) || !isfinite(speed))
		return NAN;
	if (restitution == 1)
		return 0;
	double low = 0, high = 1 / restitution; // lambda v; beyond it the ball would not leave
	for (int i = 0; i < 200 && high - low > 1e-16 * high; i++) {
		const double x = 0.5 * (low + high);
		if (impact_rest(x, restitution) > 0)
			high = x;
		else
			low = x;
	}
	return 0.5 * (low + high) / (1.5 * speed);
}

CalContactMaterial material_complete(const CalContactMaterial *material) {
	CalContactMaterial m = *material;
	if (m.exponent == 0)
		m.exponent = 1.5;
	if (m.restitution > 0)
		m.dissipation = cal_contact_dissipation(m.restitution, m.impact_speed);
	if (m.friction_static == 0)
		m.friction_static = m.friction_dynamic;
	if (m.transition_speed == 0)
		m.transition_speed = 1e-3;
	if (m.stribeck_speed == 0)
		m.stribeck_speed = 10 * m.transition_speed;
	return m;
}
