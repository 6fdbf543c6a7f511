// SPDX-License-Identifier: Apache-2.0
/*
 * user_link.h — links of the caller's own in the sweeps: what their functions say in place of shapes and invariants.
 */
#ifndef CALDER_DYNAMICS_FLEX_USER_LINK_H
#define CALDER_DYNAMICS_FLEX_USER_LINK_H

#include "flexbody/flex_pose.h"
#include "model/work.h"

#if CAL_LANES == 1
/* Adds inertia, E, mass matrix and, with motion, forces of the link to those of the body that is fixed in B. */
void user_link_add(const Flex *flex, int motion, FlexWork *w, const LinkWork *l);
/* flexible_motion() of a NODE link. */
void user_link_motion(const CalModel *model, const Link *link, const LinkWork *base, int rates, CalWork *work,
                      LinkWork *l);
/* Pose and rates of a node in B; returns its columns, rows over the dofs in world axes, valid until the next call for the node. */
const double *user_link_place(const Flex *flex, const FlexWork *w, int shape, const mat3 *axes, FlexPose *pose);
#endif

#endif
