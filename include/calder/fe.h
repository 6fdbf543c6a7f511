// SPDX-License-Identifier: Apache-2.0
/*
 * calder/fe.h — where flexible bodies come from: finite elements, SID files, modal files (docs/fe.md).
 *
 * A CalFeModel holds the stiffness and mass matrix of a finite element model (CalculiX matrix storage, NASTRAN DMIG or OP4).
 * cal_fe_reduce() makes a CalModal of it (Craig-Bampton), which can also be read from and written to Wallrapp's
 * SID and the project's modal file, and which cal_modal_add() turns into a flexible body of a description.
 *
 * The mass of a CalModal sits at its nodes, as in CalFlexDef. The consistent mass of a finite element model has no
 * such form node by node; it is replaced by at most 4 + 3 modes points that have the same total mass, first and
 * second moments of position and shapes. Every inertia term of the body depends on those moments only, so nothing is
 * lost: mass, center of mass, inertia, modal mass and coupling, and their change with the deflection (docs/fe.md).
 *
 * Errors carry file:line. The modal file needs libyaml; without it these calls return CAL_ERR_UNSUPPORTED. Nothing here
 * runs in a step.
 */
#ifndef CALDER_FE_H
#define CALDER_FE_H

#include <calder/build.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- finite element models ------------------------------------------------------------------ */

typedef struct CalFeModel CalFeModel;

/** What a unit of the finite element model is in SI. Zero means 1. {1e-3, 1e3}: mm, tonnes, s, N. */
typedef struct CalFeUnits {
	double length; // [m]
	double mass;   // [kg]
} CalFeUnits;

/**
 * Reads a model by its name: JOB.inp, JOB.dof, JOB.sti or JOB.mas stand for a CalculiX job (matrices of
 * *FREQUENCY, SOLVER=MATRIXSTORAGE; coordinates and *RIGID BODY frames from JOB.inp); .pch .dmig .bdf .nas .dat
 * for DMIG matrices with GRID cards; .op4 for OUTPUT4 with bulk data beside it. units NULL: SI.
 */
CAL_API CalStatus cal_fe_read(const char *path, const CalFeUnits *units, const CalAllocator *allocator, CalFeModel **fe,
                              CalError *error);
/** DMIG with given matrix names; NULL: KAAX and MAAX, or the only matrices named K... and M... */
CAL_API CalStatus cal_fe_read_dmig(const char *path, const char *stiffness, const char *mass, const CalFeUnits *units,
                                   const CalAllocator *allocator, CalFeModel **fe, CalError *error);
/**
 * NASTRAN OUTPUT4, text or binary, with given matrix names as above. `bulk` has the GRID, SPOINT and ASET1 cards that say what
 * the rows are (docs/fe.md); NULL: the file of the same name that ends in .asm, .pch, .bdf, .nas or .dat.
 */
CAL_API CalStatus cal_fe_read_op4(const char *path, const char *bulk, const char *stiffness, const char *mass,
                                  const CalFeUnits *units, const CalAllocator *allocator, CalFeModel **fe,
                                  CalError *error);
CAL_API void cal_fe_destroy(CalFeModel *fe); // accepts NULL
/** The files that were read, in the order in which they were opened: those of the job and all that they include. */
CAL_API int cal_fe_source_count(const CalFeModel *fe);
/** NULL: there is none of this index. Valid until cal_fe_destroy(). */
CAL_API const char *cal_fe_source(const CalFeModel *fe, int index);

/** A frame of the model by which it can be connected: a node with three translations and three rotations. */
typedef struct CalFeFrame {
	const char *name;
	long node;        // its number in the model
	CalVec3 position; // [m]
} CalFeFrame;

typedef struct CalFeInfo {
	const char *format; // "CalculiX", "DMIG" or "OP4"
	int node_count, dof_count;
	int frame_count;       // that the file offers as interfaces
	double mass;           // along x [kg]
	CalVec3 com;           // [m]
	CalMat3 inertia;       // about the center of mass [kg m^2]
	CalVec3 size;          // of the box around the nodes [m]
	double mass_spread;    // greatest difference of mass between directions, over mass
	double rigid_residual; // largest force that a rigid motion causes, over the largest it could
} CalFeInfo;
/** Mass and what follows are zero if memory is short. */
CAL_API CalFeInfo cal_fe_info(const CalFeModel *fe);
/** index < frame_count; otherwise CAL_ERR_ARGUMENT. */
CAL_API CalStatus cal_fe_frame(const CalFeModel *fe, int index, CalFeFrame *frame);

/* ---- modal bodies --------------------------------------------------------------------------- */

typedef struct CalModal CalModal;

typedef struct CalFeReduction {
	int interface_count;           // 0: all frames that the file offers, < 0: none (free modes)
	const char *const *interfaces; // names of frames, or numbers of nodes with six DOFs
	const char *reference;         // the interface that carries the body frame; NULL: the first. Without any
								   // interface the body frame is at the center of mass (free modes)
	int modes;                     // modes with all interfaces held that are kept; < 0: none, 0: 12
	double max_frequency;          // of these, keep those up to it [rad/s]; 0: all
	double damping_ratio;          // of every mode of the result
	double expected_mass;          // [kg]; > 0: an error if the model's mass differs by more than 1 %
	int geometric;                 // nonzero: geometric stiffness too, from the elements of the model (docs/fe.md)
	double max_memory;             // of the factor of the stiffness [bytes]; more is an error. 0: 8 GiB
	int display_count;             // nodes of the model that are kept for drawing; 0: 300, < 0: none
} CalFeReduction;

/** Craig-Bampton: static shapes of the interfaces and modes with all interfaces held, then modes of both. */
CAL_API CalStatus cal_fe_reduce(const CalFeModel *fe, const CalFeReduction *how, CalModal **modal, CalError *error);

typedef struct CalModalOptions {
	int ignore_geometric_stiffness; // leave geometric stiffness and second-order shapes out
} CalModalOptions;

/** Reads a SID file (.SID_FEM, .sid) or a modal file (YAML or JSON: all other names). options NULL: defaults. */
CAL_API CalStatus cal_modal_read(const char *path, const CalModalOptions *options, const CalAllocator *allocator,
                                 CalModal **modal, CalError *error);
/** Writes by the name: .SID_FEM or .sid gives SID, everything else a modal file (JSON, hence YAML too). */
CAL_API CalStatus cal_modal_write(const CalModal *modal, const char *path, CalError *error);
CAL_API void cal_modal_destroy(CalModal *modal); // accepts NULL

typedef enum CalModalNodeKind {
	CAL_MODAL_FRAME,   // a frame to connect to
	CAL_MODAL_MASS,    // carries mass, not meant to be connected to
	CAL_MODAL_DISPLAY, // only drawn
} CalModalNodeKind;

typedef struct CalModalNode {
	const char *name;
	CalModalNodeKind kind;
	CalPlacement placement; // in B
	double mass;            // [kg]
	CalMat3 inertia;        // rotary, [kg m^2]
	const double *phi;      // [3][modes]
	const double *psi;      // [3][modes]
	const double *phi2;     // [3][modes][modes] second-order translation; NULL: none
} CalModalNode;

typedef struct CalModalInfo {
	const char *name;     // "" if there is none
	const char *source;   // "CalculiX", "DMIG", "OP4", "SID", "modal file"
	const char *boundary; // "held at root", in words
	int modes, node_count;
	const double *stiffness; // [modes][modes]
	const double *damping;   // [modes][modes] or NULL
	const double *geometric; // [CAL_FLEX_GEOMETRIC][modes][modes] as in CalFlexDef, or NULL
	double rigid_mass;       // of the part that does not deform [kg]; mass below includes it
	double mass;             // of everything, at rest [kg]
	CalVec3 com;             // in B [m]
	CalMat3 inertia;         // about the center of mass [kg m^2]
	int dropped;             // modes with all interfaces held that the model has and that were not kept
	double dropped_from;     // frequency of the first of them [rad/s], 0: none
	const char *notes;       // what was chosen or left out, sentences separated by newlines; ""
} CalModalInfo;
/** The body, and its nodes 0 .. node_count - 1. Texts live as long as the modal body. */
CAL_API CalModalInfo cal_modal_info(const CalModal *modal);
CAL_API CalStatus cal_modal_node(const CalModal *modal, int index, CalModalNode *node);

/** What the mass points lose against the matrices that they were made of; relative, all zero if nothing was made. */
typedef struct CalModalFidelity {
	double mass, com, inertia; // com over the radius of gyration
	double modal_mass;         // M_ee
	double coupling;           // M_re, over its bound by Cauchy and Schwarz
} CalModalFidelity;
CAL_API CalModalFidelity cal_modal_fidelity(const CalModal *modal);

/**
 * Adds the body to a description: frames as nodes of the same name, mass points as nodes "mass1", "mass2" ...
 * frequency_bound as in CalFlexDef. The name of the body is given, or the modal's own for NULL; body may be NULL. Frequencies
 * and effective masses of the result: cal_flex_report().
 */
CAL_API CalStatus cal_modal_add(const CalModal *modal, CalDesc *desc, const char *name, CalGroupId group,
                                double frequency_bound, CalBodyId *body, CalError *error);

/**
 * The other way round: a flexible body of a description as a modal body, which can be written as a SID or modal file.
 * first_order nonzero: without second-order shapes and geometric stiffness. The frequency bound is left out; the
 * modal's notes say both. allocator NULL: malloc.
 */
CAL_API CalStatus cal_flex_modal(const CalDesc *desc, CalBodyId body, int first_order, const CalAllocator *allocator,
                                 CalModal **modal, CalError *error);
/** The name that a modal body has in files and gives to bodies made of it; copied. */
CAL_API CalStatus cal_modal_set_name(CalModal *modal, const char *name);

#ifdef __cplusplus
}
#endif
#endif
