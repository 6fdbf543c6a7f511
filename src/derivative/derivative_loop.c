// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_loop.c — derivatives with closed loops.
 */
#include "derivative/derivative_loop.h"

CalStatus derivative_multipliers(const CalModel *model, const CalState *state, CalDerivatives *d) {
	(void)model, (void)state, (void)d;
	return CAL_ERR_UNSUPPORTED;
}
CalStatus derivative_loop_terms(const CalModel *model, const CalState *state, CalDerivatives *d) {
	(void)model, (void)state, (void)d;
	return CAL_ERR_UNSUPPORTED;
}
CalStatus derivative_close(const CalModel *model, const CalState *state, const uint8_t *held, CalDerivatives *d) {
	(void)model, (void)state, (void)held, (void)d;
	return CAL_ERR_UNSUPPORTED;
}
