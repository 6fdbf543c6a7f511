// SPDX-License-Identifier: Apache-2.0
// A neutral description of the benchmark's mechanisms and of their states, from which every engine
// builds its own model. Everything is generated, deterministic from a seed.
//
// Conventions
//   The frame of a body is the outboard frame of its joint: at q = 0 it coincides with the placement.
//   revolute   q: angle (rad)                         u: rate (rad/s)
//   spherical  q: unit quaternion w,x,y,z             u: angular velocity in the parent, child axes
//   free       q: x,y,z (parent axes), quaternion     u: velocity of the origin in world axes,
//                                                        then angular velocity in body axes
//   udot is the time derivative of the numbers u; tau is conjugate to u (power = tau . u).
#pragma once

#include "linalg.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

enum class JointKind { revolute, spherical, free };

inline int joint_nq(JointKind k) { return k == JointKind::revolute ? 1 : k == JointKind::spherical ? 4 : 7; }
inline int joint_nu(JointKind k) { return k == JointKind::revolute ? 1 : k == JointKind::spherical ? 3 : 6; }

struct BenchBody {
	int parent = -1;                       // index of an earlier body, -1 for ground
	JointKind joint = JointKind::revolute; // joint to the parent
	int axis = 2;                          // revolute only: 0, 1, 2 for x, y, z
	Mat3 R_PF = identity3;                 // placement of the joint in the parent's frame
	Vec3 p_PF{};                           // m
	double mass = 1;                       // kg
	Vec3 com{};                            // m, body frame
	Mat3 inertia = identity3;              // kg m^2, about the center of mass, body axes
	int q0 = 0, u0 = 0;                    // where this joint's coordinates and speeds begin
};

// A hinge that closes a loop: the two points coincide, and the z axes of the two bodies are parallel.
struct BenchLoop {
	int body_a, body_b;    // -1: the ground
	Vec3 point_a, point_b; // m, body frames
};

struct BenchModel {
	std::string name;
	std::vector<BenchBody> bodies;
	std::vector<BenchLoop> loops; // of the suite "loops"; see Engine::closes_loops
	bool spatial = false;         // loops need all five rows of a hinge
	Vec3 gravity{0, 0, -9.81};    // m/s^2
	int nq = 0, nu = 0;

	int n() const { return static_cast<int>(bodies.size()); }
};

struct BenchState {
	std::vector<double> q, u; // state
	std::vector<double> tau;  // input of forward dynamics
	std::vector<double> udot; // input of inverse dynamics
};

// Names accepted by make_model, in the order they are benchmarked.
const std::vector<std::string> &model_names();

// The named model; n() is 0 if there is no such name.
BenchModel make_model(const std::string &name, std::uint64_t seed);

BenchState make_state(const BenchModel &model, std::uint64_t seed);

// Quaternion part of a spherical or free joint's coordinates.
Quat joint_quaternion(const BenchBody &body, const std::vector<double> &q);

} // namespace bench
