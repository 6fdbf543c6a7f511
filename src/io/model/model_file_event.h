// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_event.h — what the readers of events and of their actions share.
 */
#ifndef CALDER_IO_MODEL_MODEL_FILE_EVENT_H
#define CALDER_IO_MODEL_MODEL_FILE_EVENT_H

#include "io/model/model_file.h"

/** "file:line:column" that lives as long as the tree; NULL after reporting. */
const char *model_file_keep_place(Reader *r, const TreeNode *node);

/** Notes the names of joints, bodies and groups that actions will make: other actions may name them in any order. */
bool model_file_read_made(Reader *r, const Sections *s);
/** The value of "do": an action, or a list of them. */
bool model_file_read_actions(Reader *r, const Sections *s, const Item *item, const TreeNode *node,
                             CalSetupEvent *event);
/** The value of "add_body" (model_file_new_body.c). */
bool model_file_read_new_body(Reader *r, const Sections *s, const TreeNode *map, CalActionDef *action);
/** Whether the map of a body gives it modes. */
bool model_file_is_flexible(const TreeNode *body);

#endif
