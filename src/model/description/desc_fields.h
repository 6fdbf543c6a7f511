// SPDX-License-Identifier: Apache-2.0
/*
 * desc_fields.h — one walk over the fields of each record of a description: counted, written, read or hashed
 * (base/serializer.h).
 */
#ifndef CALDER_MODEL_DESCRIPTION_DESC_FIELDS_H
#define CALDER_MODEL_DESCRIPTION_DESC_FIELDS_H

#include "base/serializer.h"
#include "model/description/desc.h"

/* named: with what records are called, and all else that never changes while a simulation runs. */
void walk_group(Serializer *a, CalGroupDef *group, bool named);
void walk_body(Serializer *a, DescBody *body, bool named);
void walk_node(Serializer *a, DescNode *node, bool named);
void walk_joint(Serializer *a, CalJointDef *def, bool named);
void walk_loop(Serializer *a, DescLoop *loop, bool named);

#endif
