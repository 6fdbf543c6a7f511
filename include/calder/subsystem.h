// SPDX-License-Identifier: Apache-2.0
/*
 * calder/subsystem.h — compiled subsystems, of which only the interface nodes are seen (docs/subsystems.md).
 *
 * A subsystem has hidden states x. At (t, x) it reports where its k interface nodes are, how they move, and how they
 * respond to forces:
 *   A = Lambda F + b
 * A: angular and linear acceleration of each interface node (classical, of its origin), F: moment and force on it,
 * world axes, angular first. Lambda is symmetric and positive semidefinite. From the forces it then computes the rates
 * of x. It is tied to nodes of the model by joints; (Lambda_model + Lambda) is solved, never Lambda alone, so that
 * nodes that cannot move are allowed on either side.
 *
 * A subsystem is a table of functions, in C or from a shared object, or made of a model (cal_subsystem_from_model).
 */
#ifndef CALDER_SUBSYSTEM_H
#define CALDER_SUBSYSTEM_H

#include <calder/device.h>
#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAL_SUBSYSTEM_API_VERSION 3 // version of the structs below

/** An interface node in the world. */
typedef struct CalInterfaceNode {
	CalPose pose;
	CalSpatial velocity; // angular velocity, and the velocity of the origin
} CalInterfaceNode;

/** What a subsystem holds and does; momenta in world axes, angular about the world's origin. */
typedef struct CalSubsystemEnergy {
	double stored;     // kinetic and potential energy [J]
	double dissipated; // power lost to heat [W]
	double supplied;   // power brought in from outside, not through the interface [W]
	CalVec3 linear;    // [kg m/s]
	CalVec3 angular;   // [kg m^2/s]
} CalSubsystemEnergy;

/**
 * The functions of a subsystem; self is CalSubsystemDef.self. They return 0, or nonzero to end the run with
 * CAL_ERR_USER. None may allocate; all but start and commit must be pure functions of t, x and the forces. start,
 * interface_motion, respond, rates are required.
 */
typedef struct CalSubsystemOps {
	const char *type; // "arm of company A"; required
	/**
	 * x[nx] (zero before) for a start at these interface nodes: where the ties put them while their joints are at zero,
	 * moving as the model's nodes do. A subsystem that knows better may start elsewhere, as far as the joints allow.
	 */
	int (*start)(void *self, double t, const CalInterfaceNode *interface_nodes, double *x);
	/** interface_nodes[k] at (t, x). */
	int (*interface_motion)(void *self, double t, const double *x, CalInterfaceNode *interface_nodes);
	/** Lambda[6k][6k], row-major, and b[6k]. */
	int (*respond)(void *self, double t, const double *x, double *Lambda, double *b);
	/** xdot[nx] under wrench[k] on the interface nodes, each at the node's origin. */
	int (*rates)(void *self, double t, const double *x, const CalSpatial *wrench, double *xdot);
	/** NULL: the energy is not known, and the balance of the simulation is marked as incomplete. */
	int (*energy)(void *self, double t, const double *x, CalSubsystemEnergy *energy);
	/** After a step: x may be cleaned up (unit quaternions). Negative: failure, 1: x was changed, 0: not. NULL: none. */
	int (*commit)(void *self, double t, double *x);
	/**
	 * After a step, moves x to where the interface constraint equations are closed: the configuration by the
	 * displacement M^-1 J'shift, then the speeds by M^-1 J'impulse, with shift[k] and impulse[k] like wrenches on the
	 * interface nodes and M^-1 J' what Lambda = J M^-1 J' is made of. NULL: what steps leave open is only held by the
	 * stabilisation of the ties. Used if all subsystems have it.
	 */
	int (*correct)(void *self, double t, const CalSpatial *shift, const CalSpatial *impulse, double *x);
	/** After a failure: why. NULL: it does not say. */
	const char *(*explain)(void *self);
	void (*destroy)(void *self); // NULL: nothing to be released
	/**
	 * value[event_count]: what begins or ends in it where one changes sign; steps end there. Pure. Only adaptive methods
	 * follow a subsystem that has such values. NULL: it has none.
	 */
	int (*values)(void *self, double t, const double *x, double *value);
	/** As CalDeviceOps.lookahead, with these wrenches on the interface nodes. NULL: values are compared after steps only. */
	int (*lookahead)(void *self, double t, const double *x, const CalSpatial *wrench, CalLookahead *lookahead);
	/** The next time after t at which forces in it jump by themselves, or INFINITY. NULL: they never do. */
	double (*next_switch)(void *self, double t);
	/** Doubt `index`, from 0, of those that it has had in this run; 0: there is no such. Asked after steps. NULL: none. */
	int (*doubt)(void *self, int index, CalDoubt *doubt);
} CalSubsystemOps;

/** A subsystem to be added. ops and interface_node_names must outlive the simulation, which releases self. */
typedef struct CalSubsystemDef {
	int version;                             // CAL_SUBSYSTEM_API_VERSION of the header that it was compiled with
	const CalSubsystemOps *ops;              // required
	void *self;                              // handed to the functions
	int nx;                                  // hidden states
	int interface_node_count;                // k >= 1
	const char *const *interface_node_names; // [k], for messages and files; NULL: they go by number, from 1
	int event_count;                         // of ops->values
} CalSubsystemDef;

/** A joint between a node of the model and an interface node. */
typedef struct CalSubsystemTie {
	CalNodeId node;     // {0}: the ground's origin
	int interface_node; // of a compiled subsystem: its interface node, from 0
	const char *name;   // of the interface node instead of its number; NULL: none
	CalLoopDef joint; // between frame a on the node and b on the interface node; cal_loop_def(CAL_LOOP_WELD). Knife and
					  // coupling are not possible; frequency 0: stabilized at 10 rad/s, damping ratio 1, where steps do
					  // not end with a projection
	CalNodeId inner;  // of a component (cal_sim_add_component): its interface node
} CalSubsystemTie;

/**
 * Adds a subsystem under a name, unlike those of devices: it is one, of index *device, and its states are saved by
 * checkpoints. On failure self stays the caller's. Refused: methods without CalMethodInfo.subsystems; changes of topology, if
 * it has no correct().
 */
CAL_API CalStatus cal_sim_add_subsystem(CalSim *sim, const char *name, const CalSubsystemDef *def,
                                        const CalSubsystemTie *ties, int tie_count, int *device, CalError *error);
/**
 * Keeps the group of ties[0].inner as a component: an independent group of the simulation, with whatever acts in it, which the
 * rest sees at its interface nodes only. Its devices, events, loops and outputs stay where they are; components within
 * it are tied to its nodes. A free joint on the ground's origin that carries it by ties[0].inner is set where the tie wants
 * it at the start. The component is a device too, of index *device; switched off, its ties are open.
 */
CAL_API CalStatus cal_sim_add_component(CalSim *sim, const char *name, const CalSubsystemTie *ties, int tie_count,
                                        int *device, CalError *error);
/**
 * A compiled subsystem from a shared object, which is unloaded with the simulation. ties[].interface_node counts in the subsystem's
 * order.
 */
CAL_API CalStatus cal_sim_load_subsystem(CalSim *sim, const char *name, const char *path, const char *arguments,
                                         const CalSubsystemTie *ties, int tie_count, int *device, CalError *error);
/** The wrench on an interface node of the subsystem at its origin, at the present state; world axes. */
CAL_API CalStatus cal_sim_subsystem_wrench(CalSim *sim, int device, int interface_node, CalSpatial *wrench);
/** Where an interface node is now. */
CAL_API CalStatus cal_sim_subsystem_interface_node(CalSim *sim, int device, int interface_node, CalInterfaceNode *at);

/**
 * A shared object exports this under the name calder_subsystem. version is CAL_SUBSYSTEM_API_VERSION of the library;
 * arguments is the text that the model file gives. Fills *def; returns nonzero after writing why into message.
 */
typedef int (*CalSubsystemPluginFn)(int version, const char *arguments, CalSubsystemDef *def, char *message,
                                    size_t message_size);

/* ---- subsystems made of models -------------------------------------------------------------------- */

/** How a model becomes a subsystem. */
typedef struct CalModelSubsystemOptions {
	const CalState *state; // its state at the start; NULL: the neutral one
	int fit; // nonzero: at the start, the joint of its first interface node's body, which is free and has that node as
			 // its head, is set to where the tie wants it; zero: the subsystem starts as `state` says
	void (*release)(void *user);             // called with user when the subsystem is released; NULL: nothing is
	void *user;                              //
	const char *const *interface_node_names; // as of CalSubsystemDef; NULL: none
} CalModelSubsystemOptions;

/**
 * A subsystem of a compiled model with nodes[count] as its interface, by the O(n) recursion: Lambda = J M^-1 J'.
 * Gravity, springs, dampers, loops and locked degrees of freedom of the model act; inputs and devices are no part of
 * it. The model must outlive the simulation. *def is filled; def->ops->destroy(def->self) releases it, unless a
 * simulation does.
 */
CAL_API CalStatus cal_subsystem_from_model(const CalModel *model, const int *nodes, int count,
                                           const CalModelSubsystemOptions *options, CalSubsystemDef *def,
                                           CalError *error);

/**
 * The same of a simulation with one group and all that acts in it: inputs, devices and their states, which are hidden states
 * too. It starts from the present state of the simulation, its devices when they are where the first attachment wants
 * them; options->state is not read. The simulation must outlive the subsystem and is not to be used meanwhile.
 * CAL_ERR_UNSUPPORTED, naming it: a device that samples, has discrete states, switches them, drives a degree of freedom
 * or has not found its objects; an event; a component or compiled subsystem; a second group; a group that moves as given.
 */
CAL_API CalStatus cal_subsystem_from_sim(CalSim *sim, const int *nodes, int count,
                                         const CalModelSubsystemOptions *options, CalSubsystemDef *def,
                                         CalError *error);

/**
 * A subsystem of a subsystem file (docs/subsystems.md) with its interface, in the same place as the file itself: a free
 * joint at the first interface node, which is fitted, carries it. Gravity is that of the file. Its loads and devices act in
 * it. CAL_ERR_UNSUPPORTED: it has motions, events, components, groups or devices that cal_subsystem_from_sim() refuses.
 */
CAL_API CalStatus cal_subsystem_from_file(const char *path, CalSubsystemDef *def, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
