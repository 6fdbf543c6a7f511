// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write.h — what the parts of the writer of MJCF share (docs/export.md).
 *
 * Links of a joint that MJCF has as several joints of one body are merged into that body: a run of links, whose last one is
 * the body. Sites are the nodes of the setup and the frames of loops that are no nodes; those of a link are a list.
 */
#ifndef CALDER_IO_MJCF_MJCF_WRITE_H
#define CALDER_IO_MJCF_MJCF_WRITE_H

#include "io/export/export.h"

typedef struct MjcfSiteOut {
	const char *name;
	dpose X_LN;
	int next; // of the same link; -1: none
} MjcfSiteOut;

typedef struct MjcfOut {
	Export *ex;
	bool *merged;     // [links] its joint is one of the body of the next link
	double *gravcomp; // [links]
	int *first_site;  // [links + 1], that of the ground first; -1: none
	MjcfSiteOut *sites;
	int site_count;
	int *site_of_node; // [nodes + 1], that of the ground's origin first; -1: none yet
	void *loop_sites;  // of mjcf_write_equality.c
	ExportNames loop_names, device_names, tendon_names;
	const char **force_tendons; // [force_tendon_count] names, in the order of their forces
	int force_tendon_count, force_actuator_count;
	double *controls; // [control_count] inputs of the actuators, in their order
	int control_count;
	const CalContactDef *contact;  // device whose shapes are geoms; NULL: none
	int *first_shape, *next_shape; // [links + 1], [shapes] of the contact, as first_site; -1: none
	ExportNames geom_names;
	int mesh_count; // in <asset>
	bool gray;      // a geom has no color
} MjcfOut;

/* ---- mjcf_write_joint.c ---- */

/** Joints of the run of links that ends with `last`, in the frame of its body. */
void mjcf_put_joints(MjcfOut *m, int first, int last);
void mjcf_put_keyframe(MjcfOut *m);

/* ---- mjcf_write_equality.c ---- */

/** Makes the sites of loops, before bodies are written. */
void mjcf_place_loops(MjcfOut *m);
void mjcf_put_equalities(MjcfOut *m);
/** Tendons of couplings of more than two joints. */
void mjcf_put_coupling_tendons(MjcfOut *m);

/* ---- mjcf_write_actuator.c ---- */

/** Whether a device is an actuator, a spring between two nodes, or weight compensation. */
bool mjcf_takes_device(Export *ex, const char *type, const void *def);
bool mjcf_takes_load(Export *ex, const CalLoadDef *def);
/** Finds weight compensation: an attribute of bodies. */
void mjcf_find_gravcomp(MjcfOut *m);
/** Makes the sites of devices on frames of bodies, before bodies are written. */
void mjcf_place_devices(MjcfOut *m);
void mjcf_put_actuators(MjcfOut *m);
/** Springs between nodes, and couplings of more than two joints. */
void mjcf_put_tendons(MjcfOut *m);

/* ---- mjcf_write_contact.c ---- */

/** Whether the shapes of a contact device can be geoms. */
bool mjcf_takes_contact(const Export *ex, const CalContactDef *def);
/** Finds that device, before bodies are written. */
void mjcf_find_contact(MjcfOut *m);
void mjcf_put_contact_geoms(MjcfOut *m, int link);

/* ---- mjcf_write_formula.c ---- */

/** force = clamp(constant + position q + speed u, lower, upper) of one joint. */
typedef struct MjcfAffine {
	double constant, position, speed;
	double lower, upper; // infinite: none
} MjcfAffine;
/** Whether a formula is affine in coordinates and speeds of the joints, and depends on nothing else; *out is for joint
 * `wanted`. */
bool mjcf_read_affine(const char *formula, const char *const *joints, int count, int wanted, MjcfAffine *out);
/**
 * Whether a formula begins with "(gain)*(control)", within a clamp() or not; `rest` (as long as the text) gets it with (0)
 * instead.
 */
bool mjcf_split_input(const char *formula, double *gain, double *control, char *rest);
/** Whether a formula is "(factor)*(inner)", the second one to its end. */
bool mjcf_split_factor(const char *formula, double *factor, const char **inner, size_t *length);

/* ---- mjcf_write_tendon.c ---- */

enum { MJCF_MOST_TERMS = 32 };

/** Efforts on several joints that are one force along a fixed tendon: factor_i f(sum factor_k q_k). */
typedef struct MjcfTendonForce {
	int count;
	const CalAppliedLoadDef *loads[MJCF_MOST_TERMS]; // in the order of the setup
	int links[MJCF_MOST_TERMS];
	double factors[MJCF_MOST_TERMS];
	double gain, control; // part gain control of the force; 0: there is none
	MjcfAffine force;     // the rest, of length and speed of the tendon
} MjcfTendonForce;

/** Whether an effort is a part of such a force; if so, all of it. */
bool mjcf_find_tendon_force(const Export *ex, const CalAppliedLoadDef *def, MjcfTendonForce *out);
/** The tendon of a force whose first load is given; its name has to be that of its actuator. */
void mjcf_put_force_tendon(MjcfOut *m, const MjcfTendonForce *force);
void mjcf_put_tendon_actuator(MjcfOut *m, const MjcfTendonForce *force);

/* ---- mjcf_write.c ---- */

/** pos and quat. */
void mjcf_put_pose(Export *ex, const dpose *X, CalQuat given); // given: of export_quat()

/** The site of a node, or a new one of that name; its number, -1: out of memory. */
int mjcf_site_of(MjcfOut *m, CalNodeId node, const char *name);
/** A new site on a link. */
int mjcf_add_site(MjcfOut *m, int link, const char *name, dpose X_LN);

#endif
