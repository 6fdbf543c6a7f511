// SPDX-License-Identifier: Apache-2.0
// The suite "flexible", for the list in main.cpp. Only in builds with Calder.
#pragma once

#include "options.h"

namespace bench {

const std::vector<std::string> &flexible_names();

int run_flexible(const Options &options);

} // namespace bench
