// SPDX-License-Identifier: Apache-2.0
// The clock of all suites, and what they do with a list of names.
#pragma once

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

namespace bench {

// CPU time of the calling thread.
inline double cpu_seconds() {
	timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double wall_seconds() {
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline bool contains(const std::vector<std::string> &list, const std::string &item) {
	return std::find(list.begin(), list.end(), item) != list.end();
}

} // namespace bench
