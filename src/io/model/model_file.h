// SPDX-License-Identifier: Apache-2.0
/*
 * model_file.h — the reader of the native format: tables, values, and what is known while a file is read.
 *
 * Every map of the format has a table of fields (base/field.h): fields_read() refuses unknown keys, asks for required ones
 * and stores each value as its kind says. docs/format.md and docs/calder.schema.json are made from the same tables.
 */
#ifndef CALDER_IO_MODEL_MODEL_FILE_H
#define CALDER_IO_MODEL_MODEL_FILE_H

#include <calder/flex.h>
#include <calder/io.h>
#include <stdbool.h>

#include "base/field.h"
#include "base/name_index.h"
#include "base/suggest.h"
#include "base/units.h"
#include "io/yaml/yaml_tree.h"

/* ---- a file while it is read ---------------------------------------------------------------------- */

/** Dofs of a joint as the reader needs them before anything is compiled. */
typedef struct JointShape {
	int nq, nu;
	bool linear[CAL_JOINT_MAX_DOF];        // of each speed: along an axis, not about it
	char coordinate[CAL_JOINT_MAX_COORDS]; // 'A' angle, 'L' length, 'Q' part of a quaternion
} JointShape;

typedef struct JointRecord {
	const char *name;
	CalJointType type;
	JointShape shape;
	CalBodyId body;      // that it carries
	int modes;           // of that body
	int independent;     // within an embedded loop
	double effort_limit; // of its servos, controllers and actuators; 0: none
	bool effort_taken;   // one of them has no limit of its own
} JointRecord;

typedef struct FileMesh FileMesh; // model_file_contact.c

/* A joint, a body or a group that an action makes. */
typedef struct Made {
	char what;           // 'j', 'b' or 'g'
	const char *name;    //
	const TreeNode *map; // of a joint: "attach"; of a body: "add_body"
} Made;

/**
 * Reads robot files where a model file uses one as a subsystem: *robot, and the *text of a model file that is the same. Both
 * are the caller's, the text by free(), also on failure.
 */
typedef struct ModelFileTranslator {
	CalStatus (*translate)(const void *user, const char *path, const CalAllocator *allocator, CalSetup **robot,
	                       char **text, size_t *length, CalError *error);
	const void *user;
} ModelFileTranslator;

/* A file while it is read; what it says goes to the setup. Lives in the memory of the tree. */
typedef struct ModelFile {
	Tree *tree; // the text; it stays with the setup until cal_model_file_trim(), for the writer
	CalAllocator allocator;
	const ModelFileTranslator *translator; // NULL: robot files are refused
	CalSetup *setup;                       // NULL: only values are read, as those of a campaign's plan
	CalDesc *desc;                         // of the setup
	JointRecord *joints;                   // [cal_desc_joint_count], by id - 1
	CalLoopId *embedded;                   // [embedded_count] loops to be embedded
	int embedded_count;                    //
	int *modes;                            // [cal_desc_body_count] of each body, by id - 1
	FileMesh *meshes;                      // of contact shapes, in a chain
	const char **events;                   // names
	NameIndex event_names;                 // values: place + 1; in the pool
	int event_count;
	Made *made; // what actions make, each name once
	int made_count;
	CalDesc **new_bodies; // descriptions of one body each that actions add; until the events are read
	int new_body_count;
} ModelFile;

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct Sections Sections;
typedef struct Item Item;
typedef struct DeviceType DeviceType; // device/device_type.h

typedef struct Reader Reader;
struct Reader {
	ModelFile *file;
	CalError *error;
	CalStatus status;  // of the first failure
	char subject[160]; // what is being read, for messages: body "upper"
	const char *page;  // where the keys are explained; NULL: docs/format.md
	/* What fields refer to: */
	const Sections *sections; // NULL: no names of nodes are read
	const Item *item;         // the named object that is read
	const JointRecord *joint; // that the map at hand has named, or NULL
	int dof;                  // of it; -1: not given
	CalBodyId body;           // likewise, for its modes; {0}: none
};

/** The setup that a tree describes. Takes the tree over, also on failure. translator NULL: no robot files within. */
CalStatus model_file_setup_from_tree(Tree *tree, const ModelFileTranslator *translator, const CalAllocator *allocator,
                                     CalSetup **setup, CalError *error);

/** Reports "file:line:col: error: subject: ..."; always false. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool
reader_fail(Reader *r, const TreeNode *node, const char *format, ...);
/** The same with a status from the builder, whose text is already in r->error. */
bool reader_refused(Reader *r, const TreeNode *node, CalStatus status);
/** Whether the setup took what it was given; false after reporting as above. */
bool reader_added(Reader *r, const TreeNode *node, CalStatus status);
/** Memory that lives as long as the file; NULL after reporting. */
void *reader_array(Reader *r, size_t count, size_t size);
/** A text of any length that lives as long as the file; NULL after reporting. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
char *
reader_text(Reader *r, const char *format, ...);
/**
 * The path of a file that the model names, beside `host` (NULL: beside the model), into path[size]; it becomes one of the
 * sources (cal_setup_source). False after reporting.
 */
bool reader_path(Reader *r, const TreeNode *node, const char *host, const char *name, char *path, size_t size);
/** Notes "file:line:col: warning: subject: ..." for cal_setup_warning(); the reader continues. False: out of memory. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool
reader_warn(Reader *r, const TreeNode *node, const char *format, ...);
/** Sets the subject: `what "name"`, or what alone for NULL. */
void reader_subject(Reader *r, const char *what, const char *name);
/** Fails with: unknown WHAT "word"; did you mean ... */
bool reader_unknown(Reader *r, const TreeNode *node, const char *what, const Suggestion *suggestion);
/** The same for a type, with the names of all. */
bool reader_unknown_of(Reader *r, const TreeNode *node, const char *what, const Suggestion *suggestion,
                       const char *words);

/* ---- field tables ------------------------------------------------------------------------------ */

/** All tables of the format, but those of devices (device/device_type.h). */
extern const FieldTable *const model_file_tables[];
extern const int model_file_table_count;

/** Reads a map by its fields; false after reporting. */
bool fields_read(Reader *r, const TreeNode *map, const FieldTable *table, void *target);
/** The value of a field in a map, by its name or its former one; NULL: it is not given. */
const TreeNode *field_value(const TreeNode *map, const Field *field);
/** Stores one value as its kind and flags say, whatever field->read is. */
bool field_read(Reader *r, const TreeNode *value, const Field *field, void *target);
/** Fails with: unknown key, and the nearest of the table or all of them. */
bool reader_unknown_key(Reader *r, const TreeNode *key, const FieldTable *table);

/* ---- values ---------------------------------------------------------------------------------- */

bool read_quantity(Reader *r, const TreeNode *node, Dimension dimension, double *out);
bool read_vector(Reader *r, const TreeNode *node, Dimension dimension, CalVec3 *out);
/** Factors of a mesh along its axes: one number, or three; not zero. */
bool read_scale(Reader *r, const TreeNode *node, CalVec3 *out);
/** A direction: x, -y, ... or a vector that is not zero. */
bool read_axis(Reader *r, const TreeNode *node, CalVec3 *out);
bool read_flag(Reader *r, const TreeNode *node, int *out);
bool read_text(Reader *r, const TreeNode *node, const char **out);
/** A whole number from 1 to count as an index from 0; key and whose (such as "the dofs of joint") are for messages. */
bool read_index(Reader *r, const TreeNode *node, const char *key, int count, const char *whose, const char *name,
                int *index);
bool read_placement(Reader *r, const TreeNode *node, CalPlacement *out);
bool read_orientation(Reader *r, const TreeNode *node, CalQuat *out);
/** Refuses anything but a list (NULL and empty: 0 items). */
bool read_list(Reader *r, const TreeNode *node, const char *what);

/** A named object: an entry of a map, or an item of a list with a key `name`. */
struct Item {
	const char *name;
	const TreeNode *place; // for messages
	const TreeNode *value;
};

/** Number of items of a section (NULL or empty: 0), or -1 after reporting that it is no map or list. */
int items_count(Reader *r, const TreeNode *section, const char *what);
/** Refuses a name that is empty or holds characters that names cannot hold. */
bool model_file_check_name(Reader *r, const TreeNode *place, const char *name);
bool items_get(Reader *r, const TreeNode *section, int index, const char *what, Item *item);

/* ---- the parts of a file --------------------------------------------------------------------- */

struct Sections {
	double version;
	const char *title;
	CalVec3 gravity;
	int propagation; // CalPropagation
	const TreeNode *groups, *ground, *bodies, *joints, *loops, *state, *loads, *devices, *run, *pendulums, *motions,
		*old_motions, *events, *subsystems, *interface, *view;
};

bool model_file_read_bodies(Reader *r, const Sections *s);
bool model_file_read_joints(Reader *r, const Sections *s);
bool model_file_read_loops(Reader *r, const Sections *s);
bool model_file_embed_loops(Reader *r, const Sections *s); // after the state
bool model_file_read_state(Reader *r, const Sections *s);
bool model_file_read_loads(Reader *r, const Sections *s);
bool model_file_read_devices(Reader *r, const Sections *s);
/** Devices that joints have as keys. */
bool model_file_read_joint_devices(Reader *r, const Sections *s);
/** Whether there are any, or limits of efforts. */
bool model_file_has_joint_devices(const TreeNode *root);
/** Gives a device without a limit of its own that of the joint on which it acts (r->joint). */
void model_file_limit_effort(const Reader *r, const TreeNode *map, const DeviceType *type, void *def);
/** Warns of what limits nothing: stops without a place (false: out of memory); after all devices, efforts that no device takes. */
bool model_file_check_stops(Reader *r, const TreeNode *map, const DeviceType *type, const void *def);
bool model_file_check_efforts(Reader *r, const Sections *s);
/** Whether there is a device of that name, or a load that is one; call it when both are read. */
bool model_file_has_device(const Reader *r, const Sections *s, const char *name);
/** The same; reports if there is none. */
bool model_file_find_device(Reader *r, const Sections *s, const TreeNode *node, const char *name);
bool model_file_read_pendulums(Reader *r, const Sections *s); // after the joints
bool model_file_read_motions(Reader *r, const Sections *s);
bool model_file_read_events(Reader *r, const Sections *s);
bool model_file_read_run(Reader *r, const Sections *s);
bool model_file_read_view(Reader *r, const Sections *s); // after the events
/** A loop between two frames, but its sides; the subject is set. */
bool model_file_loop_def(Reader *r, const Sections *s, const TreeNode *map, CalLoopDef *def);
/** Puts the subsystems of the file in the place of their section, unless they are of a library; before all else. */
bool model_file_expand(Reader *r);
bool model_file_read_interface(Reader *r, const Sections *s);
bool model_file_read_boxes(Reader *r, const Sections *s);

/** A table of values of this dimension; table->shape stays unless the file gives one. */
bool model_file_read_table(Reader *r, const TreeNode *node, Dimension dimension, CalTable *table);
/** The same from a column (NULL: the second) of a CSV file; both are scalars. */
bool model_file_read_csv(Reader *r, const TreeNode *file, const TreeNode *column, Dimension dimension, CalTable *table);

/** The shapes of a contact device, with the material that r->item gives to those that name none. */
bool model_file_read_contact(Reader *r, const TreeNode *shapes, CalContactDef *def);
/** The text of a formula over the simulation that is a number (docs/expressions.md). */
bool model_file_read_formula(Reader *r, const TreeNode *node, const char **text);
/** A table, a quantity of this dimension, or a formula of the time. */
/** A component of a load: a number with its unit, a table, or a formula of anything in the simulation. */
bool model_file_read_load_value(Reader *r, const TreeNode *node, Dimension dimension, CalLoadValue *value);
/** Lists of any length (model_file_lists.c); a single value is a list of one. */
struct LoadValueList;
bool model_file_read_load_list(Reader *r, const TreeNode *node, Dimension dimension, struct LoadValueList *list);
bool model_file_read_numbers(Reader *r, const TreeNode *node, Dimension dimension, NumberList *list);
bool model_file_read_number_matrix(Reader *r, const TreeNode *node, Dimension dimension, NumberMatrix *matrix);
bool model_file_read_whole(Reader *r, const TreeNode *node, const char *key, int *out); // zero or more
bool model_file_read_function(Reader *r, const TreeNode *node, Dimension dimension, CalTimeFunction *function);
/** A joint as it is written. */
typedef struct JointInput {
	CalJointType type;
	const char *from, *to;
	CalVec3 axis, axis2;
	double pitch;
	CalPlacement inboard, outboard;
	const TreeNode *elements, *dof;
	int reversed, independent;
	double effort_limit;
	const TreeNode *limits, *friction; // read when all joints are there
} JointInput;
/** Everything but name, place and sides. */
bool model_file_joint_def(Reader *r, const TreeNode *map, const JointInput *input, CalJointDef *def, JointShape *shape);
/** Whether "reversed" is possible. */
bool model_file_can_reverse(CalJointType type);
/** The types of joints that a file can have, for Field.word_at. */
const char *propagation_word(int i);
const char *model_file_joint_word(int i);
bool key_joint_type(Reader *r, const TreeNode *value, const Field *key, void *target); // CalJointType

/** Mass properties from a shape (model_file_shape.c). */
typedef struct BodyInput {
	const char *group, *mass_node;
	double mass, density;
	int idealized;
	CalVec3 com;
	const TreeNode *inertia, *box, *sphere, *cylinder, *rod, *mesh, *nodes, *flexible, *beam, *panel, *modal, *visual;
} BodyInput;
/** Adds a body with its nodes and modes to the description at hand; *center: where its visuals are. */
bool model_file_add_body(Reader *r, const Item *item, const BodyInput *input, CalGroupId group, CalVec3 *center);
/** Modal coordinates or speeds (`key`) of a body, in the pool; node NULL: not given, *out stays. */
bool model_file_read_modal_values(Reader *r, const TreeNode *node, const char *key, int modes, const double **out);
/** Only the definition of a node. */
bool model_file_read_node_def(Reader *r, const Item *item, CalNodeDef *def);
bool model_file_read_inertia(Reader *r, const TreeNode *body, const BodyInput *input, CalBodyDef *def);
/**
 * A box, sphere, cylinder (capsules and cones are given like it) or rod as it is drawn: size and placement, whose position
 * stays where the shape does not give one. Rods, which have no thickness, are drawn with one.
 */
bool model_file_read_outline(Reader *r, const TreeNode *node, bool rod, CalVisual *out);
/** The same of the mesh that gives a body its mass. */
bool model_file_read_mesh_outline(Reader *r, const TreeNode *node, CalVisual *out);
/** The visuals of a body; center: of a shape that gives the body its mass. */
bool model_file_read_visual(Reader *r, const BodyInput *body, CalVec3 center, CalBodyId id);
bool model_file_read_ground_visual(Reader *r, const TreeNode *node);
/** An inertia as numbers: [xx, yy, zz], a map or three rows. */
bool model_file_read_tensor(Reader *r, const TreeNode *node, CalMat3 *out);
/** The value of "beam" or "panel" of a body: adds the body. */
bool model_file_read_beam(Reader *r, const TreeNode *map, const Item *item, CalGroupId group);
bool model_file_read_panel(Reader *r, const TreeNode *map, const Item *item, CalGroupId group);
/** The value of "modal": the name of a file, or a map with it. Adds the body. */
bool model_file_read_modal(Reader *r, const TreeNode *node, const Item *item, CalGroupId group);
/**
 * The value of "flexible" of a body that is in the description with its nodes. whole: mass, center and inertia of the
 * body, which are the rigid part's unless there are invariants.
 */
bool model_file_read_flexible(Reader *r, const Item *item, const BodyInput *body, const CalBodyDef *whole,
                              CalBodyId id);
/** The value of "invariants"; mass, com and inertia are not touched. */
bool model_file_read_invariants(Reader *r, const TreeNode *map, int modes, CalFlexInvariants *out);

/* Plain numbers by modes: a row (with one mode a number alone), rows, a square matrix or the list of its diagonal. */
bool model_file_read_row(Reader *r, const TreeNode *node, const char *key, int n, Dimension dimension, double *out);
bool model_file_read_rows(Reader *r, const TreeNode *node, const char *key, int rows, int n, double *out);
bool model_file_read_matrix(Reader *r, const TreeNode *node, const char *key, int n, double *out);

/** The value of a named object of a section that has been read, or NULL. */
const TreeNode *model_file_find_item(const TreeNode *section, const char *name);
/** "ground", "body" or "body/node" in the description; ground gives {0}. */
bool model_file_find_node(Reader *r, const Sections *s, const TreeNode *node, const char *path, CalNodeId *id);
/** The body of that name in the description. */
bool model_file_find_body(Reader *r, const Sections *s, const TreeNode *node, const char *name, CalBodyId *id);
/** The joint of that name. */
bool model_file_find_joint(Reader *r, const TreeNode *node, const char *name, const JointRecord **joint);

extern const FieldTable file_table, group_table, ground_table, body_table, node_table, placement_table, rotation_table,
	inertia_table, box_table, sphere_table, cylinder_table, rod_table, mass_mesh_table, joint_table, loop_table,
	term_table, drive_table, stabilisation_table, applied_wrench_table, element_table, dof_table, joint_limits_table,
	joint_friction_table, flexible_table, flexible_node_table, invariants_table, position_table, shape_table,
	beam_table, beam_mass_table, section_table, panel_table, modal_table, state_table, load_table, run_table,
	output_table, table_table, contact_shape_table, contact_material_table, motion_table, pendulum_table, event_table,
	action_table, attach_table, add_body_table, visual_table, subsystem_table, attachment_table, view_table,
	camera_table, step_table;

#endif
