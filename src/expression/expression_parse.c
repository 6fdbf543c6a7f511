// SPDX-License-Identifier: Apache-2.0
/*
 * expression_parse.c — from the text of a formula to its code, by recursive descent.
 *
 *   or      = and {"or" and}          and   = not {"and" not}         not = "not" not | compare
 *   compare = sum [("<" | "<=" | ">" | ">=") sum]
 *   sum     = product {("+" | "-") product}    product = signed {("*" | "/") signed}
 *   signed  = ("+" | "-") signed | power       power   = primary ["^" signed]
 *   primary = number [unit ["^" signed]] | "(" or ")" | "t" | "pi" | unit | function "(" arguments ")"
 *
 * Numbers and conditions are distinguished here, so that the code cannot mix them up. Every level counts towards
 * EXPRESSION_DEPTH, every number left on the stack towards EXPRESSION_STACK.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "expression/expression.h"

#define PI 3.14159265358979323846

typedef enum Kind { NUMBER, CONDITION } Kind;

typedef struct Parser {
	CalExpression *made;
	const char *p;
	int depth, stack;
	CalError *error;
	CalStatus status;
} Parser;

typedef struct Word {
	const char *start;
	size_t length; // 0: there is none
} Word;

/* ---- mistakes ---------------------------------------------------------------------------------------- */

/* In characters, from 1. */
static int column_of(const Parser *p, const char *at) {
	int column = 1;
	for (const char *c = p->made->text; c < at; c++)
		column += ((unsigned char)*c & 0xC0) != 0x80;
	return column;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
fail(Parser *p, const char *at, const char *format, ...) {
	char text[400];
	va_list args;
	va_start(args, format);
	text_format(text, sizeof text, format, args);
	va_end(args);
	p->status =
		error_set(p->error, CAL_ERR_INPUT, "formula \"%.200s\", column %d: %s", p->made->text, column_of(p, at), text);
	return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip(Parser *p) {
	while (*p->p == ' ' || *p->p == '\t' || *p->p == '\n' || *p->p == '\r')
		p->p++;
}

static Word word_at(const char *p) {
	Word word = {p, 0};
	while (is_letter(p[word.length]) || (word.length > 0 && is_digit(p[word.length])))
		word.length++;
	return word;
}

static bool word_is(Word word, const char *text) {
	return strlen(text) == word.length && memcmp(word.start, text, word.length) == 0;
}

/* What stands at p is not what was expected. */
static bool expected(Parser *p, const char *what) {
	skip(p);
	const Word word = word_at(p->p);
	if (!*p->p)
		return fail(p, p->p, "expected %s, found the end", what);
	int length = word.length > 0 ? (int)(word.length < 40 ? word.length : 40) : 1;
	while (word.length == 0 && ((unsigned char)p->p[length] & 0xC0) == 0x80)
		length++; // the rest of the character
	return fail(p, p->p, "expected %s, found \"%.*s\"", what, length, p->p);
}

/* ---- code -------------------------------------------------------------------------------------------- */

static bool short_of_memory(Parser *p) {
	p->status =
		error_set(p->error, CAL_ERR_MEMORY, "formula \"%.80s\": %s", p->made->text, cal_status_text(CAL_ERR_MEMORY));
	return false;
}

static bool emit(Parser *p, Op op, int reading, double number) {
	CalExpression *e = p->made;
	Code *code = array_reserve(&e->allocator, e->code, e->code_count, 1, &e->code_capacity, sizeof *code);
	if (!code)
		return short_of_memory(p);
	e->code = code;
	e->code[e->code_count++] = (Code){.op = op, .reading = reading, .number = number};
	p->stack += 1 - op_takes(op);
	return p->stack <= EXPRESSION_STACK || fail(p, p->p, "it is nested too deeply; split it");
}

/* Of numbers alone it is done at once. */
static bool emit_op(Parser *p, Op op) {
	CalExpression *e = p->made;
	const int takes = op_takes(op);
	double arguments[3];
	if (takes == 0)
		return emit(p, op, 0, 0);
	Code *first = &e->code[e->code_count - takes];
	for (int i = 0; i < takes; i++) {
		if (first[i].op != OP_NUMBER)
			return emit(p, op, 0, 0);
		arguments[i] = first[i].number;
	}
	first->number = op_value(op, arguments);
	e->code_count -= takes - 1;
	p->stack -= takes - 1;
	return true;
}

static bool emit_number(Parser *p, double number) { return emit(p, OP_NUMBER, 0, number); }

/* ---- arguments that are names ------------------------------------------------------------------------- */

/* Most objects that a quantity is about. */
static int object_count(const Quantity *quantity) {
	return quantity->info.about == CAL_ABOUT_NODES || quantity->info.relative ? 2 : 1;
}

/* A quantity by its word or short form, or NULL. */
static const Quantity *find_quantity(Word word, const char **component) {
	const Quantity *quantity = quantity_of_word(word.start, word.length);
	*component = NULL;
	return quantity ? quantity : quantity_of_short(word.start, word.length, component);
}

int cal_expression_names(const char *function, int *nodes) {
	const char *component;
	const Quantity *quantity = function ? find_quantity((Word){function, strlen(function)}, &component) : NULL;
	if (!quantity || !quantity->read)
		return 0;
	if (nodes)
		*nodes = quantity->info.about == CAL_ABOUT_NODE || quantity->info.about == CAL_ABOUT_NODES;
	return object_count(quantity);
}

/* A name as it stands in the text: in quotes, or up to the next comma or parenthesis. */
static bool take_name(Parser *p, Word *name) {
	skip(p);
	const char quote = *p->p == '\'' || *p->p == '"' ? *p->p : 0;
	*name = (Word){p->p + (quote != 0), 0};
	if (quote) {
		const char *end = strchr(name->start, quote);
		if (!end)
			return fail(p, p->p, "the quoted name has no end");
		name->length = (size_t)(end - name->start);
		p->p = end + 1;
		skip(p);
	} else {
		p->p += strcspn(p->p, ",)");
		name->length = (size_t)(p->p - name->start);
		while (name->length > 0 && strchr(" \t\r\n", name->start[name->length - 1]))
			name->length--;
	}
	return name->length > 0 || fail(p, name->start, "expected a name");
}

static char *keep_name(CalExpression *e, Word name) {
	char *kept = e->names + e->names_used;
	memcpy(kept, name.start, name.length);
	kept[name.length] = '\0';
	e->names_used += (int)name.length + 1;
	return kept;
}

/* p is after the opening parenthesis. */
static bool parse_names(Parser *p, Word argument[2], int *count, int most) {
	*count = 0;
	do {
		if (*count == most)
			return expected(p, "\")\"");
		if (!take_name(p, &argument[(*count)++]))
			return false;
	} while (*p->p == ',' && p->p++);
	if (*p->p != ')')
		return expected(p, *count < most ? "\",\" or \")\"" : "\")\"");
	p->p++;
	return true;
}

static bool emit_reading(Parser *p, Reading reading) {
	CalExpression *e = p->made;
	Reading *readings =
		array_reserve(&e->allocator, e->readings, e->reading_count, 1, &e->reading_capacity, sizeof *readings);
	if (!readings)
		return short_of_memory(p);
	e->readings = readings;
	e->readings[e->reading_count] = reading;
	return emit(p, OP_READ, e->reading_count++, 0);
}

/* Whether the component that it reads jumps. */
static bool is_sided(const QuantityText *text, int count) {
	const char *last = text->object[count - 1], *dot = strrchr(last, '.');
	const char *component = text->component ? text->component : dot ? dot + 1 : "";
	return text->quantity->side && quantity_component(text->quantity, component) >= text->quantity->first_sided;
}

static bool parse_reading(Parser *p, Word word, const Quantity *quantity, const char *component) {
	CalExpression *e = p->made;
	Word argument[2];
	int count;
	const CalQuantityAbout about = quantity->info.about;
	if (!quantity->read)
		return fail(p, word.start, "%s() is not known within a step: it can be recorded, but not be in a formula",
		            quantity->info.word);
	if (!parse_names(p, argument, &count, 2))
		return false;
	if (about == CAL_ABOUT_NODES && count < 2)
		return fail(p, p->p - 1, "%s() needs 2 arguments", quantity->info.word);
	if (about == CAL_ABOUT_DEVICE && count > 1)
		return fail(p, word.start, "write device(%.*s.%.*s) instead of a comma", (int)argument[0].length,
		            argument[0].start, (int)argument[1].length, argument[1].start);
	Reading made = {.column = column_of(p, word.start), .text = {.quantity = quantity, .component = component}};
	for (int i = 0; i < count; i++)
		made.text.object[i] = keep_name(e, argument[i]);
	const bool sided = is_sided(&made.text, count);
	if (!emit_reading(p, made))
		return false;
	made.text.quantity = quantity->side;
	return !sided || (emit_reading(p, made) && emit(p, OP_SIDED, 0, 0));
}

/* "eta(BODY, 1)" and "eta_dot(BODY, 1)", as formulas of earlier versions have it. */
static bool refuse_mode(Parser *p, Word word) {
	const bool speed = word_is(word, "eta_dot");
	Word argument[2];
	int count;
	if (!parse_names(p, argument, &count, 2))
		return false;
	const Word body = argument[0], mode = count > 1 ? argument[1] : (Word){"1", 1};
	return fail(p, word.start, "write %s(%.*s.%s%.*s)", speed ? "u" : "q", (int)body.length, body.start,
	            speed ? "etadot" : "eta", (int)mode.length, mode.start);
}

/* ---- functions of numbers ------------------------------------------------------------------------------ */

static bool parse_or(Parser *p, Kind *kind);

static bool parse_kind(Parser *p, Kind wanted) {
	Kind kind;
	skip(p);
	const char *start = p->p;
	if (!parse_or(p, &kind))
		return false;
	if (kind == wanted)
		return true;
	return fail(p, start,
	            wanted == NUMBER ? "expected a number, found a condition; if(condition, 1, 0) makes one of it"
	                             : "expected a condition such as a < b, found a number");
}

static bool parse_comma(Parser *p) {
	skip(p);
	if (*p->p != ',')
		return expected(p, "\",\" and the next argument");
	p->p++;
	return true;
}

/* p is after the opening parenthesis. min and max take two or more. */
static bool parse_function(Parser *p, Op op) {
	const bool any = op == OP_MIN || op == OP_MAX;
	for (int i = 0; i < op_takes(op); i++)
		if ((i > 0 && !parse_comma(p)) || !parse_kind(p, op == OP_IF && i == 0 ? CONDITION : NUMBER))
			return false;
	if (!emit_op(p, op))
		return false;
	for (skip(p); any && *p->p == ','; skip(p)) {
		p->p++;
		if (!parse_kind(p, NUMBER) || !emit_op(p, op))
			return false;
	}
	if (*p->p != ')')
		return expected(p, any ? "\",\" or \")\"" : "\")\"");
	p->p++;
	return true;
}

static bool parse_call(Parser *p, Word word) {
	static const char *const names[] = {
#define OP_TEXT(name, takes, text) text,
		EXPRESSION_OP_LIST(OP_TEXT)
#undef OP_TEXT
	};
	for (int i = 0; i < OP_COUNT; i++)
		if (names[i][0] && word_is(word, names[i]))
			return parse_function(p, (Op)i);
	const char *component;
	const Quantity *quantity = find_quantity(word, &component);
	if (quantity)
		return parse_reading(p, word, quantity, component);
	if (word_is(word, "eta") || word_is(word, "eta_dot"))
		return refuse_mode(p, word);
	return fail(p, word.start, "there is no function \"%.*s\"; docs/expressions.md lists them",
	            (int)(word.length < 40 ? word.length : 40), word.start);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static bool parse_signed(Parser *p, Kind *kind);

/* After a primary: "^" and its exponent. */
static bool parse_exponent(Parser *p, const char *start, Kind base) {
	Kind exponent;
	skip(p);
	if (*p->p != '^')
		return true;
	p->p++;
	const char *second = p->p;
	if (!parse_signed(p, &exponent))
		return false;
	if (base != NUMBER || exponent != NUMBER)
		return fail(p, base != NUMBER ? start : second, "\"^\" works on numbers, not on conditions");
	return emit_op(p, OP_POWER);
}

/* The unit at p, unless it is the name of a function that is called; t is always the time. */
static const Unit *unit_here(const Parser *p, Word *word) {
	*word = word_at(p->p);
	const char *rest = word->start + word->length;
	while (*rest == ' ' || *rest == '\t')
		rest++;
	if (word->length == 0 || *rest == '(' || word_is(*word, "t"))
		return NULL;
	return unit_find(word->start, word->length);
}

/* 5 m^2 is 5 (m^2). */
static bool parse_number(Parser *p) {
	double number;
	Word word;
	const char *rest = number_parse(p->p, &number);
	if (!rest)
		return expected(p, "a number");
	if (!isfinite(number))
		return fail(p, p->p, "the number is too large");
	p->p = rest;
	if (!emit_number(p, number))
		return false;
	skip(p);
	const Unit *unit = unit_here(p, &word);
	if (!unit)
		return true;
	p->p += word.length;
	return emit_number(p, unit->factor) && parse_exponent(p, p->p, NUMBER) && emit_op(p, OP_MULTIPLY);
}

static bool parse_word(Parser *p) {
	Word word;
	const Unit *unit = unit_here(p, &word);
	p->p += word.length;
	if (unit)
		return emit_number(p, unit->factor);
	if (word_is(word, "t"))
		return emit_op(p, OP_TIME);
	if (word_is(word, "pi"))
		return emit_number(p, PI);
	skip(p);
	if (*p->p == '(') {
		p->p++;
		return parse_call(p, word);
	}
	return fail(p, word.start, "\"%.*s\" is no constant and no unit; a function needs its arguments in parentheses",
	            (int)(word.length < 40 ? word.length : 40), word.start);
}

static bool parse_primary(Parser *p, Kind *kind) {
	*kind = NUMBER;
	skip(p);
	if (is_digit(*p->p) || *p->p == '.')
		return parse_number(p);
	if (is_letter(*p->p) && !word_is(word_at(p->p), "and") && !word_is(word_at(p->p), "or") &&
	    !word_is(word_at(p->p), "not"))
		return parse_word(p);
	if (*p->p != '(')
		return expected(p, "a number, a name or \"(\"");
	p->p++;
	if (!parse_or(p, kind))
		return false;
	skip(p);
	if (*p->p != ')')
		return expected(p, "an operator or \")\"");
	p->p++;
	return true;
}

static bool deeper(Parser *p) {
	return p->depth++ < EXPRESSION_DEPTH || fail(p, p->p, "it is nested too deeply; split it");
}

static bool parse_signed(Parser *p, Kind *kind) {
	bool good;
	if (!deeper(p))
		return false;
	skip(p);
	const char *start = p->p;
	if (*p->p == '-' || *p->p == '+') {
		p->p++;
		good = parse_signed(p, kind) && (*kind == NUMBER || fail(p, start, "a condition has no sign; write \"not\"")) &&
		       (*start == '+' || emit_op(p, OP_NEGATE));
	} else {
		good = parse_primary(p, kind) && parse_exponent(p, start, *kind);
	}
	p->depth--;
	return good;
}

/* ---- operators ------------------------------------------------------------------------------------------ */

typedef bool ParseFn(Parser *p, Kind *kind);

/* The right side of an operator whose left side was `left`; both must be of the kind `wanted`. */
static bool parse_right(Parser *p, ParseFn *side, const char *start, Kind left, Kind wanted, Op op) {
	Kind right;
	skip(p);
	const char *second = p->p;
	if (!side(p, &right))
		return false;
	if (left != wanted || right != wanted)
		return fail(p, left != wanted ? start : second,
		            wanted == NUMBER ? "expected a number, found a condition; if(condition, 1, 0) makes one of it"
		                             : "expected a condition such as a < b, found a number");
	if (!emit_op(p, op))
		return false;
	p->made->code[p->made->code_count - 1].joins = wanted == CONDITION;
	return true;
}

/* Sides with operators of one rank between them: `signs`, with the operations in the same order. */
static bool parse_chain(Parser *p, Kind *kind, ParseFn *side, const char *signs, const Op *ops) {
	skip(p);
	const char *start = p->p;
	if (!side(p, kind))
		return false;
	for (skip(p); *p->p && strchr(signs, *p->p); skip(p)) {
		const Op op = ops[strchr(signs, *p->p) - signs];
		p->p++;
		if (!parse_right(p, side, start, *kind, NUMBER, op))
			return false;
	}
	return true;
}

static bool parse_product(Parser *p, Kind *kind) {
	return parse_chain(p, kind, parse_signed, "*/", (const Op[]){OP_MULTIPLY, OP_DIVIDE});
}

static bool parse_sum(Parser *p, Kind *kind) {
	return parse_chain(p, kind, parse_product, "+-", (const Op[]){OP_ADD, OP_SUBTRACT});
}

static bool parse_compare(Parser *p, Kind *kind) {
	skip(p);
	const char *start = p->p;
	if (!parse_sum(p, kind))
		return false;
	skip(p);
	if (*p->p == '=')
		return fail(p, p->p, "numbers are not compared for equality; write <, <=, > or >=");
	if (*p->p != '<' && *p->p != '>')
		return true;
	const bool less = *p->p == '<', equal = p->p[1] == '=';
	p->p += 1 + equal;
	const Op op = less ? (equal ? OP_LESS_EQUAL : OP_LESS) : (equal ? OP_GREATER_EQUAL : OP_GREATER);
	if (!parse_right(p, parse_sum, start, *kind, NUMBER, op))
		return false;
	*kind = CONDITION;
	return true;
}

static bool parse_not(Parser *p, Kind *kind) {
	skip(p);
	if (!word_is(word_at(p->p), "not"))
		return parse_compare(p, kind);
	p->p += strlen("not");
	skip(p);
	const char *start = p->p;
	const bool good = deeper(p) && parse_not(p, kind) &&
	                  (*kind == CONDITION || fail(p, start, "expected a condition such as a < b, found a number")) &&
	                  emit_op(p, OP_NEGATE);
	p->depth--;
	return good;
}

static bool parse_joined(Parser *p, Kind *kind, ParseFn *side, const char *word, Op op) {
	skip(p);
	const char *start = p->p;
	if (!side(p, kind))
		return false;
	for (skip(p); word_is(word_at(p->p), word); skip(p)) {
		p->p += strlen(word);
		if (!parse_right(p, side, start, *kind, CONDITION, op))
			return false;
	}
	return true;
}

static bool parse_and(Parser *p, Kind *kind) { return parse_joined(p, kind, parse_not, "and", OP_MIN); }

static bool parse_or(Parser *p, Kind *kind) { return parse_joined(p, kind, parse_and, "or", OP_MAX); }

CalStatus expression_parse(CalExpression *expression, CalError *error) {
	Parser p = {.made = expression, .p = expression->text, .error = error};
	Kind kind = NUMBER;
	if (parse_or(&p, &kind)) {
		skip(&p);
		if (*p.p)
			expected(&p, "an operator or the end");
	}
	expression->condition = kind == CONDITION;
	if (p.status == CAL_OK)
		expression_classify(expression);
	return p.status;
}
