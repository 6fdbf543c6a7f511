// SPDX-License-Identifier: Apache-2.0
/*
 * subsystem_levels.c — the points and levels of all ties (subsystem.h), found anew whenever devices are bound.
 *
 * The group of a component's first interface node is the component's. Its level is below that of the group, or component,
 * which the first tie attaches it to. A tie belongs to the lowest level that both of its sides are in; on the way there
 * each level has the point as an edge.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "sim/subsystem/subsystem.h"

static const double FREQUENCY = 10; // of the stabilisation where none is given and nothing is projected [rad/s]

/* Every tie of every active subsystem. */
typedef struct TieWalk {
	int device, tie;
} TieWalk;

static SubsystemTie *next_tie(const CalSim *sim, TieWalk *w) {
	for (; w->device < sim->device_count; w->device++, w->tie = -1) {
		const Subsystem *subsystem = sim_active_subsystem(sim, w->device);
		if (subsystem && ++w->tie < subsystem->tie_count)
			return &subsystem->ties[w->tie];
	}
	return NULL;
}

/* ---- points ------------------------------------------------------------------------------------------------- */

static int add_point(struct SimSubsystems *all, TiePoint point) {
	for (int i = 0; i < all->point_count; i++) {
		const TiePoint *p = &all->points[i];
		if (p->group == point.group && p->node == point.node && p->device == point.device &&
		    p->interface_node == point.interface_node)
			return i;
	}
	all->points[all->point_count] = point;
	return all->point_count++;
}

/* Points of a group are side by side. */
static void find_points(const CalSim *sim, struct SimSubsystems *all) {
	SubsystemTie *tie;
	all->point_count = 0;
	for (int g = -1; g < sim->group_count; g++) { // -1: of compiled subsystems
		TieWalk w = {0, -1};
		const int first = all->point_count;
		while ((tie = next_tie(sim, &w)) != NULL) {
			const bool compiled = subsystem_is_compiled(sim_subsystem(sim, w.device));
			for (int s = 0; s < TIE_SIDES; s++) {
				const bool own = s == TIE_B && compiled;
				if (own && g < 0)
					tie->point[s] = add_point(all, (TiePoint){-1, -1, w.device, tie->interface_node, .at = -1});
				else if (!own && g < 0)
					tie->point[s] = -1;
				else if (!own && tie->ref[s].group == g)
					tie->point[s] = add_point(all, (TiePoint){g, tie->ref[s].node, -1, -1, .at = -1});
			}
		}
		for (int i = first; i < all->point_count; i++)
			all->points[i].at = i - first;
		if (g >= 0)
			all->groups[g] = (TieGroup){.first = first, .count = all->point_count - first};
	}
}

/* ---- the tree of levels --------------------------------------------------------------------------------------- */

static int level_of_group(const CalSim *sim, const struct SimSubsystems *all, int group) {
	for (int i = 1; i < all->level_count; i++) {
		const Subsystem *component = sim_subsystem(sim, all->levels[i].device);
		if (component->ties[0].ref[TIE_B].group == group && group >= 0)
			return i;
	}
	return 0;
}

/* What the first tie attaches it to. Components that carry each other in a ring are all of the root. */
static int parent_of(const CalSim *sim, const struct SimSubsystems *all, int level) {
	const Subsystem *component = sim_subsystem(sim, all->levels[level].device);
	const int above = level_of_group(sim, all, component->ties[0].ref[TIE_A].group);
	return above == level ? 0 : above;
}

static void find_levels(const CalSim *sim, struct SimSubsystems *all) {
	all->levels[0] = (TieLevel){.device = -1, .parent = -1};
	all->level_count = 1;
	for (int i = 0; i < sim->device_count; i++) {
		const Subsystem *subsystem = sim_active_subsystem(sim, i);
		if (!subsystem || subsystem_is_compiled(subsystem) || subsystem->tie_count == 0 ||
		    subsystem->ties[0].ref[TIE_B].group < 0 ||
		    level_of_group(sim, all, subsystem->ties[0].ref[TIE_B].group) > 0)
			continue;
		all->levels[all->level_count++] = (TieLevel){.device = i};
	}
	for (int i = 1; i < all->level_count; i++) {
		TieLevel *level = &all->levels[i];
		level->parent = parent_of(sim, all, i);
		for (int up = level->parent; up > 0 && level->depth <= all->level_count; level->depth++)
			up = parent_of(sim, all, up);
		level->depth++;
		if (level->depth > all->level_count) {
			level->parent = 0;
			level->depth = 1;
		}
	}
}

static int swap_of(int level, int a, int b) { return level == a ? b : level == b ? a : level; }

/* Parents before children. */
static void sort_levels(struct SimSubsystems *all) {
	for (int i = 1; i < all->level_count; i++) {
		int least = i;
		for (int k = i + 1; k < all->level_count; k++)
			least = all->levels[k].depth < all->levels[least].depth ? k : least;
		const TieLevel taken = all->levels[least];
		all->levels[least] = all->levels[i];
		all->levels[i] = taken;
		for (int k = 1; k < all->level_count; k++)
			all->levels[k].parent = swap_of(all->levels[k].parent, i, least);
	}
}

/* The lowest level that has both; parents come first. */
static int common_level(const struct SimSubsystems *all, int a, int b) {
	while (a != b) {
		if (a > b)
			a = all->levels[a].parent;
		else
			b = all->levels[b].parent;
	}
	return a;
}

/* What is projected after steps needs no stabilisation. */
static void assign_ties(const CalSim *sim, struct SimSubsystems *all) {
	TieWalk w = {0, -1};
	SubsystemTie *tie;
	for (int i = 0; i < all->point_count; i++)
		if (all->points[i].group >= 0)
			all->points[i].level = level_of_group(sim, all, all->points[i].group);
	while ((tie = next_tie(sim, &w)) != NULL) {
		const bool compiled = subsystem_is_compiled(sim_subsystem(sim, w.device));
		const Subsystem *subsystem = sim_subsystem(sim, w.device);
		if (!tie->own_frequency)
			tie->loop.frequency = subsystems_are_projected(sim) ? 0 : FREQUENCY;
		if (compiled)
			all->points[tie->point[TIE_B]].level = level_of_group(sim, all, subsystem->ties[0].ref[TIE_A].group);
		const int b = tie->point[TIE_B] < 0 ? 0 : all->points[tie->point[TIE_B]].level;
		const int a = tie->point[TIE_A] >= 0 ? all->points[tie->point[TIE_A]].level
		              : compiled || b == 0   ? b
		                                     : all->levels[b].parent;
		tie->level = common_level(all, a, b);
		all->levels[tie->level].tie_count++;
		all->levels[tie->level].row_count += tie->loop.rows;
	}
}

/* ---- nodes and edges of a level ---------------------------------------------------------------------------------- */

static bool is_within(const struct SimSubsystems *all, int level, int outer) {
	while (level > outer)
		level = all->levels[level].parent;
	return level == outer;
}

static int find_node(const TieLevel *level, int point) {
	for (int i = 0; i < level->node_count; i++)
		if (level->nodes[i] == point)
			return i;
	return -1;
}

/* The child level that a point in a level is in, -1: in none. */
static int child_with(const struct SimSubsystems *all, int level, int point) {
	int child = -1;
	for (int below = all->points[point].level; below != level; below = all->levels[below].parent)
		child = below;
	return child;
}

static bool same_source(const struct SimSubsystems *all, int level, int a, int b) {
	const int child = child_with(all, level, a);
	const TiePoint *p = &all->points[a], *q = &all->points[b];
	return child == child_with(all, level, b) && (child >= 0 || (p->group == q->group && p->device == q->device));
}

/* After those of the same source, so that these are side by side. Returns where. */
static int insert_node(const struct SimSubsystems *all, TieLevel *level, int point) {
	int at = level->node_count++;
	for (int i = 0; i < level->node_count - 1; i++)
		if (same_source(all, (int)(level - all->levels), level->nodes[i], point))
			at = i + 1;
	memmove(level->nodes + at + 1, level->nodes + at, sizeof(int) * (size_t)(level->node_count - 1 - at));
	level->nodes[at] = point;
	for (int i = 0; i < level->edge_count; i++)
		level->edges[i] += level->edges[i] >= at;
	return at;
}

/* Adds a point to a level that it is in, on its way to the level of the tie. */
static void add_node(const struct SimSubsystems *all, TieLevel *level, int point, bool edge) {
	int node = find_node(level, point);
	if (node < 0)
		node = insert_node(all, level, point);
	for (int i = 0; i < level->edge_count; i++)
		edge &= level->edges[i] != node;
	if (edge)
		level->edges[level->edge_count++] = node;
}

/* nodes, edges: room for all points in each level. */
static void find_nodes(const CalSim *sim, struct SimSubsystems *all, int *nodes, int *edges) {
	for (int i = 0; i < all->level_count; i++) {
		TieLevel *level = &all->levels[i];
		TieWalk w = {0, -1};
		SubsystemTie *tie;
		level->nodes = nodes;
		level->edges = edges;
		while ((tie = next_tie(sim, &w)) != NULL) {
			for (int s = 0; s < TIE_SIDES; s++) {
				const int point = tie->point[s];
				if (point >= 0 && is_within(all, i, tie->level) && is_within(all, all->points[point].level, i))
					add_node(all, level, point, i != tie->level);
			}
		}
		nodes += level->node_count;
		edges += level->edge_count;
	}
}

static void find_sources(struct SimSubsystems *all, int index) {
	const TieLevel *level = &all->levels[index];
	for (int n = 0; n < level->node_count; n++) {
		const TiePoint *point = &all->points[level->nodes[n]];
		LevelSource *source = &level->sources[n];
		*source = (LevelSource){.child = child_with(all, index, level->nodes[n]),
		                        .at = point->group >= 0 ? point->at : point->interface_node,
		                        .first = n};
		const TieLevel *child = source->child >= 0 ? &all->levels[source->child] : NULL;
		for (int e = 0; child && e < child->edge_count; e++)
			source->at = child->nodes[child->edges[e]] == level->nodes[n] ? e : source->at;
		if (n > 0 && same_source(all, index, level->nodes[n - 1], level->nodes[n]))
			source->first = level->sources[n - 1].first;
		for (int i = source->first; i <= n; i++)
			level->sources[i].count = n - source->first + 1;
	}
}

/* Where K is, of all nodes of all levels. */
static void find_matrices(const CalSim *sim, struct SimSubsystems *all) {
	for (int l = 0; l < all->level_count; l++)
		for (int n = 0; n < all->levels[l].node_count; n++) {
			LevelSource *source = &all->levels[l].sources[n];
			const TiePoint *point = &all->points[all->levels[l].nodes[n]];
			const double *matrix;
			if (source->child >= 0) {
				matrix = all->levels[source->child].Lambda;
				source->stride = all->levels[source->child].width;
			} else if (point->group >= 0) {
				matrix = all->groups[point->group].interface.Lambda;
				source->stride = OCTET * (size_t)all->groups[point->group].count;
			} else {
				const Subsystem *subsystem = sim_subsystem(sim, point->device);
				matrix = subsystem->spread;
				source->stride = OCTET * (size_t)subsystem->def.interface_node_count;
			}
			source->K = matrix + OCTET * (size_t)source->at * source->stride;
		}
}

static void list_ties(const CalSim *sim, struct SimSubsystems *all) {
	TieWalk w = {0, -1};
	SubsystemTie *tie;
	for (int i = 0; i < all->level_count; i++)
		all->levels[i].tie_count = 0;
	while ((tie = next_tie(sim, &w)) != NULL) {
		TieLevel *level = &all->levels[tie->level];
		LevelTie *listed = &level->ties[level->tie_count++];
		*listed = (LevelTie){.tie = tie, .node = {-1, -1}, .rows = tie->loop.rows};
		for (int s = 0; s < TIE_SIDES; s++)
			listed->node[s] = tie->point[s] >= 0 ? find_node(level, tie->point[s]) : -1;
	}
}

static bool has_tie(const LevelTie *tie, int other) {
	for (int k = 0; k < tie->linked_count; k++)
		if (tie->linked[k] == other)
			return true;
	return false;
}

/* Whether ties have a source in common, or are both linked to an earlier one, whose elimination fills their block. */
static bool are_linked(const TieLevel *level, int one, int other) {
	for (int s = 0; s < TIE_SIDES; s++)
		for (int z = 0; z < TIE_SIDES; z++) {
			const int a = level->ties[one].node[s], b = level->ties[other].node[z];
			if (a >= 0 && b >= 0 && level->sources[a].first == level->sources[b].first)
				return true;
		}
	for (int k = 0; k < one; k++)
		if (has_tie(&level->ties[k], one) && has_tie(&level->ties[k], other))
			return true;
	return false;
}

static void link_ties(TieLevel *level) {
	int *next = level->linked;
	for (int i = 0; i < level->tie_count; i++) {
		LevelTie *tie = &level->ties[i];
		tie->linked = next;
		for (int k = i; k < level->tie_count; k++)
			if (k == i || are_linked(level, i, k))
				tie->linked[tie->linked_count++] = k;
		next += tie->linked_count;
	}
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef struct PlanSizes {
	int points, levels, groups;
} PlanSizes;

static void layout_plan(struct SimSubsystems *all, const PlanSizes *most, int **nodes, int **edges, Cursor *cursor) {
	const int in_levels = most->points * most->levels;
	CURSOR_ARRAY(cursor, all->points, most->points);
	CURSOR_ARRAY(cursor, all->levels, most->levels);
	CURSOR_ARRAY(cursor, all->groups, most->groups);
	CURSOR_ARRAY(cursor, all->nodes, most->points);
	CURSOR_ARRAY(cursor, all->wrenches, most->points);
	CURSOR_ARRAY(cursor, *nodes, in_levels);
	CURSOR_ARRAY(cursor, *edges, in_levels);
}

static void layout_level(TieLevel *level, Cursor *cursor) {
	const size_t ties = (size_t)level->tie_count, m = (size_t)level->row_count, edges = (size_t)level->edge_count;
	const size_t columns = OCTET * ties;
	level->width = OCTET * (edges > 0 ? edges : 1);
	CURSOR_ARRAY(cursor, level->ties, ties);
	CURSOR_ARRAY(cursor, level->sources, level->node_count);
	CURSOR_ARRAY(cursor, level->linked, ties * (ties + 1) / 2);
	CURSOR_ARRAY(cursor, level->values, m);
	CURSOR_ARRAY(cursor, level->a, OCTET * level->node_count);
	CURSOR_ARRAY(cursor, level->D, TIE_SIDES * SIX * columns);
	CURSOR_ARRAY(cursor, level->H, columns * columns);
	CURSOR_ARRAY(cursor, level->inverse, columns);
	CURSOR_ARRAY(cursor, level->R, columns * level->width);
	CURSOR_ARRAY(cursor, level->Lambda, OCTET * edges * level->width);
	CURSOR_ARRAY(cursor, level->lambda, columns);
	CURSOR_ARRAY(cursor, level->force, OCTET * level->node_count);
	CURSOR_ARRAY(cursor, level->edge_force, level->width);
	CURSOR_ARRAY(cursor, level->A, m * m);
	CURSOR_ARRAY(cursor, level->X, m * level->width);
	CURSOR_ARRAY(cursor, level->G, m * level->width);
	CURSOR_ARRAY(cursor, level->solve, m * (m + 2 + level->width));
	CURSOR_ARRAY(cursor, level->order, m);
	CURSOR_ARRAY(cursor, level->independent, m);
}

static void layout_matrices(const CalSim *sim, struct SimSubsystems *all, Cursor *cursor) {
	for (int i = 0; i < all->level_count; i++)
		layout_level(&all->levels[i], cursor);
	for (int i = 0; i < all->group_count; i++) {
		if (all->groups[i].count > 0)
			tie_group_layout(sim->groups[i].model, &all->groups[i], cursor);
	}
}

static CalStatus reserve(const CalSim *sim, size_t size, size_t *capacity, void **memory) {
	if (size <= *capacity)
		return CAL_OK;
	void *block = memory_alloc(&sim->allocator, size);
	if (!block)
		return CAL_ERR_MEMORY;
	memory_free(&sim->allocator, *memory);
	*memory = block;
	*capacity = size;
	return CAL_OK;
}

/* Points and levels, then the matrices of the sizes that follow from them. */
CalStatus subsystems_plan(CalSim *sim) {
	struct SimSubsystems *all = sim->subsystems;
	const PlanSizes most = {2 * all->tie_count, sim->device_count + 1, sim->group_count};
	int *nodes, *edges;
	Cursor cursor = {0};
	all->planned = false;
	layout_plan(all, &most, &nodes, &edges, &cursor);
	CalStatus status = reserve(sim, cursor_size(&cursor), &all->capacity, &all->memory);
	if (status != CAL_OK)
		return status;
	cursor = cursor_over(all->memory, all->capacity);
	layout_plan(all, &most, &nodes, &edges, &cursor);
	all->group_count = sim->group_count;
	find_points(sim, all);
	find_levels(sim, all);
	sort_levels(all);
	assign_ties(sim, all);
	find_nodes(sim, all, nodes, edges);
	cursor = (Cursor){0};
	layout_matrices(sim, all, &cursor);
	status = reserve(sim, cursor_size(&cursor), &all->matrix_capacity, &all->matrices);
	if (status != CAL_OK)
		return status;
	memset(all->matrices, 0, all->matrix_capacity);
	cursor = cursor_over(all->matrices, all->matrix_capacity);
	layout_matrices(sim, all, &cursor);
	for (int i = 0; i < all->level_count; i++)
		find_sources(all, i);
	for (int i = 0; i < all->group_count; i++)
		if (all->groups[i].count > 0)
			tie_group_plan(sim->groups[i].model, all->points, &all->groups[i]);
	find_matrices(sim, all);
	list_ties(sim, all);
	for (int i = 0; i < all->level_count; i++)
		link_ties(&all->levels[i]);
	all->planned = true;
	return CAL_OK;
}
