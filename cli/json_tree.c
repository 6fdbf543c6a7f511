// SPDX-License-Identifier: Apache-2.0
/*
 * json_tree.c — see json_tree.h. Values are taken from blocks that are released together; texts stay where they are, with
 * their escapes resolved in place (\u becomes UTF-8; pairs of surrogates do not occur in names of joints and are refused).
 */
#include "json_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, DEPTH = 64 };

typedef struct Block {
	struct Block *next;
	JsonValue values[BLOCK];
} Block;

struct JsonTree {
	Block *blocks;
	int used; // of the first block
	JsonValue *root;
};

typedef struct Parser {
	JsonTree *tree;
	char *at;
	const char *problem;
} Parser;

static JsonValue *parse_value(Parser *p, int depth);

static void *fail(Parser *p, const char *problem) {
	if (!p->problem)
		p->problem = problem;
	return NULL;
}

static JsonValue *new_value(Parser *p, JsonKind kind) {
	JsonTree *tree = p->tree;
	if (!tree->blocks || tree->used == BLOCK) {
		Block *block = malloc(sizeof *block);
		if (!block)
			return fail(p, "out of memory");
		block->next = tree->blocks;
		tree->blocks = block;
		tree->used = 0;
	}
	JsonValue *value = &tree->blocks->values[tree->used++];
	*value = (JsonValue){.kind = kind, .text = ""};
	return value;
}

static void skip_blanks(Parser *p) { p->at += strspn(p->at, " \t\r\n"); }

/* \uXXXX as UTF-8; how many bytes. */
static int put_unicode(const char *digits, char *out) {
	char hex[5] = {0};
	if (strspn(digits, "0123456789abcdefABCDEF") < 4)
		return 0;
	memcpy(hex, digits, 4);
	const long code = strtol(hex, NULL, 16);
	if (code <= 0 || (code >= 0xd800 && code < 0xe000))
		return 0;
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 63));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 63));
	out[2] = (char)(0x80 | (code & 63));
	return 3;
}

static const char *parse_text(Parser *p) {
	static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char *start = ++p->at, *out = start;
	for (; *p->at != '"'; p->at++) {
		if ((unsigned char)*p->at < 0x20)
			return fail(p, "a text does not end");
		if (*p->at != '\\') {
			*out++ = *p->at;
			continue;
		}
		p->at++;
		const char *escape = *p->at ? strchr(escapes, *p->at) : NULL;
		int length = 0;
		if (escape)
			*out++ = meant[escape - escapes];
		else if (*p->at != 'u' || (length = put_unicode(p->at + 1, out)) == 0)
			return fail(p, "an escape that is not known");
		out += length;
		p->at += length ? 4 : 0;
	}
	p->at++;
	*out = '\0';
	return start;
}

static JsonValue *parse_members(Parser *p, JsonValue *value, char end, int depth) {
	JsonValue **last = &value->first;
	p->at++;
	for (skip_blanks(p); *p->at != end; skip_blanks(p)) {
		const char *key = NULL;
		if (value->kind == JSON_MAP) {
			key = *p->at == '"' ? parse_text(p) : fail(p, "a member has no name");
			skip_blanks(p);
			if (!key || *p->at != ':')
				return fail(p, "a member has no value");
			p->at++;
		}
		JsonValue *member = parse_value(p, depth + 1);
		if (!member)
			return NULL;
		member->key = key;
		*last = member;
		last = &member->next;
		value->count++;
		skip_blanks(p);
		if (*p->at == ',')
			p->at++;
		else if (*p->at != end)
			return fail(p, "a list or map does not end");
	}
	p->at++;
	return value;
}

static JsonValue *parse_word(Parser *p) {
	static const char *const words[] = {"null", "false", "true"};
	for (int i = 0; i < 3; i++)
		if (strncmp(p->at, words[i], strlen(words[i])) == 0) {
			p->at += strlen(words[i]);
			return new_value(p, (JsonKind)i);
		}
	char *end;
	const double number = strtod(p->at, &end);
	JsonValue *value = end > p->at ? new_value(p, JSON_NUMBER) : fail(p, "a value that is not known");
	p->at = end;
	if (value)
		value->number = number;
	return value;
}

static JsonValue *parse_value(Parser *p, int depth) {
	skip_blanks(p);
	if (depth > DEPTH)
		return fail(p, "nested too deep");
	if (*p->at == '{' || *p->at == '[') {
		const bool is_map = *p->at == '{';
		JsonValue *value = new_value(p, is_map ? JSON_MAP : JSON_LIST);
		return value ? parse_members(p, value, is_map ? '}' : ']', depth) : NULL;
	}
	if (*p->at != '"')
		return parse_word(p);
	JsonValue *value = new_value(p, JSON_TEXT);
	if (value)
		value->text = parse_text(p);
	return value && value->text ? value : NULL;
}

JsonTree *json_tree_parse(char *text, char *why, size_t size) {
	JsonTree *tree = calloc(1, sizeof *tree);
	Parser p = {.tree = tree, .at = text};
	if (tree) {
		tree->root = parse_value(&p, 0);
		skip_blanks(&p);
		if (tree->root && *p.at)
			fail(&p, "text after the end");
	}
	if (tree && tree->root && !p.problem)
		return tree;
	snprintf(why, size, "not JSON: %s at byte %lld", tree ? p.problem : "out of memory", (long long)(p.at - text));
	json_tree_destroy(tree);
	return NULL;
}

void json_tree_destroy(JsonTree *tree) {
	for (Block *block = tree ? tree->blocks : NULL, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(tree);
}

const JsonValue *json_tree_root(const JsonTree *tree) { return tree->root; }

const JsonValue *json_member(const JsonValue *map, const char *key) {
	for (const JsonValue *m = map && map->kind == JSON_MAP ? map->first : NULL; m; m = m->next)
		if (strcmp(m->key, key) == 0)
			return m;
	return NULL;
}

const char *json_text(const JsonValue *value) { return value && value->kind == JSON_TEXT ? value->text : ""; }

double json_value(const JsonValue *value) { return value && value->kind == JSON_NUMBER ? value->number : NAN; }

int json_integer(const JsonValue *map, const char *key) {
	const double number = json_value(json_member(map, key));
	return number >= 0 && number < 1e9 ? (int)number : -1;
}

bool json_numbers(const JsonValue *list, double *values, int count) {
	if (!list || list->kind != JSON_LIST || list->count != count)
		return false;
	int i = 0;
	for (const JsonValue *m = list->first; m; m = m->next, i++) {
		if (m->kind != JSON_NUMBER)
			return false;
		values[i] = m->number;
	}
	return true;
}
