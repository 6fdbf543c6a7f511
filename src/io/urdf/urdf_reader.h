// SPDX-License-Identifier: Apache-2.0
/*
 * urdf_reader.h — what the parts of the URDF reader share.
 *
 * The reader first lists links and joints and finds the tree (urdf_tree.c), then reads each link (urdf_link.c), each joint
 * (urdf_joint.c, urdf_limit.c), transmissions and extensions (urdf_transmission.c, urdf_extension.c), and builds bodies, joints, couplings and devices from the
 * lists (urdf_build.c), parents first. Every step takes time in proportion to the file.
 */
#ifndef CALDER_IO_URDF_URDF_READER_H
#define CALDER_IO_URDF_URDF_READER_H

#include "base/name_index.h"
#include "io/urdf/urdf.h"

/* In the order of urdf_joint_words (urdf_joint.c). */
typedef enum UrdfJointType {
	URDF_FIXED,
	URDF_REVOLUTE,
	URDF_CONTINUOUS,
	URDF_PRISMATIC,
	URDF_PLANAR,
	URDF_FLOATING,
} UrdfJointType;

typedef struct UrdfLink {
	XmlElement *element;
	const char *name;
	int joint;               // whose child it is; -1: the root
	int first_joint;         // whose parent it is, then next_joint of that; -1: none
	bool connected;          // to the root
	MassProperties mass;     // in the frame of the link
	MassProperties outboard; // of it and all links that it carries, in its frame, all coordinates zero
	CalBodyId body;          // {0}: it is the ground
} UrdfLink;

typedef struct UrdfMimic {
	XmlElement *element; // NULL: none
	int leader;          // joint; -1: it does not exist
	double multiplier, offset;
} UrdfMimic;

typedef struct UrdfJoint {
	XmlElement *element;
	const char *name;
	UrdfJointType type;
	int parent, child; // links
	int next_joint;    // of the same parent, in the order of the file; -1: none
	CalPlacement origin;
	CalVec3 axis;             // unit
	XmlElement *limit;        // NULL: none
	double lower, upper;      // -INFINITY, INFINITY: none; equal: it is held there
	double friction;          // Coulomb [N m] or [N]
	CalDofDef dof;            // damping and rotor of each degree of freedom
	XmlElement *transmission; // that gives the rotor; NULL: none
	bool has_transmission;    // of its own: with one degree of freedom, there is a motor that `effort` bounds
	UrdfMimic mimic;
	CalJointId id;  // in the description
	bool ordered;   // by urdf_order_mimics()
	double inertia; // of all that it moves, about or along its axis, all coordinates zero
	double start;   // coordinate at the start
} UrdfJoint;

typedef struct UrdfMotor {
	XmlElement *element; // transmission
	const char *name;
	int joint;
	double gear;
} UrdfMotor;

#define URDF_NO_BOUND 1e9 // effort and velocity from which on they bound nothing, as they are written

typedef struct Urdf {
	Import *im;
	XmlElement *robot;
	int minor; // of version 1.minor
	UrdfLink *links;
	UrdfJoint *joints;
	int link_count, joint_count;
	int *order; // [link_count] links, parents first, depth first in the order of the file
	int root;   // link
	bool root_is_ground;
	UrdfMotor *motors;
	int motor_count;
	NameIndex link_names, joint_names, material_names, motor_names;
	XmlElement **materials; // of the robot that have a name
	int material_count;
} Urdf;

/* ---- urdf_tree.c ---- */

/** Lists links and joints by name and finds the tree; a file that is none is refused. */
bool urdf_read_structure(Urdf *u);
/** Number of a link or joint; -1: there is none. */
int urdf_find_link(const Urdf *u, const char *name);
int urdf_find_joint(const Urdf *u, const char *name);

/* ---- urdf_link.c, urdf_visual.c ---- */

/** <origin> of an element; the identity where it has none. */
bool urdf_read_origin(Urdf *u, XmlElement *owner, CalPlacement *placement);
/** Mass properties of all links. */
bool urdf_read_links(Urdf *u);
/** Materials of the robot, then the shapes of all links, whose bodies exist. */
bool urdf_read_visuals(Urdf *u);

/* ---- urdf_joint.c, urdf_limit.c ---- */

bool urdf_is_scalar(const UrdfJoint *joint);   // it has one degree of freedom
const char *urdf_unit(const UrdfJoint *joint); // "rad" or "m"
bool urdf_read_joints(Urdf *u);
bool urdf_read_limit(Urdf *u, UrdfJoint *joint);
/** Efforts of zero among others that are not. */
bool urdf_question_efforts(Urdf *u);

/* ---- urdf_extension.c ---- */

/** Refuses what xacro should have replaced. */
bool urdf_refuse_xacro(Urdf *u);
/** <gazebo>, <mujoco>, drake:..., loops: each is named. */
bool urdf_report_extensions(Urdf *u);

/* ---- urdf_transmission.c ---- */

/** Which joints have one of their own, before joints are read. */
bool urdf_find_transmissions(Urdf *u);
bool urdf_read_transmissions(Urdf *u);
int urdf_find_motor(const Urdf *u, const char *name); // -1: there is none
/** Devices, when the joints are there. */
bool urdf_build_motors(Urdf *u);

/* ---- urdf_mimic.c ---- */

/** Finds leaders; refuses cycles, and leaders that have no coordinate. Sets the start of followers. */
bool urdf_order_mimics(Urdf *u);

/* ---- urdf_build.c ---- */

/** Inertia that each joint moves; a joint that moves none is refused, or welded if the options allow it. */
bool urdf_weigh_joints(Urdf *u);
bool urdf_build(Urdf *u);

#endif
