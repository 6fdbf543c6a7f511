// SPDX-License-Identifier: Apache-2.0
/*
 * device_ranks.h — which ranks evaluate which devices, and what they send each other for it.
 */
#ifndef CALDER_SIM_DEVICE_RANKS_H
#define CALDER_SIM_DEVICE_RANKS_H

#include <calder/device.h>

#include "sim/sim_internal.h"

/* A device with nodes on this rank and on another one. */
typedef struct DeviceLink {
	int peer;        // the other rank
	int device;      //
	int own, remote; // which of its nodes
} DeviceLink;

/* The plan for all devices, the same on all ranks but for what is their own. */
typedef struct DeviceRanks {
	CalTransport transport;
	int *owner;        // [devices] rank whose states and accounts count
	uint8_t *acts;     // [devices] it is evaluated here
	DeviceLink *links; // by peer, then by device
	int link_count;
	uint8_t *wanted; // [branches of all groups] whose places devices ask for
	bool places;     // there are some
	double *motion;  // [devices][CAL_DEVICE_NODES][DEVICE_MOTION] of nodes on other ranks
	double *packet;  // of a message
	int lost;        // as CalTransport says
	int64_t messages, numbers;
	void *memory; // of the arrays
	size_t size;  // of it
} DeviceRanks;

enum { DEVICE_MOTION = 18 }; // numbers of the pose and the velocity of a node

/* For the devices and groups that there are now; keeps counts. Does not allocate where a plan of that size was before. */
CalStatus device_ranks_plan(const CalSim *sim, const CalTransport *transport, DeviceRanks *plan);
void device_ranks_free(const CalSim *sim, DeviceRanks *plan);
/* Reads the joint or the nodes that it names, and nothing that all ranks have to watch. */
bool device_is_local(const CalSim *sim, const SimDevice *device);
/* Motions of all nodes that devices of this rank read, at the states of groups. */
void device_ranks_exchange(const CalSim *sim, DeviceRanks *plan, const CalState *parts);
CalStatus device_ranks_node_motion(const CalSim *sim, const DeviceRanks *plan, int device, CalNodeRef node_ref,
                                   CalPose *pose, CalSpatial *velocity);

/* States of all devices, as a list: how many numbers; to the list, or back; each from the list of its owner. */
int device_states_count(const CalSim *sim);
void device_states_copy(CalSim *sim, double *x, bool back);
void device_states_take(CalSim *sim, const DeviceRanks *plan, const double *lists, int width);

#endif
