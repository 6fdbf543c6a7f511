// SPDX-License-Identifier: Apache-2.0
// N four-bar windows (IFToMM benchmark A02): 2N+1 uniform rods of 1 m and 1 kg, without thickness, in the plane x-y,
// every hinge about z. N+1 rods are hinged to the ground at x = 0 ... N; rod i of the N across is hinged to the top of
// standing rod i, and its far end closes loop i on the top of standing rod i+1: body to body.
//
// All standing rods turn by th from the x axis, those across stay level: with joint angles th and -th the whole is one
// pendulum, and d2(th)/dt2 = -c cos(th) with c = g ((N+1)/2 + N) / ((N+1)/3 + N), whatever the speed.
#include "loop_models.h"

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace bench {
namespace {

constexpr double gravity = 9.81, angle = 0.7, rate = -1.3; // far from th = 0 and pi, where the linkage is singular
constexpr int most_windows = 100000;

// The number in fourbarN, 0 if the name is not of that kind.
int window_count(const std::string &name) {
	const std::string prefix = "fourbar";
	if (name.compare(0, prefix.size(), prefix) != 0 || name.size() <= prefix.size() ||
	    !std::isdigit(static_cast<unsigned char>(name[prefix.size()])))
		return 0;
	char *end = nullptr;
	const long count = std::strtol(name.c_str() + prefix.size(), &end, 10);
	return *end == '\0' && count <= most_windows ? static_cast<int>(count) : 0;
}

void add_rod(Linkage &l, int parent, const Vec3 &hinge, double sign, double acceleration) {
	BenchBody rod;
	rod.parent = parent;
	rod.p_PF = hinge;
	rod.com = {0.5, 0, 0};
	rod.inertia = diagonal({0, 1.0 / 12, 1.0 / 12});
	rod.q0 = l.model.nq++;
	rod.u0 = l.model.nu++;
	l.model.bodies.push_back(rod);
	l.state.q.push_back(sign * angle);
	l.state.u.push_back(sign * rate);
	l.state.tau.push_back(0);
	l.state.udot.push_back(0);
	l.udot.push_back(sign * acceleration);
}

} // namespace

const std::vector<std::string> &linkage_names() {
	static const std::vector<std::string> names = {"fourbar5", "fourbar40", "fourbar200", "fourbar400"};
	return names;
}

// Standing rods are the even bodies, rods across the odd ones.
Linkage make_linkage(const std::string &name) {
	Linkage l;
	const int windows = window_count(name);
	if (windows == 0)
		return l;
	constexpr Vec3 end{1, 0, 0};
	const double n = windows, c = gravity * ((n + 1) / 2 + n) / ((n + 1) / 3 + n), acceleration = -c * std::cos(angle);
	l.model.name = name;
	l.model.gravity = {0, -gravity, 0};
	for (int i = 0; i <= windows; i++) {
		add_rod(l, -1, {static_cast<double>(i), 0, 0}, 1, acceleration);
		if (i < windows)
			add_rod(l, 2 * i, end, -1, acceleration);
	}
	for (int i = 0; i < windows; i++)
		l.model.loops.push_back({2 * i + 1, 2 * i + 2, end, end});
	return l;
}

} // namespace bench
