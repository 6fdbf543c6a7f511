// SPDX-License-Identifier: Apache-2.0
// Suite "parallel": time steps of one model by several threads.
#pragma once

#include "options.h"

namespace bench {

int run_parallel(const Options &options);
const std::vector<std::string> &parallel_names();

} // namespace bench
