// SPDX-License-Identifier: Apache-2.0
/*
 * law.h — forces of one contact point from depth, speeds and the materials of both sides.
 */
#ifndef CALDER_CONTACT_LAW_H
#define CALDER_CONTACT_LAW_H

#include "contact/shape.h"

/* The materials of two shapes taken together. */
typedef struct PairLaw {
	double modulus;           // E [Pa]; 0: no Hertz
	double hertz_dissipation; // c with it [s/m]
	double stiffness;         // k [N/m^exponent]; 0: not known
	double exponent;          //
	double dissipation;       // c with it [s/m]
	double mu_static, mu_dynamic, transition, stribeck, torsion;
} PairLaw;

PairLaw law_combine(const Shape *a, const Shape *b);

/* What one point does. */
typedef struct PointForce {
	double normal;     // >= 0 [N]
	double stored;     // [J]
	double dissipated; // power of the normal force that turns to heat [W]
	double friction;   // force over slip: friction = -friction * slip [N s/m]
	double torsion;    // moment over spin [N m s]
} PointForce;

/** radius 0: not known. speed: closing; slip: its size; spin: relative angular velocity about the normal. */
PointForce law_evaluate(const PairLaw *law, double weight, double depth, double radius, double speed, double slip,
                        double spin);

/** material with every default in place; the restitution has become a dissipation. */
CalContactMaterial material_complete(const CalContactMaterial *material);
double material_compliance(const CalContactMaterial *material);

#endif
