// SPDX-License-Identifier: Apache-2.0
/*
 * fe.c — fuzz target: finite-element models and modal bodies. The first byte says of which format the rest is; the four
 * files of CalculiX, and bulk data and OP4 file, are parted by bytes 0x1e. What is read is reduced, added to a description, and written again.
 */
#include <stdlib.h>
#include <string.h>

#include <calder/fe.h>

#include "fuzz.h"

static void use_modal(CalModal *modal) {
	CalModalNode node;
	CalError error;
	CalDesc *desc = NULL;
	(void)cal_modal_info(modal);
	(void)cal_modal_fidelity(modal);
	for (int i = 0; i < 3; i++)
		(void)cal_modal_node(modal, i, &node);
	if (cal_desc_create(NULL, &desc) == CAL_OK) {
		CalBodyId body;
		(void)cal_modal_add(modal, desc, "x", (CalGroupId){0}, 0, &body, &error);
	}
	cal_desc_destroy(desc);
	(void)cal_modal_write(modal, fuzz_path("out.json"), &error);
	(void)cal_modal_write(modal, fuzz_path("out.SID_FEM"), &error);
	cal_modal_destroy(modal);
}

static void read_modal(const char *path) {
	CalModal *modal = NULL;
	CalError error;
	const CalModalOptions options = {0};
	memset(&error, 0x5a, sizeof error);
	if (cal_modal_read(path, &options, NULL, &modal, &error) == CAL_OK)
		use_modal(modal);
	else
		fuzz_expect_error(&error);
}

static void read_fe(const char *path) {
	CalFeModel *fe = NULL;
	CalModal *modal = NULL;
	CalFeFrame frame;
	CalError error;
	memset(&error, 0x5a, sizeof error);
	if (cal_fe_read(path, NULL, NULL, &fe, &error) != CAL_OK) {
		fuzz_expect_error(&error);
		return;
	}
	(void)cal_fe_info(fe);
	for (int i = 0; i < 3; i++)
		(void)cal_fe_frame(fe, i, &frame);
	const CalFeReduction how = {.modes = 3, .display_count = 20};
	if (cal_fe_reduce(fe, &how, &modal, &error) == CAL_OK)
		use_modal(modal);
	cal_fe_destroy(fe);
}

static void read_calculix(const uint8_t *data, size_t size) {
	static const char *const names[] = {"a.inp", "a.dof", "a.sti", "a.mas"};
	FuzzPart rest = {data, size}, part;
	for (int i = 0; i < 4; i++) {
		if (!fuzz_next_part(&rest, &part))
			part = (FuzzPart){data, 0};
		fuzz_write(names[i], part.data, part.size);
	}
	read_fe(fuzz_path("a.inp"));
}

/* Bulk data up to a byte 0x1e, then the matrices. */
static void read_op4(const uint8_t *data, size_t size) {
	FuzzPart rest = {data, size}, part;
	if (!fuzz_next_part(&rest, &part))
		return;
	fuzz_write("b.bdf", part.data, part.size);
	read_fe(fuzz_write("b.op4", rest.data, rest.size));
}

static void run(const uint8_t *data, size_t size) {
	if (size < 1)
		return;
	switch (data[0] % 5) {
	case 0:
		read_fe(fuzz_write("a.pch", data + 1, size - 1));
		break;
	case 1:
		read_modal(fuzz_write("a.SID_FEM", data + 1, size - 1));
		break;
	case 2:
		read_modal(fuzz_write("a.json", data + 1, size - 1));
		break;
	case 4:
		read_op4(data + 1, size - 1);
		break;
	default:
		read_calculix(data + 1, size - 1);
	}
}

const FuzzTarget fuzz_fe = {"fe", NULL, run};
