// SPDX-License-Identifier: Apache-2.0
/* calder/calder.h — everything. */
#ifndef CALDER_CALDER_H
#define CALDER_CALDER_H

#include <calder/base.h>
#include <calder/output.h>
#include <calder/parameter.h>
#include <calder/build.h>
#include <calder/mesh.h>
#include <calder/contact.h>
#include <calder/flex.h>
#include <calder/model.h>
#include <calder/derivatives.h>
#include <calder/dynamics.h>
#include <calder/sparse_mass.h>
#include <calder/loops.h>
#include <calder/impulse.h>
#include <calder/closed.h>
#include <calder/inverse_kinematics.h>
#include <calder/mechanism.h>
#include <calder/operators.h>
#include <calder/distribute.h>
#include <calder/branches.h>
#include <calder/integrate.h>
#include <calder/batch.h>
#include <calder/doubt.h>
#include <calder/device.h>
#include <calder/expression.h>
#include <calder/sim.h>
#include <calder/linear.h>
#include <calder/quantity.h>
#include <calder/state_space.h>
#include <calder/trim.h>
#include <calder/identify.h>
#include <calder/subsystem.h>
#include <calder/devices.h>
#include <calder/motion.h>
#include <calder/transition.h>
#include <calder/checkpoint.h>
#include <calder/view.h>
#include <calder/visual.h>
#include <calder/setup.h>
#include <calder/io.h>
#include <calder/doctor.h>
#include <calder/fe.h>
#include <calder/results.h>
#include <calder/scenario.h>
#include <calder/replay.h>
#include <calder/campaign.h>

#endif
