// SPDX-License-Identifier: Apache-2.0
/*
 * calder/doctor.h — suspicious mass properties, limits and states of a model, with evidence, likely cause and remedy
 * (docs/doctor.md).
 *
 * cal_desc_check() refuses what no model can have. The doctor reads a setup from any format and says what a person should
 * look at: numbers that are possible, but do not fit each other, the shapes of the body or the other bodies. It compares
 * ratios, never absolute sizes, and says nothing where cal_desc_check() has said something of the same body already.
 */
#ifndef CALDER_DOCTOR_H
#define CALDER_DOCTOR_H

#include <calder/setup.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAL_DIAGNOSIS_LIST(X)                                                                                      \
	X(CAL_DIAGNOSIS_DENSITY, "density")                 /* mass against the volume of the shapes */                \
	X(CAL_DIAGNOSIS_CENTER, "center-of-mass")           /* center of mass far outside of the shapes */             \
	X(CAL_DIAGNOSIS_UNIT, "inertia-unit")               /* inertia off by a factor of units: mm for m, g for kg */ \
	X(CAL_DIAGNOSIS_ORIGIN, "inertia-about-origin")     /* about the origin instead of the center of mass */       \
	X(CAL_DIAGNOSIS_SIGN, "product-sign")               /* products of inertia with the wrong sign */              \
	X(CAL_DIAGNOSIS_ROTATION, "lost-rotation")          /* right moments in the wrong axes */                      \
	X(CAL_DIAGNOSIS_PRINCIPAL, "principal-axes")        /* principal moments without the rotation of their axes */ \
	X(CAL_DIAGNOSIS_AXES, "exchanged-axes")             /* moments at the wrong axes */                            \
	X(CAL_DIAGNOSIS_LARGE, "gyration-too-large")        /* radius of gyration outside of the shapes */             \
	X(CAL_DIAGNOSIS_SMALL, "gyration-too-small")        /* far less inertia than the shapes have */                \
	X(CAL_DIAGNOSIS_PLACEHOLDER, "placeholder")         /* 1, 0.001, 1e-6 on all three axes */                     \
	X(CAL_DIAGNOSIS_COPIED, "copied-inertia")           /* the same inertia on bodies that differ */               \
	X(CAL_DIAGNOSIS_MIRROR, "mirror-pair")              /* left and right whose products do not mirror */          \
	X(CAL_DIAGNOSIS_RATIO, "mass-ratio")                /* a body that carries far more than itself */             \
	X(CAL_DIAGNOSIS_LIMIT_STATE, "limit-and-state")     /* limits that exclude the initial state */                \
	X(CAL_DIAGNOSIS_LIMIT_EMPTY, "empty-limits")        /* limits that leave no motion */                          \
	X(CAL_DIAGNOSIS_DEGREES, "forgotten-degrees")       /* an angle that may be in degrees */                      \
	X(CAL_DIAGNOSIS_RADIANS, "degrees-twice")           /* an angle that was converted twice */                    \
	X(CAL_DIAGNOSIS_EFFORT, "effort-zero")              /* an effort limit of zero among others */                 \
	X(CAL_DIAGNOSIS_GRAVITY, "gravity-unit")            /* gravity in mm/s^2 or cm/s^2 */                          \
	X(CAL_DIAGNOSIS_MESH_UNIT, "mesh-unit")             /* a mesh in mm beside lengths in m */                     \
	X(CAL_DIAGNOSIS_MESH_INSIDE_OUT, "mesh-inside-out") /* a closed mesh whose triangles look inward */

typedef enum CalDiagnosisKind {
#define CAL_DIAGNOSIS_ENUM(name, text) name,
	CAL_DIAGNOSIS_LIST(CAL_DIAGNOSIS_ENUM)
#undef CAL_DIAGNOSIS_ENUM
		CAL_DIAGNOSIS_COUNT
} CalDiagnosisKind;
CAL_API const char *cal_diagnosis_name(CalDiagnosisKind kind); // NULL outside the list

/** One finding. Texts are valid during the call that reports it. */
typedef struct CalDiagnosis {
	CalDiagnosisKind kind;
	const char *object;         // "body \"forearm\""
	const char *evidence;       // what is suspicious, in numbers
	const char *cause;          // likely
	const char *fix;            // what to do
	const char *place;          // "arm.yaml:12:3"; NULL: not known
	CalBodyId body;             // that it is about; {0}: none
	const CalBodyDef *proposal; // its mass properties with the fix; NULL: there is no proposal
} CalDiagnosis;
typedef void (*CalDiagnosisFn)(void *user, const CalDiagnosis *diagnosis);

/** Examines a setup and reports what is suspicious, in the order of bodies, then joints. Meshes of visuals are read. */
CAL_API CalStatus cal_setup_diagnose(const CalSetup *setup, CalDiagnosisFn report, void *user, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
