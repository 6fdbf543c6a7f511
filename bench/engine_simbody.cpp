// SPDX-License-Identifier: Apache-2.0
// Simbody. Asking for write access to q invalidates everything from Stage::Position up, so each call
// realizes the whole of the kinematics and dynamics again. The tree operators are used, which are a
// little cheaper than realizing Stage::Acceleration. Its ball and free joints measure velocities in the
// inboard frame: with R = R_FB, u_e = (R w, v).
#include "engines.h"
#include "mapping.h"

#include <Simbody.h>

#include <memory>

namespace bench {
namespace {

SimTK::Vec3 vec(const Vec3 &v) { return {v[0], v[1], v[2]}; }

SimTK::Rotation rot(const Mat3 &m) {
	return SimTK::Rotation(SimTK::Mat33(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]), true);
}

// The cyclic permutation of axes that takes z to the given axis (a Pin turns about z).
Mat3 z_to_axis(int axis) {
	Mat3 m{};
	for (int j = 0; j < 3; j++)
		m[3 * ((j + axis + 1) % 3) + j] = 1;
	return m;
}

SimTK::MassProperties mass_properties(const BenchBody &b) {
	const Mat3 &i = b.inertia;
	const SimTK::Inertia central(i[0], i[4], i[8], i[1], i[2], i[5]);
	return {b.mass, vec(b.com), central.shiftFromMassCenter(-vec(b.com), b.mass)};
}

// The system and its subsystems live and die together.
struct System {
	SimTK::MultibodySystem system;
	SimTK::SimbodyMatterSubsystem matter{system};
	SimTK::GeneralForceSubsystem forces{system};
	SimTK::Force::Gravity gravity;
	SimTK::State state;
	std::vector<SimTK::MobilizedBody> mobods;

	explicit System(const Vec3 &g) : gravity(forces, matter, vec(g)) {}
};

class SimbodyEngine : public Engine {
  public:
	explicit SimbodyEngine(bool hinge) : hinge_(hinge) {}

	std::string name() const override { return hinge_ ? "simbody-hinge" : "simbody"; }

	std::string version() const override {
		int major, minor, build;
		SimTK_version_simbody(&major, &minor, &build);
		return std::to_string(major) + "." + std::to_string(minor);
	}

	bool closes_loops() const override { return true; }

	bool load(const BenchModel &model, std::string &reason) override try {
		if (hinge_ && model.loops.empty()) {
			reason = "the same as simbody where there is no loop";
			return false;
		}
		model_ = model;
		sys_ = std::make_unique<System>(model.gravity);
		sys_->matter.setShowDefaultGeometry(false);
		for (const BenchBody &b : model.bodies)
			add(b);
		for (const BenchLoop &l : model.loops)
			close(l);
		sys_->state = sys_->system.realizeTopology();
		sys_->system.realizeModel(sys_->state);
		return true;
	} catch (const std::exception &e) {
		reason = e.what();
		return false;
	}

	void set_state(const BenchState &s) override {
		build_map(s);
		SimTK::State &state = sys_->state;
		for (int i = 0; i < model_.n(); i++)
			set_q(i, s.q);
		const int nu = model_.nu;
		state.updU() = SimTK::Vector(nu, map_.u_to_engine(s.u).data());
		input_ = SimTK::Vector(nu, map_.tau_to_engine(s.tau).data());
		known_udot_ = SimTK::Vector(nu, map_.udot_to_engine(s.udot).data());
		no_mobility_forces_ = SimTK::Vector(nu, 0.0);
		sys_->system.realize(state, SimTK::Stage::Time);
	}

	void forward_dynamics() override {
		sys_->state.updQ();
		sys_->system.realize(sys_->state, SimTK::Stage::Dynamics);
		const auto &gravity = sys_->gravity.getBodyForces(sys_->state);
		if (model_.loops.empty())
			sys_->matter.calcAccelerationIgnoringConstraints(sys_->state, input_, gravity, udot_, A_GB_);
		else
			sys_->matter.calcAcceleration(sys_->state, input_, gravity, udot_, A_GB_);
	}

	void inverse_dynamics() override {
		sys_->state.updQ();
		sys_->system.realize(sys_->state, SimTK::Stage::Velocity);
		sys_->matter.calcResidualForceIgnoringConstraints(
			sys_->state, no_mobility_forces_, sys_->gravity.getBodyForces(sys_->state), known_udot_, residual_);
	}

	void mass_matrix() override {
		sys_->state.updQ();
		sys_->system.realize(sys_->state, SimTK::Stage::Position);
		sys_->matter.calcM(sys_->state, M_);
	}

	void mass_inverse() override {
		sys_->state.updQ();
		sys_->system.realize(sys_->state, SimTK::Stage::Position);
		sys_->matter.calcMInv(sys_->state, Minv_);
	}

	void jacobian() override {
		sys_->state.updQ();
		sys_->system.realize(sys_->state, SimTK::Stage::Position);
		const SimTK::MobilizedBodyIndex tip = sys_->mobods.back().getMobilizedBodyIndex();
		sys_->matter.calcFrameJacobian(sys_->state, tip, SimTK::Vec3(0), J_);
	}

	std::vector<double> udot() const override { return map_.udot_from_engine(&udot_[0], model_.nu); }
	std::vector<double> tau() const override { return map_.tau_from_engine(&residual_[0], model_.nu); }

	std::vector<double> M() const override {
		return map_.M_from_engine([this](int i, int j) { return M_(i, j); }, model_.nu);
	}

	std::vector<double> Minv() const override {
		return map_.Minv_from_engine([this](int i, int j) { return Minv_(i, j); }, model_.nu);
	}

	std::vector<double> J() const override {
		return map_.J_from_engine([this](int i, int j) { return J_(i, j); }, model_.nu);
	}

  private:
	void add(const BenchBody &b) {
		SimTK::MobilizedBody parent = sys_->matter.Ground();
		if (b.parent >= 0)
			parent = sys_->mobods[b.parent];
		const SimTK::Body::Rigid body(mass_properties(b));
		if (b.joint == JointKind::revolute) {
			const Mat3 a = z_to_axis(b.axis);
			const SimTK::Transform inboard(rot(mul(b.R_PF, a)), vec(b.p_PF));
			sys_->mobods.push_back(SimTK::MobilizedBody::Pin(parent, inboard, body, SimTK::Transform(rot(a))));
			return;
		}
		const SimTK::Transform inboard(rot(b.R_PF), vec(b.p_PF));
		if (b.joint == JointKind::spherical)
			sys_->mobods.push_back(SimTK::MobilizedBody::Ball(parent, inboard, body, SimTK::Transform()));
		else
			sys_->mobods.push_back(SimTK::MobilizedBody::Free(parent, inboard, body, SimTK::Transform()));
	}

	SimTK::MobilizedBody &mobod_of(int body) {
		return body < 0 ? static_cast<SimTK::MobilizedBody &>(sys_->matter.updGround()) : sys_->mobods[body];
	}

	// A planar linkage needs its points on a common line only: its other joints keep the axes parallel.
	void close(const BenchLoop &l) {
		SimTK::MobilizedBody &a = mobod_of(l.body_a), &b = mobod_of(l.body_b);
		const SimTK::UnitVec3 x(SimTK::XAxis), y(SimTK::YAxis), z(SimTK::ZAxis);
		if (!hinge_ && !model_.spatial) {
			SimTK::Constraint::PointOnLine(a, z, vec(l.point_a), b, vec(l.point_b));
			return;
		}
		SimTK::Constraint::Ball(a, vec(l.point_a), b, vec(l.point_b));
		SimTK::Constraint::ConstantAngle(a, x, b, z);
		SimTK::Constraint::ConstantAngle(a, y, b, z);
	}

	void set_q(int i, const std::vector<double> &q) {
		const BenchBody &b = model_.bodies[i];
		SimTK::MobilizedBody &mobod = sys_->mobods[i];
		if (b.joint == JointKind::revolute) {
			mobod.setOneQ(sys_->state, 0, q[b.q0]);
			return;
		}
		const Quat r = joint_quaternion(b, q);
		for (int k = 0; k < 4; k++)
			mobod.setOneQ(sys_->state, k, r[k]);
		if (b.joint == JointKind::free)
			for (int k = 0; k < 3; k++)
				mobod.setOneQ(sys_->state, 4 + k, q[b.q0 + k]);
	}

	void build_map(const BenchState &s) {
		map_.joints.clear();
		for (int i = 0; i < model_.n(); i++) {
			const BenchBody &b = model_.bodies[i];
			const int first = sys_->mobods[i].getFirstUIndex(sys_->state);
			JointMap m = identity_map(b.u0, first, joint_nu(b.joint));
			if (b.joint != JointKind::revolute) {
				const Mat3 r = rotation(joint_quaternion(b, s.q));
				const int w = b.joint == JointKind::free ? 3 : 0; // where w stands in the neutral speeds
				if (w)
					m.set(0, 0, Mat3{}), m.set(3, 3, Mat3{}), m.set(3, 0, identity3);
				if (w)
					m.set_inverse(0, 0, Mat3{}), m.set_inverse(3, 3, Mat3{}), m.set_inverse(0, 3, identity3);
				m.set(0, w, r);
				m.set_inverse(w, 0, transpose(r));
			}
			map_.joints.push_back(m);
		}
	}

	const bool hinge_; // loops by five rows, those of a hinge in space, where two would do
	BenchModel model_;
	std::unique_ptr<System> sys_;
	SpeedMap map_;
	SimTK::Vector input_, known_udot_, no_mobility_forces_;
	SimTK::Vector udot_, residual_;
	SimTK::Vector_<SimTK::SpatialVec> A_GB_;
	SimTK::Matrix M_, Minv_, J_;
};

} // namespace

std::unique_ptr<Engine> make_simbody() { return std::make_unique<SimbodyEngine>(false); }
std::unique_ptr<Engine> make_simbody_hinge() { return std::make_unique<SimbodyEngine>(true); }

} // namespace bench
