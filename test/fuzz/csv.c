// SPDX-License-Identifier: Apache-2.0
/*
 * csv.c — fuzz target: any bytes as a table that `calder plot` reads and draws.
 */
#include "../../cli/csv.h"

#include <stdlib.h>

#include "fuzz.h"

static void draw(const Csv *csv) {
	const Table table = {
		.columns = csv->columns, .column_count = csv->column_count, .rows = csv->rows, .count = csv->count};
	const int count = csv->column_count < 12 ? csv->column_count : 12;
	PanelItem items[12];
	for (int i = 0; i < count; i++)
		items[i] =
			(PanelItem){.column = i, .label = i % 2 ? csv->columns[i].label : panels_own_label(csv->columns[i].name)};
	if (count > 1)
		(void)panels_write(fuzz_path("out.svg"), "fuzz", &table, items + 1, count - 1, csv->note);
}

static void run(const uint8_t *data, size_t size) {
	Csv csv;
	if (csv_read(fuzz_write("a.csv", data, size), &csv) == EXIT_OK)
		draw(&csv);
	csv_free(&csv);
}

const FuzzTarget fuzz_csv = {"csv", NULL, run};
