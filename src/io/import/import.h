// SPDX-License-Identifier: Apache-2.0
/*
 * import.h — what the readers of robot files (URDF, MJCF, SDFormat) share: the import report, values of attributes, paths
 * of files, names.
 *
 * Every function that can fail returns false after it has set im->status and im->error; a reader continues as long as it
 * gets true.
 */
#ifndef CALDER_IO_IMPORT_IMPORT_H
#define CALDER_IO_IMPORT_IMPORT_H

#include <calder/io.h>
#include <stdbool.h>

#include "io/xml/xml_tree.h"

typedef struct Import {
	const char *path;              // of the main file, as it was opened
	const CalReadOptions *options; // never NULL
	CalAllocator allocator;
	XmlTree *tree; // of the main file with all that it includes
	CalSetup *setup;
	CalDesc *desc; // of the setup
	CalError *error;
	CalStatus status;              // of the first error
	struct ImportLimit *limits;    // stops of joints that import_finish() makes, newest first
	struct ImportFolders *folders; // in which files are sought; NULL: not yet needed
	size_t included_bytes;         // of all XML files but the main one
} Import;

/* ---- errors and the report ------------------------------------------------------------------------ */

/** "file:line:column: error: ..."; false back. */
bool import_fail(Import *im, const XmlElement *element, const char *format, ...) ERROR_PRINTF(3, 4);
bool import_no_memory(Import *im);
/** For calls of the public interface: true if status is CAL_OK; im->error is set by them already. */
bool import_ok(Import *im, CalStatus status);
/** A line of the report on an element, or on one of its attributes (NULL: on the whole). */
bool import_note(Import *im, CalImportKind kind, const XmlElement *element, const char *attribute, const char *format,
                 ...) ERROR_PRINTF(5, 6);
/** The same with CAL_IMPORT_MISSING; an error unless options->partial. All of the element counts as used. */
bool import_missing(Import *im, XmlElement *element, const char *format, ...) ERROR_PRINTF(3, 4);
/** IGNORED, with all that the element holds. */
bool import_ignore(Import *im, XmlElement *element, const char *format, ...) ERROR_PRINTF(3, 4);
/** A line for each attribute, and for the text, of an element that no reader looked at. */
bool import_report_parts(Import *im, const XmlElement *element);
/** At the end: a line for every element and attribute that no reader looked at, the outermost only. */
bool import_report_unused(Import *im, const XmlElement *root);

/* ---- values: attributes, or the text of an element where attribute is NULL ------------------------ */

/* *given, which may be NULL, says whether it is there; if not, the value stays as it is. Numbers must be finite. */
bool import_number(Import *im, XmlElement *element, const char *attribute, double *value, bool *given);
/** Exactly count numbers. */
bool import_numbers(Import *im, XmlElement *element, const char *attribute, double *values, int count, bool *given);
/** least to most numbers; *count: how many there are. */
bool import_list(Import *im, XmlElement *element, const char *attribute, double *values, int least, int most,
                 int *count);
/** A number that may be inf or -inf. */
bool import_bound(Import *im, XmlElement *element, const char *attribute, double *value, bool *given);
bool import_vec3(Import *im, XmlElement *element, const char *attribute, CalVec3 *value, bool *given);
bool import_integer(Import *im, XmlElement *element, const char *attribute, int *value, bool *given);
/** true, false, 1, 0. */
bool import_bool(Import *im, XmlElement *element, const char *attribute, bool *value, bool *given);
/** One of the words, ended by NULL; its place from 0. An error lists them. */
bool import_word(Import *im, XmlElement *element, const char *attribute, const char *const *words, int *value,
                 bool *given);
/** The attribute must be there and not empty. NULL: it is not; the error is set. */
const char *import_required(Import *im, XmlElement *element, const char *attribute);

/* ---- rotations ------------------------------------------------------------------------------------ */

/** Roll about fixed x, then pitch about fixed y, then yaw about fixed z (URDF, SDFormat). */
CalQuat import_rpy(CalVec3 rpy);
/**
 * A note if `count` numbers are no unit vector (an axis, a quaternion) to the round-off of six written digits: these are off
 * by 5e-7 each, and the length by at most twice that.
 */
bool import_question_length(Import *im, const XmlElement *element, const char *attribute, const double *v, int count);
#define IMPORT_LENGTH_ERROR 1.1e-6
/** Makes v unit, unless it is zero. What is unit to round-off stays as it is, to the bit: so does what was written and is read again. */
void import_unit(double *v, int count);
/** Gravity of the main group, [m/s^2]; refused at `element` where no description holds it. */
bool import_gravity(Import *im, const XmlElement *element, CalVec3 gravity);
/** A note if angles of an orientation are more than a turn: most likely degrees. */
bool import_question_radians(Import *im, const XmlElement *element, const char *attribute, CalVec3 angles);

/* ---- files that a file names ---------------------------------------------------------------------- */

/**
 * The file that a path or URI means, "package://arm/meshes/a.stl", "model://...", "file://...", or relative to the folder of
 * the file that the element stands in, into path[size]. It is in the folder of the main file, in its package (the nearest
 * folder above with a package.xml or model.config) or in one of options->roots: nothing else is looked at, whatever `..` and
 * links say. *found false: there is none; `tried`, which may be NULL, then lists the places and why they do not count. A
 * package NAME is a folder NAME of a root, of its `share`, the root of that name, or the package of the file.
 */
bool import_locate(Import *im, const XmlElement *element, const char *uri, char *path, size_t size, bool *found,
                   char *tried, size_t tried_size);
/**
 * An XML file that the main file includes. All of them together have at most IMPORT_MOST_BYTES: a few files that include each
 * other many times would take hours and all memory.
 */
bool import_read(Import *im, const XmlElement *element, const char *path, XmlTree **tree);
enum { IMPORT_MOST_BYTES = 1 << 29 };
/** A path of import_locate() as cal_setup_locate() finds it again: relative to the main file if it is in its package. In the
 * tree's memory; NULL: out of it. */
const char *import_beside(Import *im, const char *path);
/** Whether the name ends like that of a mesh that can be drawn. */
bool import_mesh_is_known(const char *path);

/* ---- names ---------------------------------------------------------------------------------------- */

/** A name for a body, joint or loop that is free: `wanted` itself, or without slashes that do not fit, or with a number, in the tree's memory. */
const char *import_body_name(Import *im, const char *wanted);
const char *import_joint_name(Import *im, const char *wanted);
const char *import_loop_name(Import *im, const char *wanted);

/* ---- stops and friction of joints ----------------------------------------------------------------- */

/**
 * A stop at lower and upper, infinite: none; equal: none either, with a note. stiffness and damping of a side; stiffness 0: chosen by import_finish() so that
 * what the joint carries swings on it at IMPORT_LIMIT_FREQUENCY, well damped.
 */
bool import_limit(Import *im, const XmlElement *element, CalJointId joint, int dof, double lower, double upper,
                  double stiffness, double damping);
/** Coulomb friction, smoothed; nothing for 0. */
bool import_friction(Import *im, const XmlElement *element, CalJointId joint, int dof, double coulomb);
/** When all bodies and joints are there: makes the stops. Called for every format. */
bool import_finish(Import *im);

#define IMPORT_LIMIT_FREQUENCY 30.0 // [Hz]
#define IMPORT_LIMIT_DAMPING 0.7    // of critical
#define IMPORT_FRICTION_SPEED 1e-3  // below it friction falls to zero [rad/s] or [m/s]

/* ---- weight --------------------------------------------------------------------------------------- */

/** A device of that name: a force at the center of mass that lifts a part of the weight of a body, which has its mass. */
bool import_lift_weight(Import *im, const XmlElement *element, CalBodyId body, const char *name, double part);

/* ---- shapes --------------------------------------------------------------------------------------- */

/** A mesh file as the shape of a visual; *known false: it cannot be drawn, and the report says why. */
bool import_visual_mesh(Import *im, XmlElement *element, const char *path, CalVec3 scale, CalVisual *visual,
                        bool *known);
/** A collision shape of a link, for the report: links do not touch unless the model is given contacts. */
bool import_collision(Import *im, XmlElement *collision, const char *link);

/* ---- mass properties of shapes --------------------------------------------------------------------- */

/** Mass, center of mass, and inertia about it, in the axes of the frame that it is given in. */
typedef struct MassProperties {
	double mass;
	CalVec3 com;
	CalMat3 inertia;
} MassProperties;

/** Density 1; size as in CalVisual (full sides, radius, length); CAL_VISUAL_MESH: not here. An ellipsoid: half axes. */
MassProperties mass_of_shape(CalVisualKind kind, CalVec3 size);
MassProperties mass_of_ellipsoid(CalVec3 half_axes);
MassProperties mass_scaled(MassProperties m, double factor);
/** From the frame that it is given in to the one in which that is placed. */
MassProperties mass_moved(MassProperties m, CalPlacement placement);
/** Of both together. */
MassProperties mass_sum(MassProperties a, MassProperties b);

#endif
