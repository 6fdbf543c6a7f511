// SPDX-License-Identifier: Apache-2.0
/*
 * xml_parse.c — from XML text to a tree, by expat.
 *
 * Character data of an element may come in pieces, with children between them: each level of nesting has a buffer of its
 * own, which is copied into the tree when the element ends. Names of elements and attributes are few and return often: those
 * that were met last are kept once. Documents that declare entities are refused: no robot needs
 * them, and a few lines of them can stand for gigabytes.
 */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/name_index.h"
#include "io/xml/xml_tree_build.h"

#ifndef CALDER_WITH_EXPAT

CalStatus xml_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator, XmlTree **tree,
                    CalError *error) {
	(void)text, (void)length, (void)allocator;
	*tree = NULL;
	return error_set(
		error, CAL_ERR_UNSUPPORTED,
		"%.200s: error: XML files need expat, and this build has none; install libexpat1-dev and build again", name);
}

#else

#include <expat.h>

typedef struct Text {
	char *bytes;
	size_t length, capacity;
} Text;

enum { KEPT_NAMES = 256 };

typedef struct Parse {
	const char *name;
	CalAllocator allocator;
	XML_Parser parser;
	XmlTree *tree;
	XmlElement *open; // the innermost element that has not ended; NULL: none
	int depth;
	Text texts[XML_MAX_DEPTH];
	const char *names[KEPT_NAMES]; // in the tree, by hash, the last one of each; NULL: none
	CalStatus status;
	CalError *error;
} Parse;

static int line_of(const Parse *p) { return (int)XML_GetCurrentLineNumber(p->parser); }
static int column_of(const Parse *p) { return (int)XML_GetCurrentColumnNumber(p->parser) + 1; }

static void stop(Parse *p, CalStatus status, const char *what) {
	if (p->status != CAL_OK)
		return;
	p->status = error_set(p->error, status, "%.200s:%d:%d: error: %s", p->name, line_of(p), column_of(p), what);
	XML_StopParser(p->parser, XML_FALSE);
}

static void stop_without_memory(Parse *p) { stop(p, CAL_ERR_MEMORY, "out of memory while reading the file"); }

/* ---- elements ---------------------------------------------------------------------------------------- */

/* A name in the tree; NULL: out of memory. */
static const char *keep_name(Parse *p, const char *name) {
	const size_t length = strlen(name);
	const uint32_t hash = name_hash(0, name, length);
	const char **kept = &p->names[hash % KEPT_NAMES];
	if (!*kept || strcmp(*kept, name) != 0) {
		*kept = pool_text(&p->tree->pool, name, length);
		p->tree->names[hash / 64 % 4] |= UINT64_C(1) << hash % 64;
	}
	return *kept;
}

static bool copy_attributes(Parse *p, XmlElement *element, const char **pairs) {
	int count = 0;
	while (pairs[2 * count])
		count++;
	element->attribute_count = count & (XML_MAX_BYTES - 1); // less than the bytes of the document
	if (!count)
		return true;
	element->attributes = xml_array(p->tree, (size_t)count, sizeof *element->attributes);
	for (int i = 0; element->attributes && i < count; i++) {
		XmlAttribute *attribute = &element->attributes[i];
		const size_t length = strlen(pairs[2 * i + 1]);
		if (length > XML_MAX_ATTRIBUTE) {
			stop(p, CAL_ERR_INPUT, "an attribute has more than 16 MiB");
			return false;
		}
		attribute->name = keep_name(p, pairs[2 * i]);
		attribute->value = pool_text(&p->tree->pool, pairs[2 * i + 1], length);
		if (!attribute->name || !attribute->value)
			return false;
		element->attribute_marks |= (uint16_t)xml_mark(attribute->name);
	}
	return element->attributes != NULL;
}

static void start_element(void *user, const char *name, const char **attributes) {
	Parse *p = user;
	if (p->status != CAL_OK)
		return;
	if (p->depth == XML_MAX_DEPTH) {
		stop(p, CAL_ERR_INPUT, "elements are nested more than 1024 deep");
		return;
	}
	if (p->tree->element_count == XML_MAX_ELEMENTS) {
		stop(p, CAL_ERR_INPUT, "the file has more than 4194304 elements; split the model");
		return;
	}
	XmlElement *element = xml_array(p->tree, 1, sizeof *element);
	if (!element || !(element->name = keep_name(p, name)) || !copy_attributes(p, element, attributes)) {
		stop_without_memory(p);
		return;
	}
	element->file = p->name;
	element->line = line_of(p);
	element->column = column_of(p);
	element->text = "";
	if (p->open)
		xml_insert(p->open, p->open->last, element);
	else
		p->tree->root = element;
	p->open = element;
	p->tree->element_count++;
	p->texts[p->depth++].length = 0;
}

static void end_element(void *user, const char *name) {
	(void)name;
	Parse *p = user;
	if (p->status != CAL_OK)
		return;
	const Text *text = &p->texts[--p->depth];
	size_t first = 0, end = text->length;
	while (first < end && isspace((unsigned char)text->bytes[first]))
		first++;
	while (end > first && isspace((unsigned char)text->bytes[end - 1]))
		end--;
	if (end > first && !(p->open->text = pool_text(&p->tree->pool, text->bytes + first, end - first)))
		stop_without_memory(p);
	p->open = p->open->parent;
}

static void add_text(void *user, const char *bytes, int length) {
	Parse *p = user;
	if (p->status != CAL_OK || !p->open)
		return;
	Text *text = &p->texts[p->depth - 1];
	const size_t needed = text->length + (size_t)length;
	if (needed > XML_MAX_ATTRIBUTE) {
		stop(p, CAL_ERR_INPUT, "the text of an element has more than 16 MiB");
		return;
	}
	if (needed > text->capacity) {
		char *larger = memory_alloc(&p->allocator, 2 * needed + 64);
		if (!larger) {
			stop_without_memory(p);
			return;
		}
		if (text->length)
			memcpy(larger, text->bytes, text->length);
		memory_free(&p->allocator, text->bytes);
		text->bytes = larger;
		text->capacity = 2 * needed + 64;
	}
	memcpy(text->bytes + text->length, bytes, (size_t)length);
	text->length = needed;
}

static void start_doctype(void *user, const char *name, const char *system, const char *public, int internal) {
	(void)name, (void)system, (void)public;
	if (internal)
		stop(user, CAL_ERR_INPUT, "the file declares a document type with entities of its own; remove <!DOCTYPE ...>");
}

/* Encodings that expat has no name for, "ascii" or "utf8": what is ASCII in all of them is read. */
static int read_as_ascii(void *user, const char *name, XML_Encoding *encoding) {
	(void)user, (void)name;
	for (int i = 0; i < 256; i++)
		encoding->map[i] = i < 128 ? i : -1;
	encoding->data = NULL;
	encoding->convert = NULL;
	encoding->release = NULL;
	return XML_STATUS_OK;
}

/* ---- the document ------------------------------------------------------------------------------------ */

static XmlTree *tree_create(const CalAllocator *allocator) {
	Pool pool;
	pool_init(&pool, allocator);
	XmlTree *tree = pool_alloc(&pool, sizeof *tree);
	if (tree)
		tree->pool = pool; // with the block that the tree is in
	return tree;
}

/*
 * expat copies what it is given: pieces instead of the whole keep that copy in the cache. A piece in which no token ends is
 * looked at again with the next one, so pieces grow as long as that is the case, up to what a tag may have.
 */
static enum XML_Status parse_pieces(Parse *p, const char *text, size_t length) {
	enum { PIECE = 1 << 15 };
	size_t piece = PIECE;
	for (size_t at = 0;;) {
		const size_t size = length - at < piece ? length - at : piece;
		const bool is_last = at + size == length;
		const enum XML_Status status = XML_Parse(p->parser, text + at, (int)size, is_last);
		if (status != XML_STATUS_OK || is_last)
			return status;
		piece = XML_GetCurrentByteIndex(p->parser) < (XML_Index)at ? 2 * piece : PIECE;
		if (piece > 2 * XML_MAX_ATTRIBUTE) {
			stop(p, CAL_ERR_INPUT, "a tag or a comment has more than 32 MiB");
			return XML_STATUS_ERROR;
		}
		at += size;
	}
}

/* What to do about what expat does not take; NULL: its own sentence says it. */
static const char *remedy_of(enum XML_Error code) {
	switch (code) {
	case XML_ERROR_MISPLACED_XML_PI:
		return "the XML declaration is the very first thing in a file; remove what stands before it";
	case XML_ERROR_INVALID_TOKEN:
		return "in text \"&\" and \"<\" are written &amp; and &lt;, values stand in quotes, and a file without an encoding is "
			   "UTF-8";
	case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
		return "a file has one root element; remove what comes after its end";
	case XML_ERROR_UNDEFINED_ENTITY:
		return "XML has &amp; &lt; &gt; &quot; and &apos; only";
	case XML_ERROR_DUPLICATE_ATTRIBUTE:
		return "an element has an attribute once; remove one of them";
	default:
		return NULL;
	}
}

/* The sentence of expat, what is open, and what to do. */
static void stop_at_error(Parse *p, enum XML_Error code) {
	char what[400];
	const char *remedy = remedy_of(code);
	size_t length = text_append(what, sizeof what, 0, XML_ErrorString(code));
	if (p->open && !remedy) {
		length = text_append(what, sizeof what, length, "; the element that is open here is <");
		length = text_append_some(what, sizeof what, length, p->open->name, 80);
		length = text_append(what, sizeof what, length, "> of line ");
		text_append_int(what, sizeof what, length, p->open->line);
	} else if (remedy) {
		length = text_append(what, sizeof what, length, "; ");
		text_append(what, sizeof what, length, remedy);
	}
	stop(p, CAL_ERR_INPUT, what);
}

static void run_parser(Parse *p, const char *text, size_t length) {
	XML_SetUserData(p->parser, p);
	XML_SetElementHandler(p->parser, start_element, end_element);
	XML_SetCharacterDataHandler(p->parser, add_text);
	XML_SetStartDoctypeDeclHandler(p->parser, start_doctype);
	XML_SetUnknownEncodingHandler(p->parser, read_as_ascii, NULL);
	if (parse_pieces(p, text, length) == XML_STATUS_OK || p->status != CAL_OK)
		return;
	const enum XML_Error code = XML_GetErrorCode(p->parser);
	if (code == XML_ERROR_NO_MEMORY)
		stop_without_memory(p);
	else
		stop_at_error(p, code);
}

static CalStatus parse_all(Parse *p, const char *text, size_t length) {
	p->parser = XML_ParserCreate(NULL);
	p->tree = tree_create(&p->allocator);
	const char *name = p->tree ? xml_text(p->tree, p->name) : NULL;
	if (p->parser && name) {
		p->name = name;
		p->tree->length = length;
		p->tree->is_plain = !memchr(text, '$', length) && !memchr(text, ':', length);
		run_parser(p, text, length);
	} else {
		p->status = error_set(p->error, CAL_ERR_MEMORY, "%.200s: error: out of memory while reading the file", p->name);
	}
	if (p->parser)
		XML_ParserFree(p->parser);
	for (int i = 0; i < XML_MAX_DEPTH; i++)
		memory_free(&p->allocator, p->texts[i].bytes);
	return p->status;
}

CalStatus xml_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator, XmlTree **tree,
                    CalError *error) {
	*tree = NULL;
	if (length > XML_MAX_BYTES)
		return error_set(error, CAL_ERR_INPUT, "%.200s: error: the file has more than %d bytes; split the model", name,
		                 XML_MAX_BYTES);
	const CalAllocator source = allocator_or_default(allocator);
	Parse *p = memory_alloc(&source, sizeof *p);
	if (!p)
		return error_set(error, CAL_ERR_MEMORY, "%.200s: error: out of memory while reading the file", name);
	*p = (Parse){.name = name, .allocator = source, .error = error};
	const CalStatus status = parse_all(p, text, length);
	if (status == CAL_OK)
		*tree = p->tree;
	else
		xml_destroy(p->tree);
	memory_free(&source, p);
	return status;
}

#endif

CalStatus xml_read(const char *path, const CalAllocator *allocator, XmlTree **tree, CalError *error) {
	static const InputFile limits = {XML_MAX_BYTES, "split the model", false};
	const CalAllocator source = allocator_or_default(allocator);
	char why[INPUT_FILE_WHY], *text;
	size_t length;
	*tree = NULL;
	CalStatus status = input_file_read(path, &limits, &source, &text, &length, why);
	if (status != CAL_OK)
		return error_set(error, status, "%.200s: error: %s", path, why);
	status = xml_parse(text, length, path, &source, tree, error);
	memory_free(&source, text);
	return status;
}

/* ---- is it XML? -------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at, const char *end) {
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

/* The place after the first `mark` at `at` or after it; end: there is none. */
static const char *skip_to(const char *at, const char *end, const char *mark) {
	const size_t length = strlen(mark);
	while ((size_t)(end - at) >= length && memcmp(at, mark, length) != 0)
		at++;
	return (size_t)(end - at) >= length ? at + length : end;
}

static bool begins(const char *at, const char *end, const char *mark) {
	return (size_t)(end - at) >= strlen(mark) && memcmp(at, mark, strlen(mark)) == 0;
}

/* A comment, a processing instruction, or a document type, whose declarations hold other marks. */
static const char *skip_markup(const char *at, const char *end) {
	if (begins(at, end, "<!--"))
		return skip_to(at, end, "-->");
	while (at < end && *at != '>' && *at != '[')
		at++;
	return skip_to(at < end && *at == '[' ? skip_to(at, end, "]") : at, end, ">");
}

bool xml_find_root(const char *text, size_t length, char *root, size_t size) {
	const char *at = text, *end = text + length;
	if (begins(at, end, "\xEF\xBB\xBF"))
		at += 3;
	at = skip_blanks(at, end);
	root[0] = '\0';
	if (at == end || *at != '<')
		return false;
	while (at < end && *at == '<' && end - at > 1 && (at[1] == '?' || at[1] == '!'))
		at = skip_blanks(skip_markup(at, end), end);
	size_t n = 0;
	if (at < end && *at == '<')
		for (at++; at < end && n + 1 < size && (isalnum((unsigned char)*at) || strchr("_:-.", *at)) && *at; at++)
			root[n++] = *at;
	root[n] = '\0';
	return true;
}
