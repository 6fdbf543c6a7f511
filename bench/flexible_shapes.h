// SPDX-License-Identifier: Apache-2.0
// Bending shapes of straight booms along x, clamped at the body frame's origin, equal in both planes: first all
// modes that deflect along y, then as many along z.
#pragma once

#include <calder/calder.h>

#include <string>
#include <vector>

namespace bench {

struct BoomNode {
	double x;                     // m
	double mass;                  // kg
	CalVec3 inertia;              // principal, rotary, about the node, kg m^2
	std::vector<double> phi, psi; // [3][modes]; empty: the node stands still
};

struct Boom {
	int modes = 0;                          // 0: rigid
	std::vector<double> stiffness, damping; // [modes][modes]
	std::vector<BoomNode> nodes;            // from the root to the tip
	double hub_mass = 0, hub_inertia = 0;   // a ball at the root, kg and kg m^2
};

// The boom of the three-leg and 128-body systems: 5 nodes, the static shapes of a tip force and of a tip moment
// in each plane (not mass-orthogonal), damping = beta * stiffness.
Boom catalogue_boom(double length, double mass, double EI, double beta);

// An Euler-Bernoulli cantilever of lumped masses on `modes`/2 + 4 stations: its lowest modes, mass-orthonormal,
// with the exact flexibility between the stations.
Boom cantilever(int modes, double length, double mass, double EI, double radius);

} // namespace bench
