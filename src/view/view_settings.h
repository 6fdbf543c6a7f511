// SPDX-License-Identifier: Apache-2.0
/*
 * view_settings.h — how a run is looked at, as a part of the document (docs/replay.md).
 */
#ifndef CALDER_VIEW_VIEW_SETTINGS_H
#define CALDER_VIEW_VIEW_SETTINGS_H

#include <calder/setup.h>

#include "view/json_writer.h"

/** The key view, if the setup has such settings or `more` says some (CalReplayOptions.view; NULL: none). */
void view_settings_write(JsonWriter *d, const CalSetup *setup, const CalViewSettings *more);
/** Refuses a camera that the setup does not have. */
CalStatus view_settings_check(const CalSetup *setup, const CalViewSettings *more, CalError *error);

#endif
