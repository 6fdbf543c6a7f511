// SPDX-License-Identifier: Apache-2.0
// The suite "loops", for the list in main.cpp. Only in builds with Calder.
#pragma once

#include "options.h"

namespace bench {

const std::vector<std::string> &loop_names();

int run_loops(const Options &options);

} // namespace bench
