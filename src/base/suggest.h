// SPDX-License-Identifier: Apache-2.0
/*
 * suggest.h — "did you mean": the candidate nearest to a word that was not understood.
 */
#ifndef CALDER_BASE_SUGGEST_H
#define CALDER_BASE_SUGGEST_H

#include <stddef.h>

/** Nearest candidate so far. Zero-initialize with the word set, offer candidates, read `best`. */
typedef struct Suggestion {
	const char *word;
	const char *best; // NULL: nothing is near
	size_t distance;  // of best
} Suggestion;

void suggestion_offer(Suggestion *suggestion, const char *candidate);
/** "; did you mean "x"?" into buffer, or an empty text. */
const char *suggestion_text(const Suggestion *suggestion, char *buffer, size_t size);

/** Insertions, deletions, replacements and swaps of neighbors between two words, case ignored. */
size_t edit_distance(const char *a, const char *b);

#endif
