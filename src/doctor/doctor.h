// SPDX-License-Identifier: Apache-2.0
/*
 * doctor.h — between the parts of cal_setup_diagnose(): what is known of each body, and who reports.
 */
#ifndef CALDER_DOCTOR_DOCTOR_H
#define CALDER_DOCTOR_DOCTOR_H

#include <calder/doctor.h>
#include <calder/flex.h>
#include <stdbool.h>

#include "base/error.h"
#include "io/import/import.h"

/** The shapes of a body, in its frame. */
typedef struct Geometry {
	bool has_box;
	CalVec3 lower, upper;        // bounding box of all shapes
	bool has_solid;              // volume > 0: the solid below is that of its visuals, else of its contact shapes
	MassProperties solid;        // of density 1; shapes that overlap count twice
	CalVec3 low_node, high_node; // box of its nodes, joints and own frame
} Geometry;

/** What is known of a body. */
typedef struct Patient {
	const CalBodyDef *def;
	CalBodyId id;
	Geometry shape;
	bool flexible;     // its rigid part says little
	bool checked;      // cal_desc_check() has said something of it
	bool diagnosed;    // its inertia was reported: one cause per body
	CalJointId joint;  // that carries it; {0}: none
	int parent;        // -1: the ground
	int children;      // that are left to be summed
	bool has_children; //
	double carried;    // mass of all that it carries, without its own [kg]
} Patient;

typedef struct Doctor {
	const CalSetup *setup;
	const CalDesc *desc;
	CalAllocator allocator;
	Patient *bodies; // [count], body id - 1
	int count;
	CalDiagnosisFn report;
	void *user;
} Doctor;

/** Texts of one finding, to be filled before it is reported. */
typedef struct Finding {
	char object[160], evidence[512], cause[320], fix[320];
	CalDiagnosis d;
	CalBodyDef proposal;
} Finding;

/** Reports what was filled; kind and place are set here. */
void doctor_report(const Doctor *doctor, Finding *finding, CalDiagnosisKind kind, const char *place);
/** The same of a body; proposal: its fields of mass are in finding->proposal. */
void doctor_report_body(const Doctor *doctor, Patient *patient, Finding *finding, CalDiagnosisKind kind, bool proposal);
/** printf into one of the texts. */
void finding_text(char *text, size_t size, const char *format, ...) ERROR_PRINTF(3, 4);
#define FINDING(member, ...) finding_text((member), sizeof(member), __VA_ARGS__)

/* Parts, in the order in which they run. */
void doctor_measure(Doctor *doctor);         // doctor_geometry.c: shapes of all bodies; reports meshes
void doctor_examine_mass(Doctor *doctor);    // doctor_mass.c: density, center of mass, ratios
void doctor_examine_pairs(Doctor *doctor);   // doctor_pairs.c: placeholders, copies, mirror pairs
void doctor_examine_inertia(Doctor *doctor); // doctor_inertia.c: inertia against the shapes
void doctor_examine_joints(Doctor *doctor);  // doctor_joint.c: limits, states, efforts, gravity

/** Largest side of the box of shapes, or of nodes where there are none; 0: a point. */
double geometry_size(const Geometry *shape);
/** Distance from p to the farthest corner of a box. */
double box_reach(CalVec3 lower, CalVec3 upper, CalVec3 p);
/** The inertia has products of no more than rounding. */
bool inertia_is_diagonal(const CalMat3 *inertia);
double inertia_trace(const CalMat3 *inertia);

#endif
