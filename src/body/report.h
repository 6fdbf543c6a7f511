// SPDX-License-Identifier: Apache-2.0
/*
 * report.h — frequencies, effective masses and soundness of a flexible body, for people to read.
 */
#ifndef CALDER_BODY_REPORT_H
#define CALDER_BODY_REPORT_H

#include <calder/flex.h>

#include "body/modal.h"

/** cal_flex_report() on a body whose parts are at hand; *fault: what modal_canonicalize() found wrong. */
CalStatus report_body(const ModalBody *body, CalFlexReport *report, CalFlexMode *modes, int capacity, ModalForm *fault);

#endif
