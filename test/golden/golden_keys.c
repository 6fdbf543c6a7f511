// SPDX-License-Identifier: Apache-2.0
/*
 * golden_keys.c — the quantities that a golden case may hold. Each of them is compared (golden_state.c,
 * golden_trajectory.c, golden_impulse.c); one that is not listed here would be passed over in silence, so that a case
 * that has it fails.
 */
#include <string.h>

#include "golden/golden.h"

#define LIST(...) \
	(const char *const[]) { __VA_ARGS__, NULL }

/* Keys of every entry of a map. */
typedef struct GoldenMap {
	const char *name;
	const char *const *keys;
} GoldenMap;

static CalStatus check_keys(GoldenCase *c, const TreeNode *map, const char *const *keys) {
	for (int i = 0; map && map->kind == TREE_MAP && i < map->count; i++) {
		const char *const *known = keys;
		while (*known && strcmp(*known, tree_key(map, i)->text) != 0)
			known++;
		if (!*known)
			return tree_error(&c->error, tree_name(c->tree), tree_key(map, i), CAL_ERR_INPUT,
			                  "quantity \"%.80s\" is not known to this version, and would not be compared",
			                  tree_key(map, i)->text);
	}
	return CAL_OK;
}

/* The keys of `of`, and in it those of the entries of some maps. */
static CalStatus check_maps(GoldenCase *c, const TreeNode *of, const char *const *keys, const GoldenMap *maps,
                            int count) {
	CalStatus status = check_keys(c, of, keys);
	for (int m = 0; m < count; m++) {
		const TreeNode *map = tree_get(of, maps[m].name);
		for (int i = 0; status == CAL_OK && map && map->kind == TREE_MAP && i < map->count; i++)
			status = check_keys(c, map->items[i], maps[m].keys);
	}
	return status;
}

CalStatus golden_check_state_keys(GoldenCase *c, const TreeNode *e) {
	const GoldenMap maps[] = {
		{"bodies", LIST("r", "R", "v", "w", "a", "alpha", "joint_force", "joint_moment")},
		{"nodes", LIST("r", "R", "v", "w", "a", "alpha")},
		{"constraints", LIST("point", "force", "moment")},
	};
	return check_maps(c, e,
	                  LIST("n_speeds", "udot", "mass_matrix", "bias", "gen_gravity", "gen_elastic", "gen_external",
	                       "gen_applied", "gen_constraint", "prescribed_speeds", "prescribed_force", "kinetic_energy",
	                       "gravity_energy", "strain_energy", "total_energy", "mass", "com", "linear_momentum",
	                       "angular_momentum_origin", "angular_momentum_com", "bodies", "nodes", "constraints",
	                       "constraint_rows", "constraint_rank", "constraint_residual", "constraint_rate",
	                       "constraint_jacobian", "gamma", "lambda", "lambda_unique"),
	                  maps, 3);
}

CalStatus golden_check_sample_keys(GoldenCase *c, const TreeNode *sample) {
	const GoldenMap maps[] = {
		{"bodies", LIST("r", "R", "v", "w")},
		{"state", LIST("q", "u", "eta", "etadot")},
	};
	return check_maps(c, sample,
	                  LIST("t", "state", "bodies", "kinetic_energy", "total_energy", "linear_momentum",
	                       "angular_momentum_origin", "com", "constraint_drift"),
	                  maps, 2);
}

CalStatus golden_check_impulse_keys(GoldenCase *c, const TreeNode *e) {
	const GoldenMap maps[] = {
		{"constraints", LIST("point", "force_impulse", "moment_impulse")},
		{"state_after", LIST("u", "etadot")},
	};
	const GoldenMap bodies = {"bodies", LIST("r", "R", "v", "w")};
	const char *const *moment =
		LIST("kinetic_energy", "linear_momentum", "angular_momentum_origin", "angular_momentum_com", "bodies");
	CalStatus status = check_maps(c, e,
	                              LIST("n_speeds", "rows", "rank", "mass", "com", "mass_matrix", "jacobian", "u_before",
	                                   "u_after", "state_after", "impulse", "impulse_unique", "gen_impulse",
	                                   "constraints", "locked_speeds", "constraint_residual", "rate_before",
	                                   "rate_after", "kinetic_energy_of_jump", "before", "after"),
	                              maps, 2);
	if (status == CAL_OK)
		status = check_maps(c, tree_get(e, "before"), moment, &bodies, 1);
	return status == CAL_OK ? check_maps(c, tree_get(e, "after"), moment, &bodies, 1) : status;
}
