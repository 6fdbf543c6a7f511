// SPDX-License-Identifier: Apache-2.0
// Pinocchio. Its algorithms take subtrees to be contiguous, so that joints are added depth first. Its free joint is a body
// twist: u_e = (R^T v, w); quaternions end with w.
#include "engines.h"
#include "mapping.h"

#include <pinocchio/fwd.hpp> // before all that includes Boost

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/config.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/joint/joint-free-flyer.hpp>
#include <pinocchio/multibody/joint/joint-revolute.hpp>
#include <pinocchio/multibody/joint/joint-spherical.hpp>
#include <pinocchio/multibody/model.hpp>

#include <memory>

namespace bench {
namespace {

Eigen::Vector3d vec(const Vec3 &v) { return {v[0], v[1], v[2]}; }

Eigen::Matrix3d mat(const Mat3 &m) {
	Eigen::Matrix3d out;
	out << m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8];
	return out;
}

Eigen::VectorXd vector(const std::vector<double> &v) {
	return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

class PinocchioEngine : public Engine {
  public:
	std::string name() const override { return "pinocchio"; }
	std::string version() const override { return PINOCCHIO_VERSION; }

	bool load(const BenchModel &model, std::string &) override {
		bench_ = model;
		model_ = pinocchio::Model();
		model_.gravity.linear(vec(model.gravity));
		children_.assign(static_cast<std::size_t>(model.n()) + 1, {});
		ids_.assign(static_cast<std::size_t>(model.n()), 0);
		for (int i = 0; i < model.n(); i++)
			children_[static_cast<std::size_t>(model.bodies[i].parent + 1)].push_back(i);
		add_children();
		data_ = std::make_unique<pinocchio::Data>(model_);
		J_.resize(6, model_.nv);
		return true;
	}

	bool supports(Algorithm, std::string &) const override { return true; }

	void set_state(const BenchState &s) override {
		build_map(s);
		state_ = s;
		q_ = positions(s);
		u_ = vector(map_.u_to_engine(s.u));
		tau_ = vector(map_.tau_to_engine(s.tau));
		udot_ = vector(map_.udot_to_engine(s.udot));
	}

	void forward_dynamics() override { pinocchio::aba(model_, *data_, q_, u_, tau_); }
	void inverse_dynamics() override { pinocchio::rnea(model_, *data_, q_, u_, udot_); }

	// It fills the upper triangle.
	void mass_matrix() override {
		pinocchio::crba(model_, *data_, q_);
		fill_lower(data_->M);
	}

	// It fills the upper triangle.
	void mass_inverse() override {
		pinocchio::computeMinverse(model_, *data_, q_);
		fill_lower(data_->Minv);
	}

	// In axes of the body, its cheapest; columns off the path are not written.
	void jacobian() override {
		J_.setZero();
		pinocchio::computeJointJacobian(model_, *data_, q_, ids_.back(), J_);
	}

	void forward_derivatives() override { pinocchio::computeABADerivatives(model_, *data_, q_, u_, tau_); }

	std::vector<double> udot() const override { return map_.udot_from_engine(data_->ddq.data(), bench_.nu); }
	std::vector<double> tau() const override { return map_.tau_from_engine(data_->tau.data(), bench_.nu); }
	std::vector<double> M() const override {
		return map_.M_from_engine([&](int i, int j) { return data_->M(i, j); }, bench_.nu);
	}
	std::vector<double> Minv() const override {
		return map_.Minv_from_engine([&](int i, int j) { return data_->Minv(i, j); }, bench_.nu);
	}

	// To world axes, angular rows first.
	std::vector<double> J() const override {
		pinocchio::forwardKinematics(model_, *data_, q_);
		const Eigen::Matrix3d &R = data_->oMi[ids_.back()].rotation();
		Eigen::MatrixXd world(6, model_.nv);
		world << R * J_.bottomRows<3>(), R * J_.topRows<3>();
		return map_.J_from_engine([&](int i, int j) { return world(i, j); }, bench_.nu);
	}

	// udot = B^-1 (udot_e - b), u_e = B u, tau_e = B^-T tau, and q changes by B times a speed. B and b of a free joint depend on
	// q and u themselves.
	std::vector<double> derivatives() const override {
		const Eigen::MatrixXd B = speeds(), Bi = B.inverse();
		Eigen::MatrixXd dq = data_->ddq_dq * B, du = data_->ddq_dv * B;
		const Eigen::MatrixXd Minv = Bi * data_->Minv * Bi.transpose();
		Eigen::MatrixXd own = Eigen::MatrixXd::Zero(model_.nv, model_.nv);
		for (int i = 0; i < bench_.n(); i++)
			if (bench_.bodies[static_cast<std::size_t>(i)].joint == JointKind::free)
				add_free(i, dq, du, own);
		dq = Bi * dq + own;
		du = Bi * du;
		std::vector<double> out;
		for (const Eigen::MatrixXd &m : {dq, du, Minv})
			append_neutral(m, out);
		return out;
	}

  private:
	static void fill_lower(pinocchio::Data::RowMatrixXs &m) {
		m.triangularView<Eigen::StrictlyLower>() = m.transpose().triangularView<Eigen::StrictlyLower>();
	}
	static void fill_lower(pinocchio::Data::MatrixXs &m) {
		m.triangularView<Eigen::StrictlyLower>() = m.transpose().triangularView<Eigen::StrictlyLower>();
	}

	// B of all joints, in the engine's order.
	Eigen::MatrixXd speeds() const {
		Eigen::MatrixXd B = Eigen::MatrixXd::Zero(model_.nv, model_.nv);
		for (const JointMap &m : map_.joints)
			for (int i = 0; i < m.size; i++)
				for (int j = 0; j < m.size; j++)
					B(m.engine + i, m.engine + j) = m.B[i * m.size + j];
		return B;
	}

	// What B and b = (R^T v) x w of a free joint add where R turns by w dt in its own axes: R^T x changes by (R^T x) x w dt.
	void add_free(int body, Eigen::MatrixXd &dq, Eigen::MatrixXd &du, Eigen::MatrixXd &own) const {
		using pinocchio::skew;
		const BenchBody &b = bench_.bodies[static_cast<std::size_t>(body)];
		const int at = joint(body).idx_v();
		const Eigen::Matrix3d Rt = mat(transpose(rotation(joint_quaternion(b, state_.q))));
		const Eigen::Vector3d v = u_.segment<3>(at), w = u_.segment<3>(at + 3), f = tau_.segment<3>(at);
		const Eigen::Vector3d vdot = data_->ddq.segment<3>(at) - v.cross(w); // R^T times the neutral one
		dq.middleCols<3>(at + 3) += data_->ddq_dv.middleCols<3>(at) * skew(v) + data_->Minv.middleCols<3>(at) * skew(f);
		dq.block<3, 3>(at, at + 3) += skew(w) * skew(v);
		du.block<3, 3>(at, at) += skew(w) * Rt;
		du.block<3, 3>(at, at + 3) -= skew(v);
		own.block<3, 3>(at, at + 3) = -Rt.transpose() * skew(vdot);
	}

	void append_neutral(const Eigen::MatrixXd &m, std::vector<double> &out) const {
		std::vector<Eigen::Index> at(static_cast<std::size_t>(bench_.nu));
		for (const JointMap &j : map_.joints)
			for (int k = 0; k < j.size; k++)
				at[static_cast<std::size_t>(j.neutral + k)] = j.engine + k;
		for (const Eigen::Index row : at)
			for (const Eigen::Index column : at)
				out.push_back(m(row, column));
	}

	// Depth first, without recursion: chains are long.
	void add_children() {
		std::vector<int> open(children_[0].rbegin(), children_[0].rend());
		while (!open.empty()) {
			const int body = open.back();
			open.pop_back();
			add(body);
			const std::vector<int> &next = children_[static_cast<std::size_t>(body) + 1];
			open.insert(open.end(), next.rbegin(), next.rend());
		}
	}

	void add(int body) {
		const BenchBody &b = bench_.bodies[static_cast<std::size_t>(body)];
		const pinocchio::JointIndex parent = b.parent < 0 ? 0 : ids_[static_cast<std::size_t>(b.parent)];
		const pinocchio::SE3 placement(mat(b.R_PF), vec(b.p_PF));
		const pinocchio::JointIndex id = model_.addJoint(parent, joint_of(b), placement, "j" + std::to_string(body));
		model_.appendBodyToJoint(id, pinocchio::Inertia(b.mass, vec(b.com), mat(b.inertia)),
		                         pinocchio::SE3::Identity());
		ids_[static_cast<std::size_t>(body)] = id;
	}

	static pinocchio::JointModel joint_of(const BenchBody &b) {
		if (b.joint == JointKind::spherical)
			return pinocchio::JointModelSpherical();
		if (b.joint == JointKind::free)
			return pinocchio::JointModelFreeFlyer();
		if (b.axis == 0)
			return pinocchio::JointModelRX();
		if (b.axis == 1)
			return pinocchio::JointModelRY();
		return pinocchio::JointModelRZ();
	}

	const pinocchio::JointModel &joint(int body) const { return model_.joints[ids_[static_cast<std::size_t>(body)]]; }

	Eigen::VectorXd positions(const BenchState &s) const {
		Eigen::VectorXd q(model_.nq);
		for (int i = 0; i < bench_.n(); i++) {
			const BenchBody &b = bench_.bodies[static_cast<std::size_t>(i)];
			int at = joint(i).idx_q();
			if (b.joint == JointKind::revolute) {
				q[at] = s.q[static_cast<std::size_t>(b.q0)];
				continue;
			}
			for (int k = 0; b.joint == JointKind::free && k < 3; k++)
				q[at++] = s.q[static_cast<std::size_t>(b.q0 + k)];
			const Quat r = joint_quaternion(b, s.q);
			q.segment<4>(at) << r[1], r[2], r[3], r[0];
		}
		return q;
	}

	void build_map(const BenchState &s) {
		map_.joints.clear();
		for (int i = 0; i < bench_.n(); i++) {
			const BenchBody &b = bench_.bodies[static_cast<std::size_t>(i)];
			JointMap m = identity_map(b.u0, joint(i).idx_v(), joint_nu(b.joint));
			if (b.joint == JointKind::free)
				set_free_map(m, rotation(joint_quaternion(b, s.q)), &s.u[static_cast<std::size_t>(b.u0)]);
			map_.joints.push_back(m);
		}
	}

	// u_e = (R^T v, w): the derivative of its first half is R^T vdot - w x R^T v.
	static void set_free_map(JointMap &m, const Mat3 &r, const double *u) {
		const Vec3 bias = cross(tmul(r, {u[0], u[1], u[2]}), {u[3], u[4], u[5]});
		m.set(0, 0, transpose(r));
		m.set_inverse(0, 0, r);
		for (int k = 0; k < 3; k++)
			m.b[k] = bias[static_cast<std::size_t>(k)];
	}

	BenchModel bench_;
	pinocchio::Model model_;
	std::unique_ptr<pinocchio::Data> data_;
	std::vector<std::vector<int>> children_; // of the ground, then of each body
	std::vector<pinocchio::JointIndex> ids_; // of the joints of the bodies
	SpeedMap map_;
	BenchState state_;
	pinocchio::Data::Matrix6x J_;
	Eigen::VectorXd q_, u_, tau_, udot_;
};

} // namespace

std::unique_ptr<Engine> make_pinocchio() { return std::make_unique<PinocchioEngine>(); }

} // namespace bench
