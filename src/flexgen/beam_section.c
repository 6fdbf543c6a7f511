// SPDX-License-Identifier: Apache-2.0
/*
 * beam_section.c — stiffness and mass per length of circles, tubes and boxes.
 *
 * Torsion: polar moment of round sections, Saint-Venant's series of the solid rectangle, Bredt's formula of the
 * thin-walled box. Shear factors of round sections and solid rectangles after Cowper (1966); of a hollow box its
 * webs carry the shear. y is along the width, z along the height.
 */
#include <math.h>

#include "flexgen/beam.h"

static const double PI = 3.14159265358979323846;

/** e^-x for x >= 0 with arithmetic only: the same bits with every C library. */
static double exp_minus(double x) {
	if (x > 700) {
		return 0;
	}
	double y = x / 1024, sum = 1;
	for (int k = 10; k >= 1; k--) {
		sum = 1 - y / k * sum;
	}
	for (int k = 0; k < 10; k++) {
		sum *= sum;
	}
	return sum;
}

/** J of a solid rectangle: a b^3 (1/3 - 64/pi^5 b/a sum tanh(n pi a/2b)/n^5, n odd), a >= b. */
static double rectangle_torsion(double width, double height) {
	double a = fmax(width, height), b = fmin(width, height), sum = 0;
	for (int n = 19; n >= 1; n -= 2) {
		double e = exp_minus(n * PI * a / b);
		sum += (1 - e) / (1 + e) / ((double)n * n * n * n * n);
	}
	double pi5 = PI * PI * PI * PI * PI;
	return a * b * b * b * (1.0 / 3 - 64 / pi5 * b / a * sum);
}

/* Geometry: area, second moments, torsion constant, shear areas. */
typedef struct Shape {
	double A, Iy, Iz, J, Ay, Az;
} Shape;

static Shape round_shape(double outer, double inner, double nu) {
	double o2 = outer * outer, i2 = inner * inner, m2 = i2 / o2, q = (1 + m2) * (1 + m2);
	double A = PI / 4 * (outer - inner) * (outer + inner), I = A * (o2 + i2) / 16;
	double k = 6 * (1 + nu) * q / ((7 + 6 * nu) * q + (20 + 12 * nu) * m2);
	return (Shape){.A = A, .Iy = I, .Iz = I, .J = 2 * I, .Ay = k * A, .Az = k * A};
}

static Shape box_shape(double b, double h, double t, double nu) {
	if (t == 0) {
		double A = b * h, k = 10 * (1 + nu) / (12 + 11 * nu);
		return (Shape){A, A * h * h / 12, A * b * b / 12, rectangle_torsion(b, h), k * A, k * A};
	}
	double bi = b - 2 * t, hi = h - 2 * t, bm = b - t, hm = h - t;
	return (Shape){.A = b * h - bi * hi,
	               .Iy = (b * h * h * h - bi * hi * hi * hi) / 12,
	               .Iz = (h * b * b * b - hi * bi * bi * bi) / 12,
	               .J = 2 * t * bm * bm * hm * hm / (bm + hm),
	               .Ay = 2 * t * b,
	               .Az = 2 * t * h};
}

static Shape shape_of(const CalSection *s) {
	switch (s->shape) {
	case CAL_SECTION_TUBE:
		return round_shape(s->height, s->height - 2 * s->thickness, s->poissons_ratio);
	case CAL_SECTION_BOX:
		return box_shape(s->width, s->height, s->thickness, s->poissons_ratio);
	case CAL_SECTION_CIRCLE:
	case CAL_SECTION_DIRECT:
		break;
	}
	return round_shape(s->height, 0, s->poissons_ratio);
}

SectionValues section_values(const CalSection *s) {
	if (s->shape == CAL_SECTION_DIRECT) {
		return (SectionValues){s->EA, s->GJ, s->EIy, s->EIz, s->kGAy, s->kGAz, s->rhoA, s->rhoIy, s->rhoIz};
	}
	Shape g = shape_of(s);
	double E = s->youngs_modulus, G = E / (2 * (1 + s->poissons_ratio)), rho = s->density;
	return (SectionValues){.EA = E * g.A,
	                       .GJ = G * g.J,
	                       .EIy = E * g.Iy,
	                       .EIz = E * g.Iz,
	                       .kGAy = G * g.Ay,
	                       .kGAz = G * g.Az,
	                       .rhoA = rho * g.A,
	                       .rhoIy = rho * g.Iy,
	                       .rhoIz = rho * g.Iz};
}

const char *section_fault(const CalSection *s) {
	if (s->shape == CAL_SECTION_DIRECT) {
		const double values[] = {s->EA, s->GJ, s->EIy, s->EIz, s->kGAy, s->kGAz, s->rhoA, s->rhoIy, s->rhoIz};
		for (int i = 0; i < (int)(sizeof values / sizeof *values); i++) {
			if (!isfinite(values[i]) || values[i] < 0) {
				return "a stiffness or mass per length is negative or not finite";
			}
		}
		return NULL;
	}
	if (s->shape != CAL_SECTION_CIRCLE && s->shape != CAL_SECTION_TUBE && s->shape != CAL_SECTION_BOX) {
		return "the shape is none of CAL_SECTION_...";
	}
	if (!(s->height > 0) || !isfinite(s->height) || (s->shape == CAL_SECTION_BOX && !(s->width > 0))) {
		return "height (the diameter of round sections) and the width of a box must be positive";
	}
	double side = s->shape == CAL_SECTION_BOX ? fmin(s->width, s->height) : s->height;
	if (s->shape == CAL_SECTION_TUBE && !(s->thickness > 0)) {
		return "a tube needs a wall thickness > 0";
	}
	if (s->shape != CAL_SECTION_CIRCLE && !(s->thickness >= 0 && 2 * s->thickness <= side)) {
		return "the wall is thicker than half of the section";
	}
	if (!(s->youngs_modulus > 0) || !isfinite(s->youngs_modulus) || !(s->density >= 0) || !isfinite(s->density)) {
		return "youngs_modulus must be positive and density not negative";
	}
	if (!(s->poissons_ratio > -1 && s->poissons_ratio <= 0.5)) {
		return "poissons_ratio must be in (-1, 0.5]";
	}
	return NULL;
}

static double interpolate(double a, double b, double s) { return a + s * (b - a); }

CalSection section_between(const CalSection *a, const CalSection *b, double s) {
	CalSection c = *a;
	c.width = interpolate(a->width, b->width, s);
	c.height = interpolate(a->height, b->height, s);
	c.thickness = interpolate(a->thickness, b->thickness, s);
	c.youngs_modulus = interpolate(a->youngs_modulus, b->youngs_modulus, s);
	c.poissons_ratio = interpolate(a->poissons_ratio, b->poissons_ratio, s);
	c.density = interpolate(a->density, b->density, s);
	c.EA = interpolate(a->EA, b->EA, s);
	c.GJ = interpolate(a->GJ, b->GJ, s);
	c.EIy = interpolate(a->EIy, b->EIy, s);
	c.EIz = interpolate(a->EIz, b->EIz, s);
	c.kGAy = interpolate(a->kGAy, b->kGAy, s);
	c.kGAz = interpolate(a->kGAz, b->kGAz, s);
	c.rhoA = interpolate(a->rhoA, b->rhoA, s);
	c.rhoIy = interpolate(a->rhoIy, b->rhoIy, s);
	c.rhoIz = interpolate(a->rhoIz, b->rhoIz, s);
	return c;
}
