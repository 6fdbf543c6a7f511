// SPDX-License-Identifier: Apache-2.0
/*
 * export.h — what the writers of robot files (URDF, MJCF, SDFormat) share: the export report, XML text, names, the tree of
 * links, and what acts along joints.
 *
 * A writer first has the tree made (export_tree.c): a link for every body, and massless ones between the elements of a joint
 * that the format has not. Then loops, devices and the state are sorted into it (export_forces.c, export_loops.c), with a
 * note for everything that the format cannot say; last the writer walks the links, parents first, and writes text into memory.
 * Nothing reaches the stream unless all of it is there.
 *
 * Functions do not return whether they failed: ex->status is the first error, and from then on they do nothing.
 *
 * Frames, for a link L that carries the body B, on the link P: X_PF places the joint frame F on P, the joint moves M against
 * F, X_ML places L in M and X_LB the body frame in L. X_PF, X_ML and X_LB are constant.
 */
#ifndef CALDER_IO_EXPORT_EXPORT_H
#define CALDER_IO_EXPORT_EXPORT_H

#include <calder/io.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/memory_pool.h"
#include "base/name_index.h"
#include "io/import/import.h"
#include "math/placement.h"

typedef enum ExportMotion {
	EXPORT_FIXED,
	EXPORT_ROTATION,
	EXPORT_TRANSLATION,
	EXPORT_SCREW,
	EXPORT_BALL,
	EXPORT_FREE,
	EXPORT_UNIVERSAL,
	EXPORT_PLANAR,
} ExportMotion;

struct Export;
struct ExportLink;

/** What a format has. */
typedef struct ExportFormat {
	const char *name;      // "URDF"
	unsigned motions;      // set of 1 << ExportMotion that a joint can make
	unsigned shapes;       // set of 1 << CalVisualKind
	bool free_anywhere;    // a free joint may be on any link; otherwise on the ground, at its origin
	bool link_is_joint;    // the frame of a link is that of its joint
	bool has_joint_frames; // anywhere on both links: X_PF and X_ML may turn
	bool shared_names;     // links, joints and nodes have different names (SDFormat)
	bool nodes_are_links;  // a node is a link on a fixed joint
	bool has_springs;      // stiffness and rest of scalar joints
	bool has_rotors;       // of scalar joints
	bool has_ball_forces; // the same damping, spring and rotor about all axes of a ball; of a free joint without spring
	bool has_gravity;     //
	bool has_collisions;  // shapes of links that may touch, of the kinds in `shapes`
	bool ground_is_link;  // of its own, which may have shapes
	const char *forbidden; // texts that names must not hold, each ended by a zero; the last is empty; NULL: none
	/* Whether the format has such a device, other than stops and friction; it is written later. NULL: none. */
	bool (*takes_device)(struct Export *ex, const char *type, const void *def);
	bool (*takes_load)(struct Export *ex, const CalLoadDef *def); // NULL: none
	/* Notes on the state of a link at the start that the format cannot say. */
	void (*check_start)(struct Export *ex, const struct ExportLink *link);
	/* Writes the text of the file into ex. */
	void (*write)(struct Export *ex);
} ExportFormat;

/** What acts along one degree of freedom, and where it starts. */
typedef struct ExportAxis {
	CalDofDef dof;
	const CalLimitDef *limit;       // NULL: none
	const CalFrictionDef *friction; // NULL: none
	const CalLoopDef *mimic;        // coupling that makes it follow a leader, or holds it; NULL: none
	int leader, leader_axis;        // link and axis; -1: it is held at `offset`
	double multiplier, offset;      // q = multiplier q(leader) + offset
	double zero;                    // q where the file has its zero (sdf_write_zero.c)
	double effort;                  // that bounds its motor; 0: there is no motor, -1: it is not bounded (urdf_write.c)
} ExportAxis;

typedef struct ExportLink {
	CalBodyId body;         // {0}: a link without mass between two joints
	CalJointId joint;       // of which it is a part
	const char *name;       // in the file
	const char *joint_name; // in the file
	const char *place;      // of the joint; may be NULL
	int parent;             // EXPORT_GROUND: the ground
	int depth;              // of nesting, 0 on the ground
	int children;           //
	ExportMotion motion;    //
	dvec3 axis, axis2;      // in M
	double pitch;           // SCREW [m/rad]
	int dof, dofs;          // degrees of freedom of the joint that it has
	int coordinate;         // first of its coordinates among those of the joint
	dpose X_PF, X_ML, X_LB;
	CalQuat turn_PF, turn_ML; // in the setup; they count where X_PF and X_ML have their bits
	MassProperties mass;      // in L
	MassProperties carried;   // with all that it carries, in L, all coordinates zero
	ExportAxis axes[CAL_JOINT_MAX_DOF];
	double q[CAL_JOINT_MAX_COORDS], u[CAL_JOINT_MAX_DOF]; // at the start
	bool starts;                                          // q or u is given by the setup
} ExportLink;

enum { EXPORT_GROUND = -1 };

/** A node of the setup, as a frame on a link. */
typedef struct ExportNode {
	CalNodeId id;
	const char *name; // in the file
	int link;
	dpose X_LN;
} ExportNode;

/** A shape of a contact device on a link. */
typedef struct ExportCollision {
	const char *name; // in the setup
	CalVisual shape;  //
	dpose X_L;        // on the link
	double friction;  // coefficient
	int next;         // of the same link; -1: none
} ExportCollision;

/** Names that are taken already. */
typedef struct ExportNames {
	NameIndex index;
	const char **list;
	int count, capacity;
} ExportNames;

typedef struct Export Export;
struct Export {
	const CalSetup *setup;
	const CalDesc *desc;
	const ExportFormat *format;
	bool partial;
	CalAllocator allocator;
	CalError *error;
	CalStatus status; // of the first error
	CalExportReport *report;
	bool refused; // there is a note `missing`, and the file is not to be partial
	char first_missing[600];

	Pool pool; // of names and lists
	ExportLink *links;
	int link_count;
	int *link_of_body;  // [bodies + 1] link that carries it
	int *link_of_joint; // [joints + 1] its first link; the others follow
	ExportNode *nodes;  // all but the frames of bodies
	int node_count;
	ExportCollision *collisions;
	int *first_collision; // [links + 1], that of the ground first; -1: none
	int collision_count;
	ExportNames link_names, joint_names, node_names; // of formats with shared names the first counts for all

	char *text; // of the file
	int length, capacity;
	int depth;        // of open elements
	bool tag_is_open; // the tag of the innermost element is not closed yet
};

/* ---- export_report.c ---- */

CalExportReport *export_report_create(const CalAllocator *allocator); // NULL: out of memory
void export_no_memory(Export *ex);
/** Any other error: it is that of the whole file. */
void export_fail(Export *ex, CalStatus status, const char *format, ...) ERROR_PRINTF(3, 4);
/** A line of the report on `what` "joint" and its name (NULL: none). place may be NULL. */
void export_note(Export *ex, CalImportKind kind, const char *what, const char *name, const char *place,
                 const char *format, ...) ERROR_PRINTF(6, 7);

/* ---- export_xml.c ---- */

void export_open(Export *ex, const char *element);
void export_close(Export *ex, const char *element);
void export_attribute(Export *ex, const char *name, const char *text);
void export_attribute_number(Export *ex, const char *name, double value);
void export_attribute_numbers(Export *ex, const char *name, const double *values, int count);
void export_attribute_vector(Export *ex, const char *name, dvec3 v);
/** <element>text</element> */
void export_text(Export *ex, const char *element, const char *text);
void export_number(Export *ex, const char *element, double value);
/** The same with an attribute, unless that is NULL. */
void export_text_attribute(Export *ex, const char *element, const char *attribute, const char *value,
                           const double *values, int count);
/** Closes an element that has no content yet, with numbers. */
void export_close_with(Export *ex, const char *element, const double *values, int count);
void export_numbers(Export *ex, const char *element, const double *values, int count);
/** Roll, pitch and yaw whose rotation is R to round-off, also where pitch is a right angle. */
dvec3 export_rpy(dmat3 R);
/** The same with 14 decimals at most; false: readers do not get the bits of R from these. */
bool export_short_rpy(dmat3 R, dvec3 *rpy);
/** The quaternion of R: `given`, which may be {0}, if R is its matrix to the bit. */
CalQuat export_quat(dmat3 R, CalQuat given);
bool export_is_identity(dmat3 R);
bool export_is_zero(dvec3 v);
bool export_is_neutral(const dpose *X); // both

/* ---- export_names.c ---- */

/**
 * The name, in ex->pool, that an object has in the file: without what XML, the format or its reader cannot hold, and unlike
 * those in `names`. A change is noted. NULL: out of memory.
 */
const char *export_name(Export *ex, ExportNames *names, const char *what, const char *name, const char *place);
bool export_name_is_free(const Export *ex, const ExportNames *names, const char *name);
/** The same for something that has no name in the setup: no note. */
const char *export_new_name(Export *ex, ExportNames *names, const char *wanted);
/** A copy without what XML, the format or its reader cannot hold. */
const char *export_sound_text(Export *ex, const char *text);
void export_names_free(Export *ex, ExportNames *names);
char *export_format(Export *ex, const char *format, ...) ERROR_PRINTF(2, 3);

/* ---- export_tree.c, export_joint.c ---- */

/** Links, with names and frames, and nodes. */
void export_make_tree(Export *ex);
/** Motion, axes and frames of the links of a joint, the first of which is given; their number. */
int export_joint_links(Export *ex, CalJointId id, ExportLink *first, int parent);
/** How many links a joint needs. */
int export_joint_link_count(const Export *ex, CalJointId id);
/** Of the body frame of a node's body in its link, and the link; EXPORT_GROUND. */
dpose export_node_pose(const Export *ex, CalNodeId id, int *link);
/** Pose of a link in the ground while all coordinates are zero, but free links where they start. */
dpose export_link_in_file(const Export *ex, int link);
/** X_PL at zero coordinates; the second: of a free link, on the origin of the ground, where it starts. */
dpose export_on_parent(const ExportLink *link);
dpose export_link_pose(const ExportLink *link);

/* ---- export_forces.c, export_setup.c ---- */

/** Springs, rotors, stops, friction and the state of the links; notes on what the format cannot say. */
void export_sort_forces(Export *ex);
/** Notes on what no robot file has: flexible bodies, groups, loads, devices, motions, events. */
void export_check_setup(Export *ex);
/** Axes of a link that have a coordinate each: 0, 1, or 2 of a universal joint. */
int export_axis_count(const ExportLink *link);
/** The axis of a degree of freedom, and its link; NULL: it has no axis in the file. */
ExportAxis *export_find_axis(const Export *ex, CalJointId joint, int dof, int *link);
/** Inertia about or along the axis of a link of all that it carries, all coordinates zero, with its rotor. */
double export_axis_inertia(const ExportLink *link);

/** Whether an applied load acts at all times; whether it is a force and a moment that never change, on a node. */
bool export_is_always_on(const CalAppliedLoadDef *def);
bool export_is_constant_wrench(const CalAppliedLoadDef *def);
/**
 * Which part of the weight of a body a load lifts that a reader made for this (import_lift_weight()); 0: it is another load. Its
 * node is no node of the file.
 */
double export_lifted_weight(const Export *ex, const CalAppliedLoadDef *def, CalBodyId *body);

/** Whether an actuator does nothing while its input stays: it is 0, and there is no bias. */
bool export_actuator_is_idle(const CalActuatorDef *def);

/* ---- export_loops.c ---- */

/** Whether a loop can be written by its equations alone; what else it has is noted. */
bool export_loop_is_plain(Export *ex, CalLoopId id);
bool export_loop_is_open(const Export *ex, CalLoopId id);
/**
 * A coupling of two coordinates as an axis that follows another, or, if has_held, of one as an axis that is held. false: it
 * is none, or the axis follows another already.
 */
bool export_make_mimic(Export *ex, const CalLoopDef *def, bool has_held);
/** The axes that a coupling ties; false: one of them has none in the file. */
bool export_coupling_axes(const Export *ex, const CalLoopDef *def, int *links, ExportAxis **axes);

/* ---- export_contact.c ---- */

/** Shapes of contact devices by link, of formats that have collisions. */
void export_list_collisions(Export *ex);

/* ---- export_shape.c ---- */

/** Whether the format has the shape; if not, it is noted. */
bool export_has_shape(Export *ex, CalBodyId body, const CalVisual *v);
void export_color(int color, double rgba[4]);
dvec3 export_mesh_scale(const CalVisual *v);

/* ---- export.c ---- */

/** Writes a setup; of cal_model_write(), whose arguments are checked. */
CalStatus export_write(const CalSetup *setup, const ExportFormat *format, bool partial, FILE *out,
                       const CalAllocator *allocator, CalExportReport *report, CalError *error);

/* ---- formats: io/urdf, io/mjcf, io/sdf ---- */

extern const ExportFormat urdf_export_format, mjcf_export_format, sdf_export_format;

#endif
