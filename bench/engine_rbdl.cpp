// SPDX-License-Identifier: Apache-2.0
// RBDL. Its floating base is three translations in parent axes and a ball in body axes, the neutral convention; quaternions
// are kept beside the other coordinates (SetQuaternion). Its algorithms with kinematics updated are the timed calls.
#include "engines.h"
#include "mapping.h"

#include <rbdl/rbdl.h>
#include <rbdl/rbdl_config.h>

#include <memory>

namespace bench {
namespace {

namespace rb = RigidBodyDynamics;

rb::Math::Vector3d vec(const Vec3 &v) { return rb::Math::Vector3d(v[0], v[1], v[2]); }

rb::Math::Matrix3d mat(const Mat3 &m) {
	return rb::Math::Matrix3d(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]);
}

rb::Math::VectorNd vector(const std::vector<double> &v) {
	rb::Math::VectorNd out(v.size());
	for (std::size_t i = 0; i < v.size(); i++)
		out[static_cast<Eigen::Index>(i)] = v[i];
	return out;
}

class RbdlEngine : public Engine {
  public:
	std::string name() const override { return "rbdl"; }

	std::string version() const override {
		return std::to_string(RBDL_API_VERSION >> 16) + "." + std::to_string(RBDL_API_VERSION >> 8 & 0xff) + "." +
		       std::to_string(RBDL_API_VERSION & 0xff);
	}

	bool load(const BenchModel &model, std::string &) override {
		bench_ = model;
		model_ = std::make_unique<rb::Model>();
		model_->gravity = vec(model.gravity);
		ids_.clear();
		for (const BenchBody &b : model.bodies) {
			const unsigned parent = b.parent < 0 ? 0 : ids_[static_cast<std::size_t>(b.parent)];
			// E turns coordinates of the parent into those of the joint frame
			const rb::Math::SpatialTransform placement(mat(transpose(b.R_PF)), vec(b.p_PF));
			ids_.push_back(model_->AddBody(parent, placement, joint_of(b), rb::Body(b.mass, vec(b.com), mat(b.inertia)),
			                               "b" + std::to_string(ids_.size())));
		}
		udot_out_ = tau_out_ = rb::Math::VectorNd::Zero(model.nu);
		M_ = rb::Math::MatrixNd::Zero(model.nu, model.nu);
		J_ = rb::Math::MatrixNd::Zero(6, model.nu);
		return true;
	}

	bool supports(Algorithm a, std::string &reason) const override {
		reason = "not among its functions";
		return a != Algorithm::mass_inverse && a != Algorithm::forward_derivatives;
	}

	void set_state(const BenchState &s) override {
		map_.joints.clear();
		for (int i = 0; i < bench_.n(); i++) {
			const BenchBody &b = bench_.bodies[static_cast<std::size_t>(i)];
			map_.joints.push_back(identity_map(b.u0, first_dof(i), joint_nu(b.joint)));
		}
		q_ = positions(s);
		u_ = vector(map_.u_to_engine(s.u));
		tau_ = vector(map_.tau_to_engine(s.tau));
		udot_ = vector(map_.udot_to_engine(s.udot));
	}

	void forward_dynamics() override { rb::ForwardDynamics(*model_, q_, u_, tau_, udot_out_); }
	void inverse_dynamics() override { rb::InverseDynamics(*model_, q_, u_, udot_, tau_out_); }

	void mass_matrix() override { // entries that are zero by the tree are not written
		M_.setZero();
		rb::CompositeRigidBodyAlgorithm(*model_, q_, M_, true);
	}

	void jacobian() override { // columns off the path are not written
		J_.setZero();
		rb::CalcPointJacobian6D(*model_, q_, ids_.back(), rb::Math::Vector3d::Zero(), J_, true);
	}

	std::vector<double> udot() const override { return map_.udot_from_engine(udot_out_.data(), bench_.nu); }
	std::vector<double> tau() const override { return map_.tau_from_engine(tau_out_.data(), bench_.nu); }
	std::vector<double> M() const override {
		return map_.M_from_engine([&](int i, int j) { return M_(i, j); }, bench_.nu);
	}
	std::vector<double> J() const override {
		return map_.J_from_engine([&](int i, int j) { return J_(i, j); }, bench_.nu);
	}

  private:
	static rb::Joint joint_of(const BenchBody &b) {
		if (b.joint == JointKind::spherical)
			return rb::Joint(rb::JointTypeSpherical);
		if (b.joint == JointKind::free)
			return rb::Joint(rb::JointTypeFloatingBase);
		return rb::Joint(b.axis == 0   ? rb::JointTypeRevoluteX
		                 : b.axis == 1 ? rb::JointTypeRevoluteY
		                               : rb::JointTypeRevoluteZ);
	}

	// A floating base is two joints; its body is on the second, the ball.
	int first_dof(int body) const {
		const int own = static_cast<int>(model_->mJoints[ids_[static_cast<std::size_t>(body)]].q_index);
		return bench_.bodies[static_cast<std::size_t>(body)].joint == JointKind::free ? own - 3 : own;
	}

	rb::Math::VectorNd positions(const BenchState &s) const {
		rb::Math::VectorNd q = rb::Math::VectorNd::Zero(model_->q_size);
		for (int i = 0; i < bench_.n(); i++) {
			const BenchBody &b = bench_.bodies[static_cast<std::size_t>(i)];
			if (b.joint == JointKind::revolute) {
				q[first_dof(i)] = s.q[static_cast<std::size_t>(b.q0)];
				continue;
			}
			for (int k = 0; b.joint == JointKind::free && k < 3; k++)
				q[first_dof(i) + k] = s.q[static_cast<std::size_t>(b.q0 + k)];
			const Quat r = joint_quaternion(b, s.q);
			model_->SetQuaternion(ids_[static_cast<std::size_t>(i)], rb::Math::Quaternion(r[1], r[2], r[3], r[0]), q);
		}
		return q;
	}

	BenchModel bench_;
	std::unique_ptr<rb::Model> model_;
	std::vector<unsigned> ids_; // of the bodies
	SpeedMap map_;
	rb::Math::VectorNd q_, u_, tau_, udot_, udot_out_, tau_out_;
	rb::Math::MatrixNd M_, J_;
};

} // namespace

std::unique_ptr<Engine> make_rbdl() { return std::make_unique<RbdlEngine>(); }

} // namespace bench
