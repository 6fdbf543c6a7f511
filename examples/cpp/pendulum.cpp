// SPDX-License-Identifier: Apache-2.0
/*
 * pendulum.cpp — the pendulum of README.md from C++: definitions start from their defaults, handles belong to smart pointers.
 *
 *   c++ -std=c++17 pendulum.cpp $(pkg-config --cflags --libs calder) -o pendulum
 */
#include <calder/calder.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

using Desc = std::unique_ptr<CalDesc, decltype(&cal_desc_destroy)>;
using Sim = std::unique_ptr<CalSim, decltype(&cal_sim_destroy)>;

void must(CalStatus status, const CalError &error) {
	if (status != CAL_OK)
		throw std::runtime_error(error.text[0] ? error.text : cal_status_text(status));
}

Sim pendulum() {
	CalError error{};
	CalDesc *made = nullptr;
	must(cal_desc_create(nullptr, &made), error);
	const Desc desc(made, cal_desc_destroy);
	must(cal_desc_set_gravity(made, CalGroupId{0}, CalVec3{0, 0, -9.81}), error);

	CalBodyDef rod = cal_body_def(); // 2 kg, 1 m long, along -z of its frame
	rod.name = "rod";
	rod.mass = 2;
	rod.com = CalVec3{0, 0, -0.5};
	rod.inertia = CalMat3{{{1 / 6.0, 0, 0}, {0, 1 / 6.0, 0}, {0, 0, 0.001}}};
	CalBodyId id;
	must(cal_desc_add_body(made, &rod, &id, &error), error);

	CalJointDef hinge = cal_joint_def(CAL_JOINT_REVOLUTE);
	hinge.name = "hinge";
	hinge.axis = CalVec3{0, 1, 0};
	must(cal_desc_attach(made, CalNodeId{0}, &hinge, cal_desc_body_node(made, id), nullptr, &error), error);

	CalSimOptions options{};
	options.method.method = CAL_METHOD_DOPRI5;
	CalSim *sim = nullptr;
	must(cal_sim_create(made, &options, &sim, &error), error);
	return Sim(sim, cal_sim_destroy);
}

} // namespace

int main() try {
	const Sim sim = pendulum();
	CalError error{};
	cal_sim_state(sim.get(), 0)->q[0] = 1; // released one radian from the vertical
	for (int i = 1; i <= 5; i++) {
		must(cal_sim_advance(sim.get(), 0.2 * i, &error), error);
		std::printf("t = %.1f s   angle = %+.9f rad\n", cal_sim_time(sim.get()), cal_sim_state(sim.get(), 0)->q[0]);
	}
	return 0;
} catch (const std::exception &problem) {
	std::fprintf(stderr, "%s\n", problem.what());
	return 1;
}
