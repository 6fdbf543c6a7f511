// SPDX-License-Identifier: Apache-2.0
/*
 * calder/view.h — how a run is looked at: cameras, the moment and the speed at which it is shown first, plots, arrows,
 * trails, and the steps of its story. No effect on the motion. A setup has them (cal_setup_set_view), and replays
 * hold them for the viewer (docs/viewer.md).
 */
#ifndef CALDER_VIEW_H
#define CALDER_VIEW_H

#include <calder/build.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAL_CAMERA_LIST(X)                                                                                        \
	X(CAL_CAMERA_FIXED, "fixed")         /* from, at: in the world */                                             \
	X(CAL_CAMERA_FOLLOWING, "following") /* from, at: from the origin of the body, along the axes of the world */ \
	X(CAL_CAMERA_ONBOARD, "onboard")     /* from, at: in the body frame, whose z is up */

typedef enum CalCameraKind {
#define CAL_CAMERA_ENUM(name, text) name,
	CAL_CAMERA_LIST(CAL_CAMERA_ENUM)
#undef CAL_CAMERA_ENUM
		CAL_CAMERA_COUNT
} CalCameraKind;
CAL_API const char *cal_camera_name(CalCameraKind kind); // NULL outside the list

typedef struct CalViewCamera {
	const char *name;
	CalCameraKind kind;
	CalBodyId body;   // that is followed or carries it; not of a fixed one
	CalVec3 from, at; // where it is and where it is aimed [m]
	int orthographic; // without perspective
} CalViewCamera;

/** What is shown and said from a moment on. */
typedef struct CalViewStep {
	double time;         // [s], after the event if there is one
	const char *event;   // NULL: none, time counts as that of the run does
	const char *camera;  // name; NULL: as before
	const char *caption; // NULL: none
} CalViewStep;

typedef struct CalViewSettings {
	const char *card;   // a sentence below the title, shown until the run is played; NULL: none
	double start;       // moment that is shown first [s]
	double speed;       // seconds of the run per second; 0: the viewer's choice
	double arrows;      // factor of their length; 0: none are drawn
	double deformation; // factor of deformations
	CalVec3 light;      // direction towards the light, in the world; zero: from above, over the left shoulder
	const char *camera; // that is used first; NULL: that of the first step, or the viewer's choice
	const CalViewCamera *cameras;
	int camera_count;
	const char *const *plots; // signals of one plot each, separated by commas
	int plot_count;
	const char *const *trails; // paths of nodes or bodies
	int trail_count;
	const CalViewStep *steps; // in the order of the story
	int step_count;
} CalViewSettings;
CAL_API CalViewSettings cal_view_settings_def(void); // all arrows, true deformations, else nothing

#ifdef __cplusplus
}
#endif
#endif
