// SPDX-License-Identifier: Apache-2.0
// Generators: chains of cantilevers for cost against modes, and the systems of the order-N papers of NASA JSC
// (Ghosh and Quiocho 2013; Huynh et al. 2016). The papers give topology and counts; masses, lengths, stiffnesses
// and loads are choices. The reference accelerations come from another program, in extended precision, with no
// code in common.
#include "flexible_models.h"
#include "flexible.h"

#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

constexpr CalVec3 axis_x{1, 0, 0}, axis_y{0, 1, 0}, axis_z{0, 0, 1};

CalMat3 diagonal(const CalVec3 &d) { return {{{d.x, 0, 0}, {0, d.y, 0}, {0, 0, d.z}}}; }

CalQuat turn_about(const CalVec3 &axis, double angle) {
	const double s = std::sin(angle / 2);
	return {std::cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
}

CalQuat operator*(const CalQuat &a, const CalQuat &b) {
	return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
	        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

// The references were computed from data with so many digits.
double rounded(double x, double unit) { return std::round(x / unit) * unit; }

// A place to attach to: a node, and where on it.
struct Mount {
	CalNodeId node{};
	CalPlacement placement{};
};

// Adds bodies to a description; every joint has the name of the body that it carries.
class Builder {
  public:
	Builder(const std::string &name, double frequency_bound) : bound_(frequency_bound) {
		system.name = name;
		CalDesc *desc = nullptr;
		require(cal_desc_create(nullptr, &desc));
		system.desc.reset(desc);
	}

	CalNodeId rigid(const std::string &name, const Mount &mount, CalJointDef joint, double mass, const CalVec3 &com,
	                const CalVec3 &inertia) {
		CalBodyDef def = cal_body_def();
		def.name = name.c_str();
		def.mass = mass;
		def.com = com;
		def.inertia = diagonal(inertia);
		return attach(add(def), mount, joint, name);
	}

	// A rod along x.
	CalNodeId link(const std::string &name, const Mount &mount, const CalJointDef &joint, double mass, double length) {
		constexpr double r2 = 0.12 * 0.12;
		const double across = rounded(mass * (3 * r2 + length * length) / 12, 1e-6);
		return rigid(name, mount, joint, mass, {length / 2, 0, 0}, {mass * r2 / 2, across, across});
	}

	// A square plate, z normal.
	CalNodeId plate(const std::string &name, const Mount &mount, const CalJointDef &joint, double mass, double width) {
		const double J = mass * width * width / 12, across = rounded(J, 1e-4);
		return rigid(name, mount, joint, mass, {}, {across, across, rounded(2 * J, 1e-4)});
	}

	// Returns the tip node.
	CalNodeId flexible(const std::string &name, const Mount &mount, const CalJointDef &joint, const Boom &boom) {
		CalBodyDef def = cal_body_def();
		def.name = name.c_str();
		def.mass = boom.hub_mass;
		def.inertia = diagonal({boom.hub_inertia, boom.hub_inertia, boom.hub_inertia});
		const CalBodyId body = add(def);
		std::vector<CalFlexNode> nodes;
		for (const BoomNode &from : boom.nodes) {
			const bool still = from.phi.empty();
			nodes.push_back({add_node(body, "n" + std::to_string(nodes.size()), {from.x, 0, 0}), from.mass,
			                 diagonal(from.inertia), still ? nullptr : from.phi.data(),
			                 still ? nullptr : from.psi.data(), nullptr});
		}
		CalFlexDef flex{};
		flex.modes = boom.modes;
		flex.stiffness = boom.stiffness.data();
		flex.damping = boom.damping.empty() ? nullptr : boom.damping.data();
		flex.node_count = static_cast<int>(nodes.size());
		flex.nodes = nodes.data();
		flex.frequency_bound = bound_;
		require(cal_desc_set_flexible(system.desc.get(), body, &flex, &error_));
		system.modes = boom.modes;
		attach(body, mount, joint, name);
		return nodes.back().node;
	}

	// The same boom without its flexibility.
	CalNodeId stiff(const std::string &name, const Mount &mount, const CalJointDef &joint, const Boom &boom) {
		double mass = boom.hub_mass, moment = 0;
		CalVec3 inertia{boom.hub_inertia, boom.hub_inertia, boom.hub_inertia}; // about the root
		for (const BoomNode &n : boom.nodes) {
			mass += n.mass;
			moment += n.mass * n.x;
			inertia.x += n.inertia.x;
			inertia.y += n.inertia.y + n.mass * n.x * n.x;
			inertia.z += n.inertia.z + n.mass * n.x * n.x;
		}
		inertia.y -= moment * moment / mass;
		inertia.z -= moment * moment / mass;
		return rigid(name, mount, joint, mass, {moment / mass, 0, 0}, inertia);
	}

	// A weld between two bodies' frames, displaced.
	void close(const std::string &name, const Mount &a, const Mount &b) {
		CalLoopDef loop = cal_loop_def(CAL_LOOP_WELD);
		loop.name = name.c_str();
		loop.a = a.placement;
		loop.b = b.placement;
		loop.frequency = stabilisation;
		loop.damping = stabilisation > 0 ? 1 : 0;
		require(cal_desc_close_loop(system.desc.get(), a.node, &loop, b.node, nullptr, &error_));
	}

	FlexSystem system;
	double stabilisation = 0; // of loops [rad/s]

  private:
	CalBodyId add(const CalBodyDef &def) {
		CalBodyId id{};
		require(cal_desc_add_body(system.desc.get(), &def, &id, &error_));
		return id;
	}

	CalNodeId add_node(CalBodyId body, const std::string &name, const CalVec3 &position) {
		CalNodeDef def = cal_node_def();
		def.name = name.c_str();
		def.placement.position = position;
		CalNodeId id{};
		require(cal_desc_add_node(system.desc.get(), body, &def, &id, &error_));
		return id;
	}

	CalNodeId attach(CalBodyId body, const Mount &mount, CalJointDef joint, const std::string &name) {
		const CalNodeId head = cal_desc_body_node(system.desc.get(), body);
		joint.name = name.c_str();
		joint.inboard = mount.placement;
		CalJointId id{};
		require(cal_desc_attach(system.desc.get(), mount.node, &joint, head, &id, &error_));
		return head;
	}

	void require(CalStatus status) const {
		if (status != CAL_OK)
			throw std::runtime_error(error_.text[0] ? error_.text : cal_status_text(status));
	}

	double bound_;
	CalError error_{};
};

CalJointDef revolute(const CalVec3 &axis) {
	CalJointDef joint = cal_joint_def(CAL_JOINT_REVOLUTE);
	joint.axis = axis;
	return joint;
}

/* ---- chains of cantilevers ----------------------------------------------------------------- */

// 16 equal booms, each on the tip of the one before it, axes x, y, z in turn, a geared motor in every joint and a
// housing at every root. modes 0: the same bodies, rigid.
FlexSystem chain16(const std::string &name, int modes, double frequency_bound) {
	Builder b(name, frequency_bound);
	cal_desc_set_gravity(b.system.desc.get(), CalGroupId{0}, {0, 0, -9.81});
	constexpr CalVec3 axes[] = {axis_x, axis_y, axis_z};
	constexpr double length = 1;
	Boom boom = cantilever(modes > 0 ? modes : 4, length, 8, 2.4e4, 0.05);
	boom.hub_mass = 2;
	boom.hub_inertia = 0.01;
	for (int k = 0; k < modes; k++) // a modal force of 200 N: some millimeters at the tip
		b.system.deflection.push_back(200 / boom.stiffness[static_cast<std::size_t>(k * modes + k)]);
	Mount mount{};
	for (int i = 0; i < 16; i++) {
		const std::string body = "b" + std::to_string(i + 1);
		CalJointDef joint = revolute(axes[i % 3]);
		joint.dof[0].rotor_inertia = 1e-4;
		joint.dof[0].gear_ratio = 100;
		if (modes > 0)
			mount = {b.flexible(body, mount, joint, boom), {}};
		else
			mount = {b.stiff(body, mount, joint, boom), {{length, 0, 0}, {}}};
	}
	return std::move(b.system);
}

/* ---- three legs, top plate, two manipulators, test object ----------------------------------- */

// The catalogue's booms have damping = 0.002 stiffness, beyond critical above 160 Hz: no explicit step of 1 ms
// bears that, with or without a frequency bound. A hundredth of it is 1 % of critical at 160 Hz.
constexpr double damping_beta = 2e-5;

constexpr double pi = 3.14159265358979323846;
constexpr double boom_length = 5, boom_mass = 120, boom_EI = 2.4e6, short_length = 0.35, bend = 0.6;

// Seven revolutes, booms third and fifth, an end effector: roll, yaw, pitch, pitch, pitch, yaw, roll.
CalNodeId add_arm(Builder &b, const std::string &prefix, Mount mount, int segments) {
	constexpr CalVec3 axes[] = {axis_x, axis_z, axis_y, axis_y, axis_y, axis_z, axis_x};
	constexpr double angles[] = {0, 0, bend, -2 * bend, bend, 0, 0};
	const Boom boom = catalogue_boom(boom_length / segments, boom_mass / segments, boom_EI, damping_beta);
	for (int i = 0; i < 7; i++) {
		const std::string name = prefix + std::to_string(i + 1);
		b.system.angles[name] = angles[i];
		if (i == 2 || i == 4) {
			mount = {b.flexible(name, mount, revolute(axes[i]), boom), {}};
			for (int k = 1; k < segments; k++)
				mount = {b.flexible(name + "b", mount, cal_joint_def(CAL_JOINT_WELD), boom), {}};
		} else
			mount = {b.link(name, mount, revolute(axes[i]), 25, short_length), {{short_length, 0, 0}, {}}};
	}
	return b.link(prefix + "ee", mount, cal_joint_def(CAL_JOINT_WELD), 15, 0.2);
}

// The ends of the arms, and the plates that they carry.
struct Jsc49 {
	CalNodeId legs[3], manipulators[2], top, object;
	double reach; // of the legs, from the middle of the top plate
};

// 49 bodies, 41 rigid and 64 modal speeds. The tree of the closed system: legs 2 and 3 and manipulator 2 end free.
Jsc49 add_jsc49(Builder &b) {
	Jsc49 made{};
	const CalJointDef weld = cal_joint_def(CAL_JOINT_WELD);
	const CalQuat up = turn_about(axis_y, -pi / 2); // an arm's x axis to z
	const CalNodeId base = b.plate("base", {}, cal_joint_def(CAL_JOINT_FREE), 4000, 6);
	for (int i = 0; i < 3; i++) {
		const double yaw = 2 * pi / 3 * i;
		const CalPlacement foot{{2 * std::cos(yaw), 2 * std::sin(yaw), 0.2}, turn_about(axis_z, yaw) * up};
		made.legs[i] = add_arm(b, "leg" + std::to_string(i + 1) + "_", {base, foot}, 2);
	}
	// Above the middle of the base, parallel to it; a leg has moved outward on its way up.
	made.reach = 2 + (boom_length - short_length) * std::sin(bend);
	const CalPlacement mount{{0.3, 0, made.reach}, turn_about(axis_y, pi / 2)};
	made.top = b.plate("top", {made.legs[0], mount}, weld, 2500, 6);
	made.manipulators[0] = add_arm(b, "man1_", {made.top, {{0, 1.5, 0.2}, up}}, 1);
	made.manipulators[1] = add_arm(b, "man2_", {made.top, {{0, -1.5, 0.2}, up}}, 1);
	made.object = b.plate("object", {made.manipulators[0], {{0.2, 0, 0}, {}}}, weld, 400, 2);
	b.system.stepped = true;
	b.system.loads = {{"top", {{30, 80, -60}, {200, -100, 50}}}, {"object", {{5, -4, 6}, {20, 10, -15}}}};
	for (int i = 1; i <= 7; i++)
		b.system.torques["leg1_" + std::to_string(i)] = 20;
	return made;
}

FlexSystem jsc49(const std::string &name, double frequency_bound) {
	Builder b(name, frequency_bound);
	add_jsc49(b);
	b.system.references = {
		{"base",
	     {{0.003923416013083503, -0.008109724565370957, -0.005133832191053538},
	      {-0.008098117344368095, -0.012606041388039179, 0.005852281182674904}}},
		{"top",
	     {{-0.004240736070882691, 0.007507639252834018, -0.013255947181285987},
	      {0.06699970128413198, -0.052131983922675665, 0.01748132972077758}}},
		{"object",
	     {{0.01407537114180998, -0.0047865492140136585, 0.044903020701040935},
	      {0.039371878034958056, 0.01959897687587546, -0.024222833165879955}}},
	};
	return std::move(b.system);
}

// The same with legs 2 and 3 welded to the top plate and manipulator 2 to the object, as they stand at the start.
FlexSystem jsc49_held(const std::string &name, double frequency_bound, double stabilisation) {
	Builder b(name, frequency_bound);
	b.stabilisation = stabilisation;
	const Jsc49 jsc = add_jsc49(b);
	const CalPlacement tip{{0.2, 0, 0}, {}}; // of an end effector
	for (int i = 1; i < 3; i++) {
		const double yaw = 2 * pi / 3 * i;
		const CalPlacement mount{{jsc.reach * std::cos(yaw), jsc.reach * std::sin(yaw), -0.1},
		                         turn_about(axis_z, yaw) * turn_about(axis_y, -pi / 2)};
		b.close("leg" + std::to_string(i + 1), {jsc.top, mount}, {jsc.legs[i], tip});
	}
	b.close("grasp2", {jsc.object, {{0, -3, 0}, {}}}, {jsc.manipulators[1], tip});
	b.system.references = {
		{"base",
	     {{0.003923924187822482, -0.008108987856641603, -0.005133630048551106},
	      {-0.008101107301635777, -0.012606218960831818, 0.005857646148252738}}},
		{"top",
	     {{-0.0021350179021968683, 0.005629562264381356, -0.012091220309110307},
	      {0.06393656419180077, -0.05067958374399964, 0.013429964682836205}}},
		{"object",
	     {{-0.004751556286544333, 0.001583120683214905, -0.004217744607839509},
	      {0.03590377898564361, 0.01865552618292527, -0.021541996730154986}}},
	};
	return std::move(b.system);
}

/* ---- 128 bodies: 133 rigid and 508 modal speeds ---------------------------------------------- */

// A free plate with `arms` of booms, `all` of them, the last one loaded at its tip.
FlexSystem plate_with_booms(Builder &b, CalNodeId base, const std::vector<CalPlacement> &arms, int longest,
                            const CalVec3 axes[3], int all = 127) {
	const Boom boom = catalogue_boom(1, 8, 2.4e4, damping_beta);
	int made = 0;
	for (const CalPlacement &root : arms) {
		Mount mount{base, root};
		for (int i = 0; i < longest && made < all; i++)
			mount = {b.flexible("f" + std::to_string(++made), mount, revolute(axes[i % 3]), boom), {}};
	}
	b.system.stepped = true;
	b.system.loads = {{"f" + std::to_string(all) + "/n4", {{0.1, 0.2, 0.3}, {1, 2, -1}}}};
	return std::move(b.system);
}

FlexSystem chain128(const std::string &name, double frequency_bound) {
	Builder b(name, frequency_bound);
	constexpr CalVec3 axes[] = {axis_x, axis_z, axis_y};
	const CalNodeId base = b.plate("base", {}, cal_joint_def(CAL_JOINT_FREE), 500, 3);
	b.system.references = {
		{"base", {{0, 0, 0}, {0.0006596306068601583, 0, 0}}},
		{"f127",
	     {{0.9920634920634921, 2.1453042420435766, 3.041656694305061},
	      {0.0006596306068601583, 0.262221503799084, -0.15389453065545586}}},
	};
	return plate_with_booms(b, base, {{{1.5, 0, 0}, {}}}, 127, axes);
}

FlexSystem star128(const std::string &name, double frequency_bound) {
	Builder b(name, frequency_bound);
	constexpr CalVec3 axes[] = {axis_z, axis_y, axis_x};
	const CalNodeId base = b.plate("base", {}, cal_joint_def(CAL_JOINT_FREE), 2000, 4);
	std::vector<CalPlacement> arms;
	for (int a = 0; a < 16; a++) {
		const double yaw = pi / 8 * a;
		arms.push_back({{2 * std::cos(yaw), 2 * std::sin(yaw), 0.1 * (a % 3)}, turn_about(axis_z, yaw)});
	}
	b.system.references = {
		{"base",
	     {{-4.384707098986367e-07, -9.487772185568809e-07, -8.138271248452767e-11},
	      {5.829557831147656e-05, -2.4148692550802384e-05, -4.221493534496782e-10}}},
		{"f127",
	     {{0.9003022195290797, 1.9680587520477486, 7.998221716646827},
	      {-0.056831035111007115, -0.13736714239703177, -0.1845394380017787}}},
	};
	return plate_with_booms(b, base, arms, 8, axes);
}

/* ---- for the suite "parallel" ------------------------------------------------------------------ */

FlexSystem chain1024(const std::string &name, double frequency_bound) {
	Builder b(name, frequency_bound);
	constexpr CalVec3 axes[] = {axis_x, axis_z, axis_y};
	const CalNodeId base = b.plate("base", {}, cal_joint_def(CAL_JOINT_FREE), 500, 3);
	return plate_with_booms(b, base, {{{1.5, 0, 0}, {}}}, 1024, axes, 1024);
}

// A rigid chain of 32 on the ground, too small to be cut.
FlexSystem rigid32(const std::string &name, double frequency_bound) {
	Builder b(name, frequency_bound);
	constexpr CalVec3 axes[] = {axis_x, axis_y, axis_z};
	const Boom boom = catalogue_boom(1, 8, 2.4e4, damping_beta);
	Mount mount{};
	for (int i = 0; i < 32; i++)
		mount = {b.stiff("b" + std::to_string(i + 1), mount, revolute(axes[i % 3]), boom), {{1, 0, 0}, {}}};
	b.system.stepped = true;
	b.system.loads = {{"b32", {{0.1, 0.2, 0.3}, {1, 2, -1}}}};
	return std::move(b.system);
}

FlexSystem jsc49_closed(const std::string &name, double frequency_bound) {
	return jsc49_held(name, frequency_bound, 0);
}

/* ---- the list -------------------------------------------------------------------------------- */

using Generator = std::function<FlexSystem(const std::string &name, double frequency_bound)>;
using Generators = std::vector<std::pair<std::string, Generator>>;

// Of systems with loops; the other list has none.
const Generators &closed_generators() {
	static const Generators list = {{"jsc49_closed", jsc49_closed}};
	return list;
}

// Beside those of the other lists.
const Generators &parallel_generators() {
	static const Generators list = {{"flexchain1024", chain1024}, {"chain32", rigid32}};
	return list;
}

const Generators &generators() {
	static const auto list = [] {
		Generators made;
		const auto chain = [](int modes) {
			return [modes](const std::string &name, double bound) { return chain16(name, modes, bound); };
		};
		made.emplace_back("rigidchain16", chain(0));
		for (const int modes : {4, 8, 16, 32, 64, 128})
			made.emplace_back("flexchain16_m" + std::to_string(modes), chain(modes));
		made.emplace_back("jsc49", jsc49);
		made.emplace_back("jsc128", chain128);
		made.emplace_back("star128", star128);
		return made;
	}();
	return list;
}

std::vector<std::string> names_of(const Generators &list) {
	std::vector<std::string> names;
	for (const auto &g : list)
		names.push_back(g.first);
	return names;
}

} // namespace

const std::vector<std::string> &flexible_names() {
	static const auto names = names_of(generators());
	return names;
}

const std::vector<std::string> &closed_names() {
	static const auto names = names_of(closed_generators());
	return names;
}

FlexSystem make_stabilised(const std::string &name, double frequency_bound) {
	FlexSystem system = jsc49_held(name, frequency_bound, 100);
	system.projection = 150; // a run of a second ends between two of them
	return system;
}

FlexSystem make_flexible(const std::string &name, double frequency_bound) {
	for (const auto *list : {&generators(), &closed_generators(), &parallel_generators()})
		for (const auto &g : *list)
			if (g.first == name)
				return g.second(name, frequency_bound);
	return {};
}

} // namespace bench
