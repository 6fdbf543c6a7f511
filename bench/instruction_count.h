// SPDX-License-Identifier: Apache-2.0
// Instructions per call, counted by callgrind: the program runs itself once more under it with --marks, and every call
// between two marks is written to a file of its own.
#pragma once

#include "options.h"
#include "table.h"

#include <string>
#include <vector>

namespace bench {

// The marks. The second prints what was between them.
void mark_begin();
void mark_end(const std::string &algorithm, const std::string &model, const std::string &engine);

// Adds instructions_per_body to the rows. On failure returns false and says why.
bool count_instructions(const Options &options, std::vector<Row> &rows);

} // namespace bench
