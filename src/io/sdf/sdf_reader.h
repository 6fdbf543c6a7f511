// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_reader.h — what the parts of the SDFormat reader share.
 *
 * The reader first lists everything that has a pose: models, links, joints and frames, each with the names that it refers to
 * (sdf_list.c, with included files by sdf_include.c); then it finds all poses and to which link each frame is attached
 * (sdf_pose.c); then it reads links (sdf_link.c, sdf_shape.c) and joints (sdf_joint.c), chooses which joints make the tree
 * and which close loops (sdf_tree.c), and builds the description (sdf_build.c). Every step takes time in proportion to the
 * file.
 */
#ifndef CALDER_IO_SDF_SDF_READER_H
#define CALDER_IO_SDF_SDF_READER_H

#include "base/name_index.h"
#include "io/sdf/sdf.h"
#include "math/placement.h"

enum { SDF_WORLD_FRAME = 0, SDF_NONE = -1 };

typedef enum SdfKind { SDF_WORLD, SDF_MODEL, SDF_LINK, SDF_JOINT, SDF_FRAME } SdfKind;

/** Something with a pose. Numbers of others are places in Sdf.frames. */
typedef struct SdfFrame {
	XmlElement *element; // NULL: the world of a file that has only models
	SdfKind kind;
	int version;           // of its file: 106 for 1.6
	int scope;             // the model that it is in, or the world
	bool is_merged;        // MODEL: its names are those of the model around it
	int joint;             // JOINT: in Sdf.joints
	const char *name;      //
	const char *full_name; // with the models around it, "arm/hand/finger"
	CalPlacement given;    // as in the file, relative to `relative_to`
	int relative_to;       //
	int attached_to;     // FRAME, JOINT: next on the way to a link; MODEL: its canonical link; SDF_NONE: not known yet
	int placement_frame; // MODEL: what its pose places; itself by default
	bool is_static;      // MODEL, and all inside
	int state;           // of the search: 0 not begun, 1 under way, 2 done
	CalPlacement in_scope; // its pose in its scope, at the start
	CalPlacement in_world; //
	int link;              // in Sdf.links that it moves with; SDF_NONE: the ground
} SdfFrame;

typedef struct SdfLink {
	int frame;
	MassProperties mass; // in the frame of the link
	CalBodyId body;
	int parent_joint; // in the tree; SDF_NONE: none yet
	bool placed;      // it is in the tree
	bool is_child;    // of some joint of the tree in the sense of the file
	bool weightless;  // gravity does not act on it
} SdfLink;

typedef enum SdfJointType {
	SDF_FIXED,
	SDF_REVOLUTE,
	SDF_CONTINUOUS,
	SDF_PRISMATIC,
	SDF_SCREW,
	SDF_BALL,
	SDF_UNIVERSAL,
	SDF_REVOLUTE2,
	SDF_GEARBOX,
} SdfJointType;

typedef struct SdfAxis {
	XmlElement *element; // NULL: none
	CalVec3 xyz;         // unit, in the joint frame at the start
	double damping, friction, stiffness, rest;
	double lower, upper;                   // infinite: none
	double limit_stiffness, limit_damping; // stiffness 0: not given
	double start;                          // coordinate
	XmlElement *mimic;                     // NULL: none
	bool acts;                             // it has forces of its own, which a joint that closes a loop cannot have
} SdfAxis;

typedef enum SdfUse { SDF_USE_OPEN, SDF_USE_TREE, SDF_USE_LOOP, SDF_USE_COUPLING } SdfUse;

typedef struct SdfJoint {
	int frame;
	SdfJointType type;
	int parent, child; // frames, as the file names them
	int axis_count;
	SdfAxis axis[2];
	double pitch;      // SCREW [m/rad]
	double ratio;      // GEARBOX
	int reference;     // GEARBOX: frame
	bool must_be_loop; // the file asks for it
	SdfUse use;
	bool reversed; // in the tree: its child carries its parent
	CalJointId joint;
} SdfJoint;

typedef struct Sdf {
	Import *im;
	SdfFrame *frames; // the world first
	SdfLink *links;
	SdfJoint *joints;
	int frame_count, link_count, joint_count;
	int frame_capacity, link_capacity, joint_capacity;
	int model_count;   // at the top
	NameIndex names;   // scope: frame of the model that is not merged + 1; values: frame + 1
	XmlElement *world; // NULL: none
} Sdf;

/* ---- sdf_list.c ---- */

/** Lists all models, links, joints and frames of the file, and finds what their names mean. */
bool sdf_list(Sdf *s);
/** What "name", "model::name" or "__model__" means in a model; SDF_NONE: nothing. */
int sdf_find(const Sdf *s, int scope, const char *name);
/** The same, for an element that must name something; an error if it does not. SDF_NONE back then. */
int sdf_find_required(Sdf *s, int scope, const XmlElement *element, const char *name);
/** Version of a file, 106 for "1.6". */
bool sdf_read_version(Sdf *s, XmlElement *root, int *version);

/* ---- sdf_include.c ---- */

/**
 * Puts the model that an <include> in a model or in the world names in its place; *model: that, or NULL if there is none to
 * read. *merged: what it holds belongs to the model around it.
 */
bool sdf_include(Sdf *s, XmlElement *include, bool in_model, XmlElement **model, bool *merged);

/* ---- sdf_pose.c ---- */

/** <pose> of an element, as written; the identity where it has none. relative: its relative_to, NULL if it has none. */
bool sdf_read_pose(Sdf *s, XmlElement *owner, int version, CalPlacement *pose, const char **relative);
/** Finds in_world and link of every frame. */
bool sdf_find_poses(Sdf *s);
/** After that: its axes, in the world. */
static inline dmat3 sdf_axes(const Sdf *s, int frame) { return dquat_matrix(s->frames[frame].in_world.orientation); }
/** After that: where a part of a link (a visual, a collision) is on it. */
bool sdf_read_pose_on_link(Sdf *s, const SdfFrame *link, XmlElement *owner, CalPlacement *placement);

/* ---- sdf_link.c, sdf_shape.c ---- */

bool sdf_read_links(Sdf *s);
/** <geometry> as a shape; *known false: it is none that can be drawn; the report has it. An ellipsoid is drawn as none. */
bool sdf_read_shape(Sdf *s, XmlElement *owner, CalVisual *visual, bool *known, MassProperties *mass);
/** Mass properties of a <mesh> of a closed surface, with density 1. */
bool sdf_read_mesh_mass(Sdf *s, XmlElement *mesh, MassProperties *mass);
/** Visuals of all links, whose bodies exist. */
bool sdf_read_visuals(Sdf *s);

/* ---- sdf_joint.c ---- */

bool sdf_read_joints(Sdf *s);

/* ---- sdf_tree.c ---- */

/** Says of every joint whether it belongs to the tree or closes a loop. */
bool sdf_choose_tree(Sdf *s);

/* ---- sdf_build.c ---- */

bool sdf_build(Sdf *s);

#endif
