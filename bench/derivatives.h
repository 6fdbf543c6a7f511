// SPDX-License-Identifier: Apache-2.0
// Suite "derivatives": derivatives of forward dynamics against differences of it.
#pragma once

#include "options.h"

namespace bench {

int run_derivatives(const Options &options);
const std::vector<std::string> &derivative_names();

} // namespace bench
