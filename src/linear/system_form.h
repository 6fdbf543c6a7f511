// SPDX-License-Identifier: Apache-2.0
/*
 * system_form.h — system matrices in a checkpoint: the configuration of the last update, from which they are formed again.
 */
#ifndef CALDER_LINEAR_SYSTEM_FORM_H
#define CALDER_LINEAR_SYSTEM_FORM_H

#include <stdbool.h>

#include <calder/linear.h>

#include "base/serializer.h"

void system_form_walk(CalSystemForm *form, Serializer *archive);
/** After reading: the matrices of the last update. */
CalStatus system_form_restore(CalSystemForm *form, CalWork *work);

#endif
