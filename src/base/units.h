// SPDX-License-Identifier: Apache-2.0
/*
 * units.h — numbers with units, as people write them, to SI with a check of the dimension.
 *
 * "30 deg", "5 mm", "2 rpm", "0.2 N*m", "3 N*m/rad", "9.81 m/s^2"; a plain number is SI. The result
 * does not depend on the locale and is the double nearest to the decimal text.
 */
#ifndef CALDER_BASE_UNITS_H
#define CALDER_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/number.h"

/*
 * One line per dimension: name, exponents of kg, m, s and rad, what it is called, an example of it, its unit.
 * rad is kept apart so that a length is not taken for an angle. It may be left out beside forces and
 * masses ("N*m" for N m/rad), where nothing else can be meant.
 */
#define DIMENSION_LIST(X)                                                                       \
	X(DIM_NUMBER, 0, 0, 0, 0, "a number without unit", "0.5", "")                               \
	X(DIM_LENGTH, 0, 1, 0, 0, "a length", "5 mm", "m")                                          \
	X(DIM_AREA, 0, 2, 0, 0, "an area", "0.5 m^2", "m^2")                                        \
	X(DIM_ANGLE, 0, 0, 0, 1, "an angle", "30 deg", "rad")                                       \
	X(DIM_TIME, 0, 0, 1, 0, "a time", "10 ms", "s")                                             \
	X(DIM_MASS, 1, 0, 0, 0, "a mass", "1.5 kg", "kg")                                           \
	X(DIM_INERTIA, 1, 2, 0, 0, "a moment of inertia", "0.1 kg*m^2", "kg m^2")                   \
	X(DIM_DENSITY, 1, -3, 0, 0, "a density", "2700 kg/m^3", "kg/m^3")                           \
	X(DIM_SPEED, 0, 1, -1, 0, "a speed", "0.2 m/s", "m/s")                                      \
	X(DIM_SLOWNESS, 0, -1, 1, 0, "a dissipation", "0.5 s/m", "s/m")                             \
	X(DIM_RATE, 0, 0, -1, 1, "an angular speed", "10 deg/s", "rad/s")                           \
	X(DIM_ACCELERATION, 0, 1, -2, 0, "an acceleration", "9.81 m/s^2", "m/s^2")                  \
	X(DIM_ANGULAR_ACCELERATION, 0, 0, -2, 1, "an angular acceleration", "5 deg/s^2", "rad/s^2") \
	X(DIM_FORCE, 1, 1, -2, 0, "a force", "20 N", "N")                                           \
	X(DIM_TORQUE, 1, 2, -2, 0, "a torque", "0.2 N*m", "N m")                                    \
	X(DIM_STIFFNESS, 1, 0, -2, 0, "a stiffness", "100 N/m", "N/m")                              \
	X(DIM_ANGULAR_STIFFNESS, 1, 2, -2, -1, "an angular stiffness", "3 N*m/rad", "N m/rad")      \
	X(DIM_DAMPING, 1, 0, -1, 0, "a damping", "2 N*s/m", "N s/m")                                \
	X(DIM_ANGULAR_DAMPING, 1, 2, -1, -1, "an angular damping", "0.1 N*m*s/rad", "N m s/rad")    \
	X(DIM_PITCH, 0, 1, 0, -1, "a pitch", "5 mm/rev", "m/rad")                                   \
	X(DIM_STRESS, 1, -1, -2, 0, "a modulus of elasticity", "70 GPa", "Pa")                      \
	X(DIM_BENDING, 1, 3, -2, 0, "a bending or torsional stiffness", "500 N*m^2", "N m^2")       \
	X(DIM_LINE_MASS, 1, -1, 0, 0, "a mass per length", "1.2 kg/m", "kg/m")                      \
	X(DIM_LINE_INERTIA, 1, 1, 0, 0, "an inertia per length", "0.001 kg*m", "kg m")

typedef enum Dimension {
#define DIMENSION_ENUM(name, kg, m, s, rad, what, example, unit) name,
	DIMENSION_LIST(DIMENSION_ENUM)
#undef DIMENSION_ENUM
		DIM_COUNT
} Dimension;

/** "an angle" and "30 deg". */
const char *dimension_what(Dimension dimension);
const char *dimension_example(Dimension dimension);
/** "rad" as documents write it; "": none. */
const char *dimension_unit(Dimension dimension);

/** True if two masses of this ratio differ by a power of 1000, to a per cent: kg and t or g, m^3 and mm^3 mixed up. */
bool ratio_is_of_units(double ratio);

/** False: message says what is wrong and what is expected. */
bool quantity_parse(const char *text, Dimension dimension, double *value, char *message, size_t size);

/**
 * A number with any unit or none: its value in SI, and the dimension of the unit (factor 1; all exponents 0: none was
 * given, or it has none). False: message says what is wrong.
 */
bool quantity_parse_any(const char *text, double *value, Unit *unit, char *message, size_t size);

/** A number alone, without unit. */
bool quantity_is_plain(const char *text);

/** "kg*m/s^2" of the exponents, as quantity_parse() reads it; "": none. */
enum { UNIT_TEXT = 48 };
void unit_format(Unit unit, char text[UNIT_TEXT]);
/** The exponents are the same. */
bool unit_same(Unit a, Unit b);
/** All exponents are zero. */
bool unit_is_none(Unit unit);

#endif
