// SPDX-License-Identifier: Apache-2.0
// MuJoCo. The calls are the smooth, unconstrained part of mj_forward and mj_inverse only: no collision,
// constraints, passive forces, sensors or actuators. Its speeds follow the neutral conventions already,
// but its bodies are ordered depth first. Inertias are given as principal moments and axes, because the
// compiler's own diagonalisation of a full tensor is good to 1e-8 only.
#include "engines.h"
#include "mapping.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

namespace bench {
namespace {

void append(std::string &out, const char *format, ...) {
	char text[512];
	va_list args;
	va_start(args, format);
	std::vsnprintf(text, sizeof text, format, args);
	va_end(args);
	out += text;
}

// The model as nested MJCF bodies named b0, b1, ...
class MjcfWriter {
  public:
	explicit MjcfWriter(const BenchModel &model) : model_(model), children_(model.n() + 1) {
		for (int i = 0; i < model.n(); i++)
			children_[model.bodies[i].parent + 1].push_back(i);
	}

	std::string write() {
		const Vec3 &g = model_.gravity;
		xml_ = "<mujoco><compiler angle=\"radian\" inertiafromgeom=\"false\"/>";
		append(xml_, "<option gravity=\"%.17g %.17g %.17g\"/><worldbody>", g[0], g[1], g[2]);
		write_children(-1);
		return xml_ + "</worldbody></mujoco>";
	}

  private:
	void write_children(int parent) {
		for (const int i : children_[parent + 1]) {
			write_body(i);
			write_children(i);
			xml_ += "</body>";
		}
	}

	void write_body(int i) {
		const BenchBody &b = model_.bodies[i];
		const Quat q = quaternion(b.R_PF);
		append(xml_, "<body name=\"b%d\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">", i, b.p_PF[0],
		       b.p_PF[1], b.p_PF[2], q[0], q[1], q[2], q[3]);
		const Principal p = principal_axes(b.inertia);
		const Quat r = quaternion(p.R);
		append(xml_, "<inertial mass=\"%.17g\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\"", b.mass,
		       b.com[0], b.com[1], b.com[2], r[0], r[1], r[2], r[3]);
		append(xml_, " diaginertia=\"%.17g %.17g %.17g\"/>", p.d[0], p.d[1], p.d[2]);
		write_joint(b);
	}

	void write_joint(const BenchBody &b) {
		const Vec3 a = unit_axis(b.axis);
		if (b.joint == JointKind::revolute)
			append(xml_, "<joint type=\"hinge\" axis=\"%g %g %g\"/>", a[0], a[1], a[2]);
		else
			append(xml_, "<joint type=\"%s\"/>", b.joint == JointKind::free ? "free" : "ball");
	}

	const BenchModel &model_;
	std::vector<std::vector<int>> children_;
	std::string xml_;
};

mjModel *compile(const std::string &xml, std::string &reason) {
	const auto files = std::make_unique<mjVFS>();
	mj_defaultVFS(files.get());
	mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(xml.size()));
	std::memcpy(files->filedata[mj_findFileVFS(files.get(), "model.xml")], xml.data(), xml.size());
	char error[500] = "";
	mjModel *model = mj_loadXML("model.xml", files.get(), error, sizeof error);
	mj_deleteVFS(files.get());
	if (!model) {
		reason = error;
		std::replace(reason.begin(), reason.end(), '\n', ' ');
	}
	return model;
}

class MujocoEngine : public Engine {
  public:
	~MujocoEngine() override { clear(); }

	std::string name() const override { return "mujoco"; }
	std::string version() const override { return mj_versionString(); }

	bool load(const BenchModel &model, std::string &reason) override {
		clear();
		model_ = model;
		m_ = compile(MjcfWriter(model).write(), reason);
		if (!m_)
			return false;
		d_ = mj_makeData(m_);
		work_.resize(model.nu);
		M_.resize(static_cast<std::size_t>(model.nu) * model.nu);
		Minv_.resize(M_.size());
		J_.resize(static_cast<std::size_t>(6) * model.nu);
		identity_.assign(M_.size(), 0.0);
		for (int i = 0; i < model.nu; i++)
			identity_[static_cast<std::size_t>(i) * (model.nu + 1)] = 1;
		build_map();
		return true;
	}

	void set_state(const BenchState &s) override {
		for (int i = 0; i < model_.n(); i++)
			std::memcpy(&d_->qpos[q_address_[i]], &s.q[model_.bodies[i].q0],
			            sizeof(double) * joint_nq(model_.bodies[i].joint));
		std::memcpy(d_->qvel, map_.u_to_engine(s.u).data(), sizeof(double) * model_.nu);
		std::memcpy(d_->qacc, map_.udot_to_engine(s.udot).data(), sizeof(double) * model_.nu);
		input_ = map_.tau_to_engine(s.tau);
	}

	void forward_dynamics() override {
		mj_kinematics(m_, d_);
		mj_comPos(m_, d_);
		mj_crb(m_, d_);
		mj_factorM(m_, d_);
		mj_comVel(m_, d_);
		mj_rne(m_, d_, 0, d_->qfrc_bias);
		for (int i = 0; i < m_->nv; i++)
			work_[i] = input_[i] - d_->qfrc_bias[i];
		mj_solveM(m_, d_, d_->qacc, work_.data(), 1);
	}

	void inverse_dynamics() override {
		mj_kinematics(m_, d_);
		mj_comPos(m_, d_);
		mj_comVel(m_, d_);
		mj_rne(m_, d_, 1, work_.data());
	}

	void mass_matrix() override {
		mj_kinematics(m_, d_);
		mj_comPos(m_, d_);
		mj_crb(m_, d_);
		mj_fullM(m_, M_.data(), d_->qM);
	}

	void mass_inverse() override {
		mj_kinematics(m_, d_);
		mj_comPos(m_, d_);
		mj_crb(m_, d_);
		mj_factorM(m_, d_);
		mj_solveM(m_, d_, Minv_.data(), identity_.data(), m_->nv);
	}

	void jacobian() override {
		mj_kinematics(m_, d_);
		mj_comPos(m_, d_);
		mj_jacBody(m_, d_, J_.data() + 3 * m_->nv, J_.data(), tip_);
	}

	std::vector<double> udot() const override { return map_.udot_from_engine(d_->qacc, model_.nu); }
	std::vector<double> tau() const override { return map_.tau_from_engine(work_.data(), model_.nu); }

	std::vector<double> Minv() const override {
		const int nu = model_.nu;
		return map_.Minv_from_engine([&](int i, int j) { return Minv_[static_cast<std::size_t>(i) * nu + j]; }, nu);
	}

	std::vector<double> J() const override {
		const int nu = model_.nu;
		return map_.J_from_engine([&](int i, int j) { return J_[static_cast<std::size_t>(i) * nu + j]; }, nu);
	}

	std::vector<double> M() const override {
		const int nu = model_.nu;
		return map_.M_from_engine([&](int i, int j) { return M_[static_cast<std::size_t>(i) * nu + j]; }, nu);
	}

  private:
	void build_map() {
		map_.joints.clear();
		q_address_.clear();
		for (int i = 0; i < model_.n(); i++) {
			const int body = mj_name2id(m_, mjOBJ_BODY, ("b" + std::to_string(i)).c_str());
			const BenchBody &b = model_.bodies[i];
			map_.joints.push_back(identity_map(b.u0, m_->body_dofadr[body], joint_nu(b.joint)));
			q_address_.push_back(m_->jnt_qposadr[m_->body_jntadr[body]]);
			tip_ = body;
		}
	}

	void clear() {
		if (d_)
			mj_deleteData(d_);
		if (m_)
			mj_deleteModel(m_);
		d_ = nullptr;
		m_ = nullptr;
	}

	BenchModel model_;
	mjModel *m_ = nullptr;
	mjData *d_ = nullptr;
	SpeedMap map_;
	std::vector<int> q_address_;
	int tip_ = 0; // the last body
	std::vector<double> input_, work_, M_, Minv_, J_, identity_;
};

} // namespace

std::unique_ptr<Engine> make_mujoco() { return std::make_unique<MujocoEngine>(); }

} // namespace bench
