// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_tree_map.c — closing a map: merge keys, duplicate keys, order for look-up.
 *
 * `<<: *other` or `<<: [*a, *b]` adds the pairs of other maps that are not there yet: the map's own
 * pairs win, then those of the earlier merged map.
 */
#include "io/yaml/yaml_tree_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct Pair {
	const TreeNode *key, *value;
	int order; // own pairs first, then merged ones
} Pair;

static bool is_merge(const TreeNode *key) { return key->plain && strcmp(key->text, "<<") == 0; }

static int pair_compare(const void *a, const void *b) {
	const Pair *p = a, *q = b;
	const int order = strcmp(p->key->text, q->key->text);
	return order ? order : (p->order > q->order) - (p->order < q->order);
}

static int order_compare(const void *a, const void *b) {
	const Pair *p = a, *q = b;
	return (p->order > q->order) - (p->order < q->order);
}

/* Pairs that one `<<` brings, or -1 if its value is neither a map nor a list of maps. */
static int merge_count(const TreeNode *value) {
	if (value->kind == TREE_MAP)
		return value->count;
	if (value->kind != TREE_LIST)
		return -1;
	int count = 0;
	for (int i = 0; i < value->count; i++) {
		if (value->items[i]->kind != TREE_MAP)
			return -1;
		count += value->items[i]->count;
		if (count > TREE_MAX_MERGED)
			return count;
	}
	return count;
}

static int merge_into(Pair *out, int filled, const TreeNode *map) {
	for (int i = 0; i < map->count; i++, filled++)
		out[filled] = (Pair){tree_key(map, i), map->items[i], filled};
	return filled;
}

/* Own pairs and merged ones, duplicates still in; own pairs are the first *own. */
static CalStatus pairs_gather(Tree *tree, const TreeNode *const *pairs, int count, Pair **all, int *total, int *own,
                              CalError *error) {
	int merged = 0;
	for (int i = 0; i < count; i++) {
		if (!is_merge(pairs[2 * i]))
			continue;
		const int brought = merge_count(pairs[2 * i + 1]);
		if (brought < 0)
			return tree_error(error, tree->name, pairs[2 * i + 1], CAL_ERR_INPUT,
			                  "\"<<\" merges a map or a list of maps; write e.g. <<: *anchor");
		merged += brought;
		if (merged > TREE_MAX_MERGED)
			return tree_error(error, tree->name, pairs[2 * i], CAL_ERR_INPUT, "\"<<\" merges more than %d keys",
			                  TREE_MAX_MERGED);
	}
	tree->node_count += (size_t)merged;
	Pair *out = memory_alloc(&tree->nodes.allocator, ((size_t)count + (size_t)merged) * sizeof *out);
	if (!out)
		return tree_error(error, tree->name, NULL, CAL_ERR_MEMORY, "out of memory");
	int filled = 0;
	for (int i = 0; i < count; i++) {
		if (is_merge(pairs[2 * i]))
			continue;
		out[filled] = (Pair){pairs[2 * i], pairs[2 * i + 1], filled};
		filled++;
	}
	*own = filled;
	for (int i = 0; i < count; i++) {
		const TreeNode *value = pairs[2 * i + 1];
		if (!is_merge(pairs[2 * i]))
			continue;
		for (int k = 0; value->kind == TREE_LIST && k < value->count; k++)
			filled = merge_into(out, filled, value->items[k]);
		if (value->kind == TREE_MAP)
			filled = merge_into(out, filled, value);
	}
	*all = out;
	*total = filled;
	return CAL_OK;
}

/* Sorted by key, drops merged pairs that are there already; an own pair given twice is an error. */
static CalStatus pairs_unique(const Tree *tree, Pair *all, int *total, int own, CalError *error) {
	qsort(all, (size_t)*total, sizeof *all, pair_compare);
	int kept = 0;
	for (int i = 0; i < *total; i++) {
		if (kept && strcmp(all[kept - 1].key->text, all[i].key->text) == 0) {
			if (all[i].order >= own)
				continue;
			return tree_error(error, tree->name, all[i].key, CAL_ERR_INPUT,
			                  "the key \"%.80s\" is given twice (first in line %d); remove one of them",
			                  all[i].key->text, all[kept - 1].key->line);
		}
		all[kept++] = all[i];
	}
	*total = kept;
	return CAL_OK;
}

/* Keys and values in the order of the file, and the order of the keys; all: in that order. */
static CalStatus fill_map(Tree *tree, TreeNode *map, Pair *all, int total, CalError *error) {
	const size_t n = (size_t)total;
	map->items = pool_array_of_words(&tree->nodes, tree_map_room(n), sizeof *map->items);
	if (!map->items)
		return tree_error(error, tree->name, NULL, CAL_ERR_MEMORY, "out of memory");
	map->count = total;
	int *sorted = (int *)(void *)(map->items + 2 * n);
	// all[] is in key order; remember that order under the pair's number, then restore the file's order.
	for (int i = 0; i < total; i++)
		sorted[i] = all[i].order;
	qsort(all, n, sizeof *all, order_compare);
	for (int i = 0; i < total; i++) {
		map->items[i] = all[i].value;
		map->items[n + (size_t)i] = all[i].key;
		map->weight = tree_weight_sum(map->weight, tree_weight_sum(all[i].value->weight, 1));
	}
	for (int i = 0; i < total; i++) {
		const Pair key = {NULL, NULL, sorted[i]};
		const Pair *at = bsearch(&key, all, n, sizeof *all, order_compare);
		sorted[i] = (int)(at - all);
	}
	return CAL_OK;
}

CalStatus tree_close_map(Tree *tree, TreeNode *map, const TreeNode *const *pairs, int count, CalError *error) {
	Pair *all = NULL;
	int total = 0, own = 0;
	CalStatus status = pairs_gather(tree, pairs, count, &all, &total, &own, error);
	if (status == CAL_OK)
		status = pairs_unique(tree, all, &total, own, error);
	if (status == CAL_OK)
		status = fill_map(tree, map, all, total, error);
	memory_free(&tree->nodes.allocator, all);
	return status;
}
