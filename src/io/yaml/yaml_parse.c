// SPDX-License-Identifier: Apache-2.0
/*
 * yaml_parse.c — a tree from libyaml's events, without recursion.
 *
 * Open lists and maps are on a stack; finished children wait in `pending` until their parent closes.
 * An alias is the node it names, so a document takes memory in proportion to its text; `weight` counts
 * what the aliases stand for and bounds the work of whoever walks the tree. libyaml allocates with
 * malloc and reports failure of it; everything else comes from the caller's allocator.
 */
#include "io/yaml/yaml_tree_build.h"

#include "base/memory.h"

#ifdef CALDER_WITH_YAML

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef struct Open {
	TreeNode *node;
	size_t first; // of its children in pending
	int anchor;   // -1: none
} Open;

typedef struct Anchor {
	const char *name;
	const TreeNode *node; // NULL: still open
} Anchor;

typedef struct Build {
	Tree *tree;
	CalError *error;
	yaml_parser_t parser;
	Open open[TREE_MAX_DEPTH];
	int depth;
	const TreeNode **pending; // from the allocator, not from the pool: it grows
	size_t pending_count, pending_capacity;
	Anchor anchors[TREE_MAX_ANCHORS];
	int anchor_count;
	bool done; // the document has ended
} Build;

/* A document has fewer lines and columns than TREE_MAX_BYTES. */
static int place_number(size_t from_zero) { return from_zero < TREE_MAX_BYTES ? (int)from_zero + 1 : TREE_MAX_BYTES; }

/* tree_error at a mark of libyaml. */
static CalStatus mark_error(Build *b, yaml_mark_t mark, const char *format, const char *detail) {
	const TreeNode node = {.line = place_number(mark.line),
	                       .column = (unsigned)place_number(mark.column) & TREE_COLUMN_BITS};
	char text[512];
	snprintf(text, sizeof text, format, detail);
	return tree_error(b->error, b->tree->name, &node, CAL_ERR_INPUT, "%s", text);
}

static CalStatus memory_error(Build *b) {
	return tree_error(b->error, b->tree->name, NULL, CAL_ERR_MEMORY, "out of memory");
}

/* A tab in the indentation of a line, counted from 0. libyaml keeps the text that it was given. */
static bool has_tab(const yaml_parser_t *p, size_t line) {
	const unsigned char *at = p->input.string.start, *end = p->input.string.end;
	for (; line > 0 && at < end; at++)
		line -= *at == '\n';
	while (at < end && (*at == ' ' || *at == '-'))
		at++;
	return at < end && *at == '\t';
}

/* What libyaml did not like. */
static CalStatus parser_error(Build *b) {
	const yaml_parser_t *p = &b->parser;
	const char *problem = p->problem ? p->problem : "not valid";
	if (p->error == YAML_MEMORY_ERROR)
		return memory_error(b);
	if (p->error == YAML_READER_ERROR)
		return tree_error(b->error, b->tree->name, NULL, CAL_ERR_INPUT, "byte %zu: %s; the file must be UTF-8 text",
		                  p->problem_offset, problem);
	if (has_tab(p, p->problem_mark.line))
		return mark_error(b, p->problem_mark, "%s",
		                  "not valid YAML: a tab at the beginning of the line; indent with spaces");
	char text[256];
	snprintf(text, sizeof text, "%s%s%s", problem, p->context ? ", " : "", p->context ? p->context : "");
	return mark_error(b, p->problem_mark, "not valid YAML: %s", text);
}

static TreeNode *node_new(Build *b, TreeKind kind, yaml_mark_t mark) {
	return tree_node_new(b->tree, kind, place_number(mark.line), place_number(mark.column), b->tree->name);
}

static CalStatus pending_push(Build *b, const TreeNode *node) {
	if (b->pending_count == b->pending_capacity) {
		const size_t capacity = b->pending_capacity ? 2 * b->pending_capacity : 64;
		const TreeNode **larger = memory_alloc(&b->tree->pool.allocator, capacity * sizeof(const TreeNode *));
		if (!larger)
			return memory_error(b);
		if (b->pending_count)
			memcpy(larger, b->pending, b->pending_count * sizeof(const TreeNode *));
		memory_free(&b->tree->pool.allocator, b->pending);
		b->pending = larger;
		b->pending_capacity = capacity;
	}
	b->pending[b->pending_count++] = node;
	return CAL_OK;
}

/* A finished node goes to its parent, or is the root. */
static CalStatus node_add(Build *b, const TreeNode *node) {
	if (b->tree->node_count > TREE_MAX_NODES)
		return tree_error(b->error, b->tree->name, node, CAL_ERR_INPUT, "the document has more than %d items; %s",
		                  TREE_MAX_NODES, TREE_REMEDY);
	if (b->depth == 0) {
		b->tree->root = node;
		return CAL_OK;
	}
	const Open *top = &b->open[b->depth - 1];
	if (top->node->kind == TREE_MAP && (b->pending_count - top->first) % 2 == 0 && node->kind != TREE_SCALAR)
		return tree_error(b->error, b->tree->name, node, CAL_ERR_INPUT, "a key must be a name, not a list or a map");
	return pending_push(b, node);
}

/* Registers an anchor; *index is -1 if there is none. */
static CalStatus anchor_new(Build *b, const yaml_char_t *name, yaml_mark_t mark, const TreeNode *node, int *index) {
	*index = -1;
	if (!name)
		return CAL_OK;
	const char *text = (const char *)name;
	if (b->anchor_count == TREE_MAX_ANCHORS)
		return mark_error(b, mark, "too many anchors at &%.80s", text);
	char *copy = pool_text(&b->tree->pool, text, strlen(text));
	if (!copy)
		return memory_error(b);
	*index = b->anchor_count;
	b->anchors[b->anchor_count++] = (Anchor){copy, node};
	return CAL_OK;
}

static CalStatus on_alias(Build *b, const yaml_event_t *event) {
	const char *name = (const char *)event->data.alias.anchor;
	for (int i = b->anchor_count - 1; i >= 0; i--) {
		if (strcmp(b->anchors[i].name, name) != 0)
			continue;
		if (!b->anchors[i].node)
			return mark_error(b, event->start_mark, "*%.80s stands inside what it names", name);
		return node_add(b, b->anchors[i].node);
	}
	return mark_error(b, event->start_mark, "*%.80s names no anchor above this line; write &NAME there", name);
}

static CalStatus on_scalar(Build *b, const yaml_event_t *event) {
	const char *text = (const char *)event->data.scalar.value;
	const size_t length = event->data.scalar.length;
	if (event->data.scalar.tag)
		return mark_error(b, event->start_mark, "the tag %.80s has no meaning here; remove it",
		                  (const char *)event->data.scalar.tag);
	if (memchr(text, 0, length))
		return mark_error(b, event->start_mark, "%s", "a zero byte in a text");
	TreeNode *node = node_new(b, TREE_SCALAR, event->start_mark);
	if (!node)
		return memory_error(b);
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	node->text = pool_text(&b->tree->pool, text, length);
	if (!node->text)
		return memory_error(b);
	int anchor;
	const CalStatus status = anchor_new(b, event->data.scalar.anchor, event->start_mark, node, &anchor);
	return status == CAL_OK ? node_add(b, node) : status;
}

static CalStatus on_start(Build *b, TreeKind kind, const yaml_char_t *anchor, const yaml_char_t *tag,
                          yaml_mark_t mark) {
	if (tag)
		return mark_error(b, mark, "the tag %.80s has no meaning here; remove it", (const char *)tag);
	if (b->depth == TREE_MAX_DEPTH)
		return mark_error(b, mark, "%s", "lists and maps are nested too deeply");
	TreeNode *node = node_new(b, kind, mark);
	if (!node)
		return memory_error(b);
	Open *top = &b->open[b->depth];
	*top = (Open){node, b->pending_count, -1};
	const CalStatus status = anchor_new(b, anchor, mark, NULL, &top->anchor);
	b->depth += status == CAL_OK;
	return status;
}

static CalStatus close_list(Build *b, TreeNode *list, const TreeNode *const *items, size_t count) {
	list->items = pool_array_of_words(&b->tree->nodes, count, sizeof *list->items);
	if (!list->items)
		return memory_error(b);
	if (count)
		memcpy(list->items, items, count * sizeof *items);
	list->count = (int)count;
	for (size_t i = 0; i < count; i++)
		list->weight = tree_weight_sum(list->weight, items[i]->weight);
	return CAL_OK;
}

static CalStatus on_end(Build *b) {
	const Open top = b->open[--b->depth];
	const size_t count = b->pending_count - top.first;
	const TreeNode *const *children = b->pending ? b->pending + top.first : NULL;
	CalStatus status = top.node->kind == TREE_LIST
	                       ? close_list(b, top.node, children, count)
	                       : tree_close_map(b->tree, top.node, children, (int)(count / 2), b->error);
	if (status != CAL_OK)
		return status;
	b->pending_count = top.first;
	if (top.node->weight > TREE_MAX_WEIGHT)
		return tree_error(b->error, b->tree->name, top.node, CAL_ERR_INPUT,
		                  "with its aliases written out, this has more than %d items; use fewer aliases",
		                  TREE_MAX_WEIGHT);
	if (top.anchor >= 0)
		b->anchors[top.anchor].node = top.node;
	return node_add(b, top.node);
}

static CalStatus on_event(Build *b, const yaml_event_t *event) {
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return b->tree->root ? mark_error(b, event->start_mark, "%s", "a second document starts; only one is read")
		                     : CAL_OK;
	case YAML_ALIAS_EVENT:
		return on_alias(b, event);
	case YAML_SCALAR_EVENT:
		return on_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(b, TREE_LIST, event->data.sequence_start.anchor, event->data.sequence_start.tag,
		                event->start_mark);
	case YAML_MAPPING_START_EVENT:
		return on_start(b, TREE_MAP, event->data.mapping_start.anchor, event->data.mapping_start.tag,
		                event->start_mark);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(b);
	case YAML_STREAM_END_EVENT:
		b->done = true;
		return CAL_OK;
	default:
		return CAL_OK;
	}
}

static CalStatus run_events(Build *b) {
	while (!b->done) {
		yaml_event_t event;
		if (!yaml_parser_parse(&b->parser, &event))
			return parser_error(b);
		const CalStatus status = on_event(b, &event);
		yaml_event_delete(&event);
		if (status != CAL_OK)
			return status;
	}
	if (!b->tree->root)
		return tree_error(b->error, b->tree->name, NULL, CAL_ERR_INPUT, "the file is empty");
	return CAL_OK;
}

static CalStatus build_run(Tree *tree, const char *text, size_t length, CalError *error) {
	Build *b = pool_alloc(&tree->nodes, sizeof *b);
	if (!b)
		return tree_error(error, tree->name, NULL, CAL_ERR_MEMORY, "out of memory");
	b->tree = tree;
	b->error = error;
	if (!yaml_parser_initialize(&b->parser))
		return memory_error(b);
	yaml_parser_set_input_string(&b->parser, (const unsigned char *)text, length);
	const CalStatus status = run_events(b);
	yaml_parser_delete(&b->parser);
	memory_free(&tree->pool.allocator, b->pending);
	return status;
}

CalStatus tree_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator, Tree **tree,
                     CalError *error) {
	*tree = NULL;
	if (length > TREE_MAX_BYTES)
		return tree_error(error, name, NULL, CAL_ERR_INPUT, "the file is larger than %d bytes; %s", TREE_MAX_BYTES,
		                  TREE_REMEDY);
	if (!allocator_is_valid(allocator))
		return tree_error(error, name, NULL, CAL_ERR_ARGUMENT, "the allocator needs both functions or none");
	Pool pool;
	pool_init(&pool, allocator);
	Tree *made = pool_alloc(&pool, sizeof *made);
	char *name_copy = made ? pool_text(&pool, name, strlen(name)) : NULL;
	if (!name_copy) {
		pool_free(&pool);
		return tree_error(error, name, NULL, CAL_ERR_MEMORY, "out of memory");
	}
	made->pool = pool;
	pool_init(&made->nodes, allocator);
	made->name = name_copy;
	const CalStatus status = build_run(made, text ? text : "", text ? length : 0, error);
	if (status != CAL_OK) {
		tree_destroy(made);
		return status;
	}
	*tree = made;
	return CAL_OK;
}

#else

CalStatus tree_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator, Tree **tree,
                     CalError *error) {
	(void)text;
	(void)length;
	(void)allocator;
	*tree = NULL;
	return tree_error(error, name, NULL, CAL_ERR_UNSUPPORTED,
	                  "this build cannot read files: it was made without libyaml (CALDER_WITH_YAML)");
}

#endif
