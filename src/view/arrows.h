// SPDX-License-Identifier: Apache-2.0
/*
 * arrows.h — forces in pictures: reactions of joints, wrenches of loops and loads, points of contact, as far as they were
 * recorded.
 */
#ifndef CALDER_VIEW_ARROWS_H
#define CALDER_VIEW_ARROWS_H

#include <calder/results.h>
#include <calder/visual.h>

#include "view/json_writer.h"

/** A run as arrows need it. */
typedef struct ArrowSource {
	const CalDesc *desc;
	const CalResultsTable *tables;                        // [count]
	int count;                                            //
	const CalResultsTable *frames;                        // with the poses
	const int *pose;                                      // [bodies] first column of each body's pose there, -1: none
	size_t frame_count;                                   // that are shown
	const double *(*row)(const void *user, size_t frame); // of the table of the frames
	const void *user;
} ArrowSource;

/** The key arrows. */
void arrows_write(JsonWriter *d, const ArrowSource *source);

#endif
