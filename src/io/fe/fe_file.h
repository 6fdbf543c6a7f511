// SPDX-License-Identifier: Apache-2.0
/*
 * fe_file.h — the formats of finite element models and of modal bodies, one file each; fe_file.c chooses by the name.
 */
#ifndef CALDER_IO_FE_FE_FILE_H
#define CALDER_IO_FE_FE_FILE_H

#include "fe/fe_modal.h"
#include "fe/fe_model.h"

/* The readers; each makes a whole model or none. */
CalStatus fe_read_calculix(const char *path, const CalFeUnits *units, const CalAllocator *allocator, CalFeModel **fe,
                           CalError *error);

CalStatus fe_modal_read_sid(const char *path, const CalModalOptions *options, const CalAllocator *allocator,
                            CalModal **modal, CalError *error);
CalStatus fe_modal_write_sid(const CalModal *modal, const char *path, CalError *error);
CalStatus fe_modal_read_file(const char *path, const CalAllocator *allocator, CalModal **modal, CalError *error);
CalStatus fe_modal_write_file(const CalModal *modal, const char *path, CalError *error);

#endif
