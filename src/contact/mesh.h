// SPDX-License-Identifier: Apache-2.0
/*
 * mesh.h — a triangle mesh with its neighborhoods and its tree of bounding boxes.
 *
 * Edge i of a triangle goes from its vertex i to the next. A triangle's normal points outward. All arrays are in one
 * block. The tree is balanced: halves by the median of the longest side, so that a stack of TREE_DEPTH always suffices.
 */
#ifndef CALDER_CONTACT_MESH_H
#define CALDER_CONTACT_MESH_H

#include "contact/shape.h"

enum { TREE_LEAF = 4, TREE_DEPTH = 64 };

typedef struct Triangle {
	int v[3];
	int across[3];    // triangle beyond edge i, -1: none, or not just one
	uint8_t sharp[3]; // edge i is convex by more than round-off, or open
	vec3 normal;
} Triangle;

enum { CORNER_SHARP = 1, CORNER_RIM = 2 }; // the vertex ends a sharp edge; one that is open

typedef struct MeshNode {
	vec3 lower, upper;
	int first; // leaf: position in CalMesh.order
	int count; // leaf: triangles; 0: inner, children are the next node and `first`
} MeshNode;

struct CalMesh {
	CalAllocator allocator;
	CalMeshInfo info;
	vec3 *vertex;
	vec3 *vertex_normal; // weighted by the angles of the triangles
	uint8_t *corner;     // set of CORNER_*
	int *ring_start;     // [vertices + 1]
	int *ring;           // neighbors of vertex v: ring[ring_start[v]] ... , some twice
	int *first_triangle; // of each vertex
	Triangle *triangle;
	int *order; // triangles in the order of the leaves
	MeshNode *node;
	int node_count;
};

/* Where on a triangle a point is. */
typedef enum Feature { FEATURE_FACE, FEATURE_EDGE, FEATURE_VERTEX = FEATURE_EDGE + 3 } Feature; // + index

typedef struct Nearest {
	vec3 q;           // the nearest point
	int triangle;     // -1: none within the limit
	int feature;      // FEATURE_FACE, FEATURE_EDGE + i, FEATURE_VERTEX + i
	double distance2; //
} Nearest;

typedef struct TreeKey {
	double key;
	int triangle;
} TreeKey;

/** Fills mesh->order and mesh->node from the triangles; keys[triangles] is scratch. */
void tree_build(CalMesh *mesh, TreeKey *keys);
/** Nodes that a tree of so many triangles may need. */
int tree_capacity(int triangles);

/** The point of a triangle nearest to p. */
Nearest triangle_nearest(const CalMesh *mesh, int triangle, vec3 p);
/** The point of the mesh nearest to p within a distance; `against` not NULL: of triangles that face against it. */
Nearest mesh_nearest(const CalMesh *mesh, vec3 p, double limit, const vec3 *against);
/** How far from the surface, on either side, a point may touch: the margin, or how thick an open mesh is. */
INLINE double mesh_reach(const Shape *s) { return isfinite(s->thickness) ? fmax(s->margin, s->thickness) : s->margin; }
/** The distance of p to the mesh is at least this. */
double mesh_distance_bound(const CalMesh *mesh, vec3 p);
/** Whether p is inside the surface, n being the nearest point to it on the whole mesh. */
bool mesh_contains(const CalMesh *mesh, vec3 p, const Nearest *n);

/* All triangles whose bounding box meets [lower, upper], in a fixed order. */
typedef struct TreeWalk {
	const CalMesh *mesh;
	vec3 lower, upper;
	int stack[TREE_DEPTH];
	int depth;
	int at, end; // within a leaf
} TreeWalk;
TreeWalk tree_walk(const CalMesh *mesh, vec3 lower, vec3 upper);
int tree_next(TreeWalk *walk); // -1: no more

#endif
