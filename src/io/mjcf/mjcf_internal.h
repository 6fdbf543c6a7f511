// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_internal.h — what the files of the MJCF reader share.
 *
 * Reading goes in phases: includes and replicas are written out in the tree (mjcf_expand.c); compiler options, options and
 * default classes are read (mjcf_compiler.c, mjcf_class.c); bodies with their joints, geoms and sites become lists
 * (mjcf_body.c); masses are completed (mjcf_inertia.c); the lists become the description (mjcf_tree.c, mjcf_joint.c); then
 * equalities, tendons, actuators, keyframes and contacts, which refer to them by name. What nobody looked at is reported in
 * the end (mjcf_notes.c).
 *
 * Attributes are read as MuJoCo reads them: a structure per kind of element starts as a copy of that of its default class,
 * and the element overwrites what it gives. Angles stay as written until the last attribute is known: whether they are in
 * degrees depends on the type of the joint and on a compiler option that may stand after them.
 */
#ifndef CALDER_IO_MJCF_MJCF_INTERNAL_H
#define CALDER_IO_MJCF_MJCF_INTERNAL_H

#include "base/name_index.h"
#include "io/mjcf/mjcf.h"
#include "math/placement.h"

/* The law of contact, which MJCF does not give: the frequency of the whole mass on one point [rad/s], restitution at a speed. */
#define MJCF_CONTACT_FREQUENCY 100.0
#define MJCF_CONTACT_RESTITUTION 0.2
#define MJCF_CONTACT_IMPACT 0.5 // [m/s]

enum { MJCF_FALSE, MJCF_TRUE, MJCF_AUTO };

/* ---- the file ---------------------------------------------------------------------------------------- */

typedef struct MjcfCompiler {
	bool degrees, autolimits, balance_inertia, strip_path, align_free, fit_aabb;
	int inertia_from_geom; // MJCF_FALSE, MJCF_TRUE, MJCF_AUTO
	int inertia_groups[2]; // geoms of these groups have mass
	double bound_mass, bound_inertia, total_mass;
	char euler[4];           // sequence of axes, capitals: fixed ones
	const char *mesh_folder; // "": that of the file
} MjcfCompiler;

/** What <flag> leaves switched on. */
typedef struct MjcfFlags {
	bool constraint, equality, frictionloss, limit, contact, spring, damper, gravity, actuation, filter_parent,
		clamp_control;
} MjcfFlags;

typedef struct MjcfOption {
	double timestep;
	CalVec3 gravity;
	const XmlElement *gravity_element; // NULL: not given
	int integrator;                    // Euler, RK4 (MJCF_RK4), implicit, implicitfast
	int disabled_groups;               // bits of groups of actuators
	MjcfFlags on;
} MjcfOption;

/* ---- attributes, as written --------------------------------------------------------------------------- */

enum { MJCF_RK4 = 1 }; // MjcfOption.integrator

typedef enum MjcfTurn { MJCF_TURN_NONE, MJCF_QUAT, MJCF_AXISANGLE, MJCF_XYAXES, MJCF_ZAXIS, MJCF_EULER } MjcfTurn;

typedef struct MjcfOrientation {
	MjcfTurn kind;
	double v[6];
} MjcfOrientation;

typedef enum MjcfJointType { MJCF_FREE, MJCF_BALL, MJCF_SLIDE, MJCF_HINGE } MjcfJointType;

typedef struct MjcfJointAttributes {
	int type, limited, force_limited;
	CalVec3 pos, axis;
	double range[2], force_range[2], solref[2], solimp[5];
	double ref, springref, armature, frictionloss;
	double stiffness[3], damping[3]; // polynomials
	double spring_damper[2];         // time constant and damping ratio; 0: not given
	bool actuator_gravcomp;
} MjcfJointAttributes;

typedef enum MjcfShape {
	MJCF_PLANE,
	MJCF_HFIELD,
	MJCF_SPHERE,
	MJCF_CAPSULE,
	MJCF_ELLIPSOID,
	MJCF_CYLINDER,
	MJCF_BOX,
	MJCF_MESH,
	MJCF_SDF
} MjcfShape;

typedef struct MjcfGeomAttributes {
	int type, contype, conaffinity, condim, group;
	double size[3];                            // NAN: not given
	double friction[3], mass, density, margin; // mass NAN: not given
	double fit_scale;                          // of a primitive that stands for a mesh
	double rgba[4];
	bool shell, rgba_given;
	const char *mesh, *material, *hfield; // NULL: none
} MjcfGeomAttributes;

/** Where a geom or a site is. */
typedef struct MjcfPlaceAttributes {
	CalVec3 pos;
	MjcfOrientation turn;
	double fromto[6]; // NAN: not given
} MjcfPlaceAttributes;

typedef struct MjcfMeshAttributes {
	const char *file;
	CalVec3 scale, refpos;
	CalQuat refquat;
	int inertia; // convex, legacy, exact, shell
} MjcfMeshAttributes;

typedef struct MjcfTendonAttributes {
	int limited, force_limited;
	double range[2], force_range[2], solref[2], springlength[2]; // both -1: that with every joint at its springref
	double stiffness[3], damping[3], frictionloss, armature;
} MjcfTendonAttributes;

/* Words of gaintype, biastype and dyntype, in their order; those that Calder has not are "other". */
typedef enum MjcfGain { MJCF_GAIN_FIXED, MJCF_GAIN_AFFINE, MJCF_GAIN_OTHER } MjcfGain;
typedef enum MjcfBias { MJCF_BIAS_NONE, MJCF_BIAS_AFFINE, MJCF_BIAS_OTHER } MjcfBias;
typedef enum MjcfDynamics {
	MJCF_DYN_NONE,
	MJCF_DYN_INTEGRATOR,
	MJCF_DYN_FILTER,
	MJCF_DYN_FILTEREXACT,
	MJCF_DYN_OTHER
} MjcfDynamics;

typedef struct MjcfActuatorAttributes {
	int ctrl_limited, force_limited, group;
	int gain_type, bias_type, dyn_type; // MjcfGain, MjcfBias, MjcfDynamics
	int act_limited;
	double ctrl_range[2], force_range[2], act_range[2], inherit_range;
	double gear[6], gain[3], bias[3], dyn[1], damping[3], armature;
} MjcfActuatorAttributes;

typedef struct MjcfDefaults {
	MjcfJointAttributes joint;
	MjcfGeomAttributes geom;
	MjcfPlaceAttributes geom_place, site;
	MjcfMeshAttributes mesh;
	MjcfTendonAttributes tendon;
	MjcfActuatorAttributes actuator;
	double rgba[4];       // of materials
	bool equality_active; //
} MjcfDefaults;

typedef struct MjcfClass {
	const char *name;
	MjcfDefaults defaults;
} MjcfClass;

/** A document with a compiler of its own: the main one, and each that is attached. */
typedef struct MjcfFile {
	XmlElement *root;
	const char *prefix; // of all its names; "" of the main one
	MjcfCompiler compiler;
	MjcfClass *classes; // the first is the top one
	int class_count, class_capacity;
	int depth; // of attachments: 0 of the main one
} MjcfFile;

/* ---- what the file holds ------------------------------------------------------------------------------ */

typedef enum MjcfKind {
	MJCF_BODIES,
	MJCF_JOINTS,
	MJCF_SITES,
	MJCF_GEOMS,
	MJCF_TENDONS,
	MJCF_MESHES,
	MJCF_MATERIALS,
	MJCF_ACTUATORS,
	MJCF_KINDS
} MjcfKind;

/** Every object begins with it. */
typedef struct MjcfObject {
	XmlElement *element;
	const char *name; // with the prefix of its file; NULL: it has none
	MjcfFile *file;
} MjcfObject;

typedef struct MjcfBody {
	MjcfObject object;
	int parent;        // -1: of the world itself, which is body 0
	CalPlacement pose; // in the parent, at qpos0
	dpose world;       // in the world, at qpos0
	int first_joint, joint_count;
	bool is_mocap, has_inertial, is_static; // static: no joint between it and the world
	bool is_from_geoms;                     // its mass is that of geoms
	double gravcomp;
	MassProperties mass; // in the body frame
	CalBodyId id;        // {0}: the ground
	CalNodeId node;      // its frame
} MjcfBody;

typedef struct MjcfJoint {
	MjcfObject object;
	MjcfJointAttributes a; // angles in rad, axis of unit length, in the body frame
	int body;
	bool limited;
	double inertia; // of the mass matrix at qpos0, mean of its diagonal
	CalJointId id;
	CalBodyId carried;    // body that it carries: that of the file, or a massless one between two joints
	const char *label;    // its name in the description
	const char *efforts;  // formula of all actuators on it, to be limited as a sum; NULL: none
	int actuator_count;   // how many act on it
	int q_first, u_first; // in qpos and qvel
} MjcfJoint;

typedef struct MjcfSite {
	MjcfObject object;
	int body;
	CalPlacement pose; // in the body
	CalNodeId id;
} MjcfSite;

typedef struct MjcfGeom {
	MjcfObject object;
	MjcfGeomAttributes a; // size complete
	int body;
	CalPlacement pose; // in the body
} MjcfGeom;

typedef struct MjcfMesh {
	MjcfObject object;
	MjcfMeshAttributes a;
	MassProperties mass; // of density 1; known if measured
	bool measured;
} MjcfMesh;

typedef struct MjcfMaterial {
	MjcfObject object;
	double rgba[4];
} MjcfMaterial;

typedef struct MjcfTendonTerm {
	int joint;
	double factor;
} MjcfTendonTerm;

typedef struct MjcfTendon {
	MjcfObject object;
	MjcfTendonAttributes a;
	bool is_spatial;
	int term_count;
	MjcfTendonTerm *terms;
	double length; // with every joint at its springref
} MjcfTendon;

/** What an actuator acts on: joints, with the derivative of its length, or a site. */
typedef struct MjcfTransmission {
	int count;
	MjcfTendonTerm *terms; // of joints: length = sum of factor q
	int site;              // -1: none
} MjcfTransmission;

typedef struct MjcfActuator {
	MjcfObject object;
	MjcfActuatorAttributes a;
	double activation; // at the start
	MjcfTransmission transmission;
	bool is_built; // false: it is left out
} MjcfActuator;

typedef struct MjcfList {
	void *items;
	int count, capacity;
	NameIndex names;
} MjcfList;

typedef struct Mjcf {
	Import *im;
	MjcfFile file;    // the main one
	MjcfFile **files; // [file_count] all of them, the main one first
	int file_count, file_capacity;
	MjcfOption option;
	MjcfList lists[MJCF_KINDS];
	double total_mass;
	int nq, nu;
	int replica_work; // elements that were searched for references
	size_t text_used; // bytes of names and formulas
	NameIndex device_names;
	const char **devices; // [device_count] names
	int device_count, device_capacity;
	double *qpos, *qvel, *control; // initial state and inputs: [nq], [nu], [actuators]
	double *mocap;                 // [7 mocap bodies] position and quaternion at the start
	int mocap_count, mocap_built;  // how many there are, and how many of them the description has
	bool by_key;                   // they are those of a keyframe
} Mjcf;

static inline MjcfBody *mjcf_body(const Mjcf *m, int i) { return (MjcfBody *)m->lists[MJCF_BODIES].items + i; }
static inline MjcfJoint *mjcf_joint(const Mjcf *m, int i) { return (MjcfJoint *)m->lists[MJCF_JOINTS].items + i; }
static inline MjcfSite *mjcf_site(const Mjcf *m, int i) { return (MjcfSite *)m->lists[MJCF_SITES].items + i; }
static inline MjcfGeom *mjcf_geom(const Mjcf *m, int i) { return (MjcfGeom *)m->lists[MJCF_GEOMS].items + i; }
static inline MjcfTendon *mjcf_tendon(const Mjcf *m, int i) { return (MjcfTendon *)m->lists[MJCF_TENDONS].items + i; }
static inline MjcfMesh *mjcf_mesh(const Mjcf *m, int i) { return (MjcfMesh *)m->lists[MJCF_MESHES].items + i; }
static inline MjcfMaterial *mjcf_material(const Mjcf *m, int i) {
	return (MjcfMaterial *)m->lists[MJCF_MATERIALS].items + i;
}
static inline MjcfActuator *mjcf_actuator(const Mjcf *m, int i) {
	return (MjcfActuator *)m->lists[MJCF_ACTUATORS].items + i;
}

/* ---- lists (mjcf_list.c) ------------------------------------------------------------------------------- */

/** Room for the bodies, joints, geoms and sites that the worlds of a file hold. */
bool mjcf_reserve_objects(Mjcf *m, XmlElement *root);
/** A new object of a kind with the name that its element gives; its number, or -1 after an error. Zeroed otherwise. */
int mjcf_add(Mjcf *m, MjcfKind kind, MjcfFile *file, XmlElement *element);
/** By the name as the file writes it; -1: there is none. */
int mjcf_find(const Mjcf *m, MjcfKind kind, const MjcfFile *file, const char *name);
/** The object that an attribute names; -1: the attribute is not there (fine) or names nothing (false, error). */
bool mjcf_refer(Mjcf *m, MjcfKind kind, const MjcfFile *file, XmlElement *element, const char *attribute, int *index);
void mjcf_lists_free(Mjcf *m);
/** A name that no object of the kind has and no other call gave: base, or with a number after it. */
const char *mjcf_label(Mjcf *m, MjcfKind kind, const char *base);
/** Text in the memory of the tree; NULL: out of memory, which is set as the error. */
const char *mjcf_format(Mjcf *m, const char *format, ...) ERROR_PRINTF(2, 3);
/** "body7" of "body" and 7, likewise. */
const char *mjcf_numbered(Mjcf *m, const char *word, int number);
/** The next number to try after a name: where many have it, beyond all that count objects can have. */
int mjcf_next_number(int number, int count);
/** A name for a device that no other has: base, or with a number after it. */
const char *mjcf_device_label(Mjcf *m, const char *base);
/** 'name' for formulas; NULL: it cannot be written, which is set as the error. */
const char *mjcf_quoted(Mjcf *m, const XmlElement *element, const char *name);
/** An attribute that changes the motion and has no counterpart: an error unless a partial model is asked for. */
bool mjcf_missing_attribute(Mjcf *m, const XmlElement *element, const char *attribute, const char *format, ...)
	ERROR_PRINTF(4, 5);
/** An effort on a joint with one degree of freedom: a formula, or a number where formula is NULL. */
bool mjcf_add_effort(Mjcf *m, const XmlElement *element, const char *name, const MjcfJoint *joint, const char *formula,
                     double number);
/** Room for one more item in an array in the tree's memory. */
bool mjcf_grow(Mjcf *m, void **items, int count, int *capacity, size_t size);

/* ---- phases ------------------------------------------------------------------------------------------------ */

bool mjcf_include(Mjcf *m, XmlElement *root);
bool mjcf_replicate(Mjcf *m, MjcfFile *file);
/** Whether all objects that an element of a section names are there. */
bool mjcf_references_resolve(const Mjcf *m, const MjcfFile *file, const XmlElement *element);
/** Includes, replicas, compiler, classes and assets of a file; it joins the list of files. */
bool mjcf_open_file(Mjcf *m, MjcfFile *file);
/** The file that <attach> names, opened; its content stands inside the element then. */
MjcfFile *mjcf_open_attached(Mjcf *m, MjcfFile *parent, XmlElement *element);
/** The body or frame of an attached file that <attach> names, and the rest of it as ignored; *part NULL: none of that name. */
bool mjcf_attached_part(Mjcf *m, const MjcfFile *file, const char *kind, const char *name, XmlElement **part);
/** *out: an element of an attached file refers to something that was not attached, which is reported. */
bool mjcf_is_left_out(Mjcf *m, const MjcfFile *file, XmlElement *element, bool *out);
bool mjcf_read_compiler(Mjcf *m, MjcfFile *file);
bool mjcf_read_option(Mjcf *m);
bool mjcf_read_classes(Mjcf *m, MjcfFile *file);
bool mjcf_read_assets(Mjcf *m, MjcfFile *file);
bool mjcf_read_bodies(Mjcf *m);
bool mjcf_fit_geoms(Mjcf *m);
/** Whether it is a primitive that stands for a mesh, of which it gets its size and place. */
bool mjcf_is_fitted(const MjcfGeomAttributes *a);
/** Mass properties of the mesh of a geom with density 1, in the frame that the geom places; zero: it has none that can be
 * found, which is reported. */
bool mjcf_measure_mesh(Mjcf *m, const MjcfGeom *geom, MassProperties *mass);
bool mjcf_complete_masses(Mjcf *m);
bool mjcf_build_tree(Mjcf *m);
bool mjcf_build_joint_devices(Mjcf *m);
bool mjcf_build_state(Mjcf *m);
bool mjcf_read_tendons(Mjcf *m, MjcfFile *file);
bool mjcf_build_tendon_devices(Mjcf *m);
bool mjcf_read_equalities(Mjcf *m, MjcfFile *file);
bool mjcf_read_actuators(Mjcf *m, MjcfFile *file);
bool mjcf_build_actuators(Mjcf *m);
bool mjcf_read_keyframes(Mjcf *m);
bool mjcf_build_contact(Mjcf *m);
bool mjcf_build_visuals(Mjcf *m);
/** The file of a mesh: in meshdir or assetdir of the compiler, from the folder of the main or the attached file. */
bool mjcf_locate_mesh(Mjcf *m, const MjcfMesh *mesh, char *path, size_t size, bool *found);
bool mjcf_report(Mjcf *m, XmlElement *root);

/* ---- classes and attributes ---------------------------------------------------------------------------- */

/** The class of an element: its own, or that of the elements around it. NULL after an error. */
const MjcfClass *mjcf_class_of(Mjcf *m, MjcfFile *file, XmlElement *element, int around);
/** Number of the class that childclass names, or `around`. */
bool mjcf_childclass(Mjcf *m, MjcfFile *file, XmlElement *element, int around, int *inside);
MjcfDefaults mjcf_defaults(void);
bool mjcf_apply_joint(Mjcf *m, MjcfJointAttributes *a, XmlElement *element);
bool mjcf_apply_geom(Mjcf *m, MjcfGeomAttributes *a, MjcfPlaceAttributes *place, XmlElement *element);
bool mjcf_apply_place(Mjcf *m, MjcfPlaceAttributes *a, XmlElement *element);
bool mjcf_apply_mesh(Mjcf *m, MjcfMeshAttributes *a, XmlElement *element);
bool mjcf_apply_tendon(Mjcf *m, MjcfTendonAttributes *a, XmlElement *element);
bool mjcf_apply_actuator(Mjcf *m, MjcfActuatorAttributes *a, XmlElement *element);
bool mjcf_is_actuator(const XmlElement *element);
/** Muscle, adhesion, dcmotor, pid ...: Calder has no such thing. */
bool mjcf_is_unsupported_actuator(const XmlElement *element);
/** Whether it has a state of its own. */
bool mjcf_has_activation(const MjcfActuatorAttributes *a);
/** False, true or auto into *value. */
bool mjcf_apply_switch(Mjcf *m, XmlElement *element, const char *attribute, int *value);
/** Up to count numbers over those that are there. */
bool mjcf_apply_numbers(Mjcf *m, XmlElement *element, const char *attribute, double *values, int count);
bool mjcf_apply_orientation(Mjcf *m, MjcfOrientation *turn, XmlElement *element);
CalQuat mjcf_quaternion(const MjcfCompiler *compiler, const MjcfOrientation *turn);
/** Missing: what a geom or pair may have that acts where it touches, and Calder has not. */
bool mjcf_check_surface(Mjcf *m, XmlElement *element);
/** pos and orientation of an element. */
bool mjcf_read_pose(Mjcf *m, const MjcfFile *file, XmlElement *element, CalPlacement *pose);
/** Whether a range limits; an error where the file must say it and does not. */
bool mjcf_limited(Mjcf *m, const MjcfFile *file, const XmlElement *element, int limited, const double range[2],
                  const char *what, bool *is);

static inline bool mjcf_is_scalar(const MjcfJoint *joint) {
	return joint->a.type == MJCF_HINGE || joint->a.type == MJCF_SLIDE;
}

/* ---- masses (mjcf_inertia.c) ----------------------------------------------------------------------------- */

/** Diagonal of the mass matrix at qpos0 into the joints. */
bool mjcf_joint_inertias(Mjcf *m);
/** Stiffness and damping of joints with springdamper (mjcf_springdamper.c). */
bool mjcf_resolve_springdampers(Mjcf *m);

/** A placement with a quaternion of unit length. */
static inline CalPlacement mjcf_placement(dpose pose) { return placement_of(&pose); }

#endif
