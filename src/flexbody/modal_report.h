// SPDX-License-Identifier: Apache-2.0
/*
 * modal_report.h — frequencies, effective masses and soundness of a flexible body, for people to read.
 */
#ifndef CALDER_FLEXBODY_MODAL_REPORT_H
#define CALDER_FLEXBODY_MODAL_REPORT_H

#include <calder/flex.h>

#include "flexbody/modal.h"

/** cal_flex_report() on a body whose parts are at hand; *fault: what modal_canonicalize() found wrong. */
CalStatus report_body(const ModalBody *body, CalFlexReport *report, CalFlexMode *modes, int capacity, ModalForm *fault);

#endif
