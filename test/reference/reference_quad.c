// SPDX-License-Identifier: Apache-2.0
/*
 * reference_quad.c — the reference in 113-bit numbers: names refq_xxx.
 */
#define REF_QUAD 1
#include "reference/motion_impl.h"
#include "reference/sums_impl.h"
#include "reference/spatial_impl.h"
#include "reference/loop_solve_impl.h"
