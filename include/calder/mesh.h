// SPDX-License-Identifier: Apache-2.0
/*
 * calder/mesh.h — triangle meshes of files: their geometry, whether they bound a solid, and the mass properties of that
 * solid (docs/meshes.md). Contact has its own form of a mesh, made of the same triangles (CalMesh, calder/contact.h).
 *
 * Nothing here needs a model. Lengths are in m: files without a unit (STL, OBJ) are scaled by whoever reads them, and
 * cal_mesh_question_unit() says whether their size may be in millimeters.
 */
#ifndef CALDER_MESH_H
#define CALDER_MESH_H

#include <calder/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- triangles ------------------------------------------------------------------------------------ */

/** Triangles, counterclockwise seen from outside. */
typedef struct CalTriangles {
	const CalVec3 *vertices; // [vertex_count] [m]
	int vertex_count;        //
	const int *corners;      // [triangle_count][3] vertices
	const int *colors;       // [triangle_count] 0xrrggbb, -1: none; NULL: the file has no colors
	int triangle_count;      //
} CalTriangles;

/** The triangles of a file. */
typedef struct CalMeshFile CalMeshFile;

/**
 * Reads .stl (binary or text), .obj (with the colors of its .mtl files), .gltf or .glb (nodes, transforms, base colors), and
 * multiplies coordinates by scale ({0}: 1; STL has no unit, 0.001 for mm). Where a product of factors is negative the mesh is
 * mirrored, and the order of the vertices reversed with it, so that its outside stays outside. Everything that the file
 * declares is checked against its length before memory is taken for it.
 */
CAL_API CalStatus cal_mesh_file_read(const char *path, CalVec3 scale, const CalAllocator *allocator, CalMeshFile **file,
                                     CalError *error);
CAL_API void cal_mesh_file_destroy(CalMeshFile *file); // accepts NULL
/** They belong to the file. */
CAL_API CalTriangles cal_mesh_file_triangles(const CalMeshFile *file);

/* ---- is it a solid? ------------------------------------------------------------------------------- */

enum { CAL_MESH_PLACES = 8 };

/** An edge that has not exactly two triangles that agree about the outside. */
typedef struct CalMeshEdge {
	CalVec3 from, to; // [m]
	int triangle;     // one of those at the edge, from 0
	int triangles;    // how many there are: 1 at an opening
} CalMeshEdge;

typedef struct CalMeshCheck {
	int vertices;         // after those at the same point were made one
	int triangles;        // without those of zero area
	int dropped;          // triangles of zero area
	int open_edges;       // with one triangle only
	int odd_edges;        // with more than two, or two that disagree about the outside
	int closed;           // nonzero: there are none of either: the mesh bounds a solid
	int pieces;           // connected parts
	int inverted;         // of a closed mesh, parts of negative volume: cavities, or parts that are inside out
	int inside_out;       // nonzero: the volume of the whole is negative
	double volume;        // of all parts, as their triangles say [m^3]; of an open mesh it depends on the origin
	double area;          // [m^2]
	CalVec3 lower, upper; // bounding box [m]
	CalMeshEdge places[CAL_MESH_PLACES]; // the first of the open and odd edges
	int place_count;                     //
} CalMeshCheck;
/** Vertices at the same point, bit for bit, count as one. CAL_ERR_INPUT: the triangles make no surface. */
CAL_API CalStatus cal_mesh_check(const CalTriangles *mesh, const CalAllocator *allocator, CalMeshCheck *check,
                                 CalError *error);
/**
 * Whether lengths may be in another unit than m, for a mesh of a part of a machine: a factor to scale by (0.001:
 * mm), or 1. expected: size that the part should have, largest side of its bounding box [m]; 0: not known, then a part
 * of more than 20 m is questioned.
 */
CAL_API double cal_mesh_question_unit(CalVec3 lower, CalVec3 upper, double expected);

/* ---- mass properties ------------------------------------------------------------------------------- */

/** Mass, center of mass, and inertia about it in the axes of the frame that it is given in. */
typedef struct CalMassProperties {
	double mass;     // [kg]
	CalVec3 com;     // [m]
	CalMat3 inertia; // [kg m^2]
} CalMassProperties;

#define CAL_MESH_SOLID_LIST(X)                                                                             \
	X(CAL_MESH_EXACT, "exact")   /* the solid within a closed mesh */                                      \
	X(CAL_MESH_CONVEX, "convex") /* its convex hull */                                                     \
	X(CAL_MESH_LEGACY, "legacy") /* pyramids over all triangles, each counted as positive, as in MuJoCo */ \
	X(CAL_MESH_SHELL, "shell")   /* its surface; density is then per area [kg/m^2] */

typedef enum CalMeshSolid {
#define CAL_MESH_SOLID_ENUM(name, text) name,
	CAL_MESH_SOLID_LIST(CAL_MESH_SOLID_ENUM)
#undef CAL_MESH_SOLID_ENUM
		CAL_MESH_SOLID_COUNT
} CalMeshSolid;
CAL_API const char *cal_mesh_solid_name(CalMeshSolid solid); // NULL outside the list

/** Zero-initialized: the exact solid with density 1. */
typedef struct CalMeshMassOptions {
	CalMeshSolid solid;
	double density; // [kg/m^3], SHELL [kg/m^2]; 0: 1 unless there is a mass
	double mass;    // instead [kg]; 0: by density
	int unchecked;  // EXACT, nonzero: also of a mesh that is open or inside out: what its triangles sum up to
} CalMeshMassOptions;
/**
 * Volume integrals over the tetrahedra between the triangles and the center of mass: exact but for rounding. EXACT refuses a
 * mesh that is open or inside out with the number of such edges and the place of the first. name is for messages. allocator
 * NULL: malloc.
 */
CAL_API CalStatus cal_mesh_mass_properties(const char *name, const CalTriangles *mesh,
                                           const CalMeshMassOptions *options, const CalAllocator *allocator,
                                           CalMassProperties *properties, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
