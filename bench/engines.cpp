// SPDX-License-Identifier: Apache-2.0
// The list of engines. The first is the reference: Simbody, the most accurate peer on long chains.
#include "engines.h"

namespace bench {

const std::vector<EngineEntry> &engines() {
	static const std::vector<EngineEntry> list = {
#ifdef BENCH_SIMBODY
		{"simbody", true, make_simbody},     {"simbody-hinge", false, make_simbody_hinge},
#endif
#ifdef BENCH_DART
		{"dart", true, make_dart},
#endif
#ifdef BENCH_BULLET
		{"bullet", true, make_bullet},       {"bullet-kernel", false, make_bullet_kernel},
#endif
#ifdef BENCH_MUJOCO
		{"mujoco", true, make_mujoco},
#endif
#ifdef BENCH_PINOCCHIO
		{"pinocchio", true, make_pinocchio},
#endif
#ifdef BENCH_RBDL
		{"rbdl", true, make_rbdl},
#endif
#ifdef BENCH_CALDER
		{"calder", true, make_calder},
#endif
	};
	return list;
}

} // namespace bench
