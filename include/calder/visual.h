// SPDX-License-Identifier: Apache-2.0
/*
 * calder/visual.h — what bodies look like: shapes for pictures, without any effect on the motion. A setup has them
 * (cal_setup_add_visual).
 */
#ifndef CALDER_VISUAL_H
#define CALDER_VISUAL_H

#include <calder/build.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAL_VISUAL_LIST(X)                                                                                \
	X(CAL_VISUAL_BOX, "box")           /* size: its three sides */                                        \
	X(CAL_VISUAL_SPHERE, "sphere")     /* size.x: radius */                                               \
	X(CAL_VISUAL_CYLINDER, "cylinder") /* about z; size.x: radius, size.z: length */                      \
	X(CAL_VISUAL_CAPSULE, "capsule")   /* likewise; the length is that between the centers of its ends */ \
	X(CAL_VISUAL_CONE, "cone")         /* likewise; its tip is at +z */                                   \
	X(CAL_VISUAL_PLANE, "plane")       /* a rectangle in x and y; size.x, size.y */                       \
	X(CAL_VISUAL_MESH, "mesh")         /* triangles of `file`; size: factors along its axes, y and z 0: all are x */

typedef enum CalVisualKind {
#define CAL_VISUAL_ENUM(name, text) name,
	CAL_VISUAL_LIST(CAL_VISUAL_ENUM)
#undef CAL_VISUAL_ENUM
		CAL_VISUAL_COUNT
} CalVisualKind;
CAL_API const char *cal_visual_name(CalVisualKind kind); // NULL outside the list

typedef struct CalVisual {
	CalVisualKind kind;
	CalPlacement placement; // of its center in the body frame
	CalVec3 size;           // [m]; of a mesh: without unit, a negative factor mirrors it
	const char *file;       // MESH: name of a mesh file as given (cal_setup_locate)
	int color;              // 0xrrggbb, -1: the viewer's choice
} CalVisual;

#ifdef __cplusplus
}
#endif
#endif
