// SPDX-License-Identifier: Apache-2.0
/*
 * scene.h — what is drawn of a model file: bodies, shapes, nodes, modes, joints and loops (docs/replay.md).
 */
#ifndef CALDER_VIEW_SCENE_H
#define CALDER_VIEW_SCENE_H

#include <calder/replay.h>

#include "view/json_writer.h"

/** The keys bodies, ground, meshes, joints (live: with sliders) and loops. Bodies are in the order of their ids. */
CalStatus scene_write(JsonWriter *d, const CalSetup *setup, bool live, CalError *error);

#endif
