// SPDX-License-Identifier: Apache-2.0
/*
 * suggest.c — restricted Damerau-Levenshtein distance over three rows, and the choice of the nearest.
 *
 * A candidate is near if at most a third of the longer word (at least one letter) differs, or if one of
 * the two words begins with the other and three letters at least agree.
 */
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

#include <calder/io.h>

enum { WORD_MAX = 63 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '-' ? '_' : c; }

static size_t min3(size_t a, size_t b, size_t c) {
	const size_t d = a < b ? a : b;
	return d < c ? d : c;
}

size_t edit_distance(const char *a, const char *b) {
	const size_t n = strlen(a), m = strlen(b);
	if (n > WORD_MAX || m > WORD_MAX)
		return strcmp(a, b) == 0 ? 0 : WORD_MAX;
	size_t rows[3][WORD_MAX + 1];
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			const char x = lower(a[i - 1]), y = lower(b[j - 1]);
			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y && above2[j - 2] + 1 < row[j])
				row[j] = above2[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

void suggestion_offer(Suggestion *s, const char *candidate) {
	const size_t n = strlen(s->word), m = strlen(candidate);
	const size_t longer = n > m ? n : m, shorter = n > m ? m : n;
	size_t distance = edit_distance(s->word, candidate);
	const size_t limit = longer / 3 > 1 ? longer / 3 : 1;
	if (distance > limit) {
		if (shorter < 3 || strncmp(s->word, candidate, shorter) != 0)
			return;
		distance = limit;
	}
	if (distance < longer && (!s->best || distance < s->distance)) {
		s->best = candidate;
		s->distance = distance;
	}
}

const char *suggestion_text(const Suggestion *s, char *buffer, size_t size) {
	if (size)
		buffer[0] = 0;
	if (s->best)
		snprintf(buffer, size, "; did you mean \"%.80s\"?", s->best);
	return buffer;
}

const char *cal_name_nearest(const char *word, const char *const *candidates, int count) {
	Suggestion suggestion = {.word = word};
	for (int i = 0; word && candidates && i < count; i++)
		suggestion_offer(&suggestion, candidates[i]);
	return suggestion.best;
}
