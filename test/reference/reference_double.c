// SPDX-License-Identifier: Apache-2.0
/*
 * reference_double.c — the reference in double: names ref_xxx.
 */
#include "reference/motion_impl.h"
#include "reference/sums_impl.h"
#include "reference/spatial_impl.h"
#include "reference/loop_solve_impl.h"
