// SPDX-License-Identifier: Apache-2.0
// The constructors of the engines; which of them exist in a build is decided by CMake.
#pragma once

#include "engine.h"

#include <memory>

namespace bench {

std::unique_ptr<Engine> make_simbody();
std::unique_ptr<Engine> make_simbody_hinge();
std::unique_ptr<Engine> make_dart();
std::unique_ptr<Engine> make_bullet();
std::unique_ptr<Engine> make_bullet_kernel();
std::unique_ptr<Engine> make_mujoco();
std::unique_ptr<Engine> make_pinocchio();
std::unique_ptr<Engine> make_rbdl();
std::unique_ptr<Engine> make_calder();

} // namespace bench
