// SPDX-License-Identifier: Apache-2.0
/*
 * calder/contact.h — contact between spheres, capsules, boxes, half spaces and triangle meshes on nodes.
 *
 * A CalContactSet holds shapes, each fixed to a node; it is immutable once built and may be shared by threads. A
 * CalContactWork holds the scratch of one evaluation and the points it found. cal_contact_evaluate() is a pure function
 * of the poses and velocities of the nodes: it remembers nothing, allocates nothing, and the same input gives the same
 * bits. Each (group, node) that carries a shape is one entry of the list of nodes, and the arrays of an evaluation have
 * one entry per node. docs/contact.md has the formulas, advice on parameters and step sizes, and limits.
 */
#ifndef CALDER_CONTACT_H
#define CALDER_CONTACT_H

#include <calder/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- triangle meshes --------------------------------------------------------------------- */

typedef struct CalMesh CalMesh;

typedef struct CalMeshInfo {
	int vertices;         // after equal ones were made one
	int triangles;        // without those of zero area
	int dropped;          // triangles of zero area
	int open_edges;       // with one triangle only
	int odd_edges;        // with more than two, or two that disagree about the outside
	int closed;           // no such edges: the mesh bounds a solid
	double volume;        // of the solid [m^3]; 0 if not closed
	CalVec3 lower, upper; // bounding box [m]
} CalMeshInfo;

/**
 * A mesh from vertices and triangles, three vertex indices each, counterclockwise seen from outside. Everything is
 * copied. Vertices at the same point count as one; triangles of zero area are left out and counted. name is for
 * messages. A closed mesh that is inside out is refused. allocator NULL: malloc.
 */
CAL_API CalStatus cal_mesh_create(const char *name, const CalVec3 *vertices, int vertex_count, const int *triangles,
                                  int triangle_count, const CalAllocator *allocator, CalMesh **mesh, CalError *error);
/** The mesh of a file, scaled as by cal_mesh_file_read() (calder/mesh.h). */
CAL_API CalStatus cal_mesh_read(const char *path, CalVec3 scale, const CalAllocator *allocator, CalMesh **mesh,
                                CalError *error);
CAL_API void cal_mesh_destroy(CalMesh *mesh); // accepts NULL
CAL_API CalMeshInfo cal_mesh_info(const CalMesh *mesh);

/* ---- materials --------------------------------------------------------------------------- */

/**
 * What a surface does when it is pressed and rubbed. With depth d, closing speed v and the pair's k, n, c:
 *   normal force  N = k d^n max(0, 1 + 3/2 c v)                 (Hunt and Crossley)
 *   friction      mu(s) N s / sqrt(s^2 + vt^2),  mu(s) = mu_d + (mu_s - mu_d) / (1 + (s/vs)^2),  s the slip speed
 * Where both sides have a modulus and one is round, k = 4/3 E sqrt(R) and n = 3/2 (Hertz). A side that is far stiffer
 * than the other may have the modulus or stiffness INFINITY.
 */
typedef struct CalContactMaterial {
	double modulus;          // E/(1 - nu^2) [Pa]; 0: not known
	double stiffness;        // k of one contact point [N/m^exponent]; 0: not known
	double exponent;         // n, 1 ... 4; 0: 3/2
	double dissipation;      // c [s/m], >= 0
	double restitution;      // instead of c: this coefficient (0 < e <= 1) ...
	double impact_speed;     // ... at this speed [m/s]
	double friction_static;  // mu_s; 0: the dynamic one
	double friction_dynamic; // mu_d, >= 0
	double transition_speed; // vt [m/s]; 0: 1e-3
	double stribeck_speed;   // vs [m/s]; 0: 10 vt
	double torsion_radius;   // of the patch that resists spin about the normal [m]; 0: none does
} CalContactMaterial;

/** Coefficient of restitution of a free impact at this speed; 1 for c = 0. NAN for input out of range. */
CAL_API double cal_contact_restitution(double dissipation, double speed);
/** Its inverse: the dissipation [s/m] that gives restitution e (0 < e <= 1) at this speed (> 0). */
CAL_API double cal_contact_dissipation(double restitution, double speed);

/* ---- shapes ------------------------------------------------------------------------------ */

#define CAL_SHAPE_LIST(X)                                                                    \
	X(CAL_SHAPE_SPHERE, "sphere")   /* radius */                                             \
	X(CAL_SHAPE_CAPSULE, "capsule") /* all within radius of a segment of `length` along z */ \
	X(CAL_SHAPE_BOX, "box")         /* half extents along x, y, z */                         \
	X(CAL_SHAPE_PLANE, "plane")     /* the half space z <= 0 */                              \
	X(CAL_SHAPE_MESH, "mesh")       /* triangles */

typedef enum CalShapeType {
#define CAL_SHAPE_ENUM(name, text) name,
	CAL_SHAPE_LIST(CAL_SHAPE_ENUM)
#undef CAL_SHAPE_ENUM
		CAL_SHAPE_COUNT
} CalShapeType;

CAL_API const char *cal_shape_type_name(CalShapeType type); // NULL outside the list

/** A shape on a node. Zero means none unless a comment says otherwise. */
typedef struct CalShapeDef {
	const char *name;            // required, unique in the set
	CalShapeType type;           //
	int group, node;             // that it is fixed to; node -1: the world
	CalPlacement placement;      // of the shape in the node's frame
	double radius;               // SPHERE, CAPSULE [m], > 0
	double length;               // CAPSULE: between the centers of its ends [m], >= 0
	CalVec3 half;                // BOX: half extents [m], > 0
	const CalMesh *mesh;         // MESH: must outlive the set
	double thickness;            // MESH: depth below the surface that counts as inside [m]; 0: all of a closed mesh
	double margin;               // the shape grows by it on all sides [m], >= 0
	double patch;                // points nearer to each other share their stiffness [m]; 0: chosen from the shape
	int owner;                   // shapes with the same owner do not touch; 0: none
	uint32_t layers;             // bits of this shape; 0: 1
	uint32_t mask;               // bits of what it touches; 0: all. Both sides must agree
	CalContactMaterial material; //
	const char *place;           // for messages; may be NULL
} CalShapeDef;

/* ---- the set ----------------------------------------------------------------------------- */

typedef struct CalContactSet CalContactSet;
typedef struct CalContactWork CalContactWork;

/** Everything is copied but the meshes. Shapes on one node, two planes, and two shapes on the world never touch. */
CAL_API CalStatus cal_contact_set_create(const CalShapeDef *shapes, int count, const CalAllocator *allocator,
                                         CalContactSet **set, CalError *error);
CAL_API void cal_contact_set_destroy(CalContactSet *set); // accepts NULL

CAL_API const char *cal_contact_shape_name(const CalContactSet *set, int shape); // NULL outside the range
/**
 * The material of a shape with every default in place; its frictions may be changed between evaluations. NULL: there is no
 * such shape.
 */
CAL_API CalContactMaterial *cal_contact_material(CalContactSet *set, int shape);
CAL_API int cal_contact_node_count(const CalContactSet *set); // that carry shapes
/** Group and node of a contact node; they are in the order in which shapes first name them. */
CAL_API CalStatus cal_contact_node(const CalContactSet *set, int node_index, int *group, int *node);

/** Bytes for one workspace that records up to max_points points; the memory must be aligned to 64 bytes. */
CAL_API size_t cal_contact_work_size(const CalContactSet *set, int max_points);
CAL_API CalStatus cal_contact_work_init(const CalContactSet *set, int max_points, void *memory, size_t size,
                                        CalContactWork **work);
/** The same with memory from malloc. */
CAL_API CalStatus cal_contact_work_create(const CalContactSet *set, int max_points, CalContactWork **work);
CAL_API void cal_contact_work_destroy(CalContactWork *work); // accepts NULL
/** Whether the shapes of a node are left out of evaluations with this workspace; at first none are. */
CAL_API CalStatus cal_contact_exclude_node(CalContactWork *work, int node_index, int out);

/* ---- evaluation -------------------------------------------------------------------------- */

/** One point of contact between the shapes a and b. */
typedef struct CalContactPoint {
	int a, b;         // shapes
	CalVec3 position; // midway between the two surfaces, world [m]
	CalVec3 normal;   // from a to b, unit, world
	double depth;     // > 0 [m]
	double weight;    // share of the full stiffness, 0 ... 1
	double speed;     // closing, > 0 when the depth grows [m/s]
	double force;     // normal, >= 0 [N]
	CalVec3 slip;     // velocity of a over b in the tangent plane [m/s]
	CalVec3 friction; // on a; the opposite on b [N]
} CalContactPoint;

/** The pair of shapes that overlaps most in proportion to what its law is for. */
typedef struct CalContactOverlap {
	int a, b;     // shapes; -1: none touch
	double depth; // of their deepest point [m]
	double limit; // beyond this depth the direction of their force may jump; INFINITY: never (planes) [m]
} CalContactOverlap;

typedef struct CalContactSummary {
	int pairs;         // whose bounding boxes overlap
	int touching;      // with at least one point
	int points;        // that carry force
	int unrecorded;    // points beyond the workspace's max_points: they act, but are not listed
	int dropped;       // shallow points of pairs with more than CAL_CONTACT_PAIR_POINTS: they do not act
	double stored;     // elastic energy [J]
	double dissipated; // power turned to heat by the normal forces [W], >= 0
	double friction;   // power turned to heat by friction [W], >= 0
	double deepest;    // largest depth [m]
	CalContactOverlap overlap;
} CalContactSummary;

enum { CAL_CONTACT_PAIR_POINTS = 64 };

/**
 * Forces of all contacts. poses, velocities: [nodes], world axes, velocities of the nodes' origins. wrenches: [nodes],
 * world axes at the nodes' origins; overwritten. summary may be NULL. CAL_NOT_FINITE: a pose or velocity is not finite
 * (cal_contact_failed_node() says which), or a force is not (it says -1); the wrenches are then zero.
 */
CAL_API CalStatus cal_contact_evaluate(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                                       CalContactWork *work, CalSpatial *wrenches, CalContactSummary *summary);

/* ---- looking ahead ------------------------------------------------------------------------- */

/** Look-ahead of moving shapes: for how long none of them can touch that does not touch yet. */
typedef struct CalContactLookahead {
	double horizon;            // how far ahead is asked for [s], > 0; made shorter where too many pairs are in reach
	double contact_free;       // for so long no pair begins to touch; at most the horizon [s]
	double max_step;           // no step may be longer, or shapes that touch might pass through each other unseen [s]
	int a, b;                  // the pair that bounds contact_free, -1: none can touch within the horizon
	CalContactOverlap overlap; // at these poses
} CalContactLookahead;

/**
 * Fills *lookahead, given its horizon. accelerations: [nodes] as large as they get on the way (NULL: none), as the
 * velocities. The bounds follow from gaps, closing speeds and these (docs/contact.md); contacts that stay shallower
 * than a thousandth of the smaller shape may be missed. Marks the poses for cal_contact_gap().
 */
CAL_API CalStatus cal_contact_look_ahead(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                                         const CalSpatial *accelerations, CalContactWork *work,
                                         CalContactLookahead *lookahead);
/**
 * Nonzero: since the last cal_contact_look_ahead(), within the horizon before these poses, no shape can have come near
 * another one; far cheaper than to look again.
 */
CAL_API int cal_contact_has_room(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                                 double span, CalContactWork *work);
/** Nonzero: at the last look-ahead a pair was in reach. */
CAL_API int cal_contact_in_reach(const CalContactWork *work);
/**
 * The smallest gap now of the pairs that were apart at the last cal_contact_look_ahead(); negative: how deep one of
 * them is. INFINITY: none was in reach.
 */
CAL_API CalStatus cal_contact_gap(const CalContactSet *set, const CalPose *poses, CalContactWork *work, double *gap);

/** Two shapes that may pass through each other in one step. */
typedef struct CalContactTunneling {
	int a, b;
	double speed; // at which they close [m/s]
	double size;  // half of their thicknesses together [m]
} CalContactTunneling;
/**
 * Nonzero: within a step of this size shapes can go from one side of each other to the other; *tunneling is the worst
 * pair.
 */
CAL_API int cal_contact_tunneling(const CalContactSet *set, const CalPose *poses, const CalSpatial *velocities,
                                  double step, CalContactWork *work, CalContactTunneling *tunneling);

/* Of the last evaluation, in an order that depends on the poses only. */
CAL_API int cal_contact_point_count(const CalContactWork *work);
CAL_API CalStatus cal_contact_point(const CalContactWork *work, int index, CalContactPoint *point);
CAL_API int cal_contact_failed_node(const CalContactWork *work);

#ifdef __cplusplus
}
#endif
#endif
