// SPDX-License-Identifier: Apache-2.0
// Translation between the neutral speeds of a joint and an engine's own speeds:
//   u_e = B u,   udot_e = B udot + b,   tau = B^T tau_e,   M = B^T M_e B,   M^-1 = B^-1 M_e^-1 B^-T,   J = J_e B,
// joint by joint, B square of the size of the joint, b the velocity-dependent part (Bdot u).
#pragma once

#include "models.h"

#include <vector>

namespace bench {

struct JointMap {
	int neutral = 0, engine = 0; // where the joint's speeds begin on each side
	int size = 0;
	double B[36]{};  // row-major size x size
	double Bi[36]{}; // inverse of B
	double b[6]{};

	// Writes a 3x3 block of B and of its inverse.
	void set(int row, int col, const Mat3 &m) { put(B, row, col, m); }
	void set_inverse(int row, int col, const Mat3 &m) { put(Bi, row, col, m); }

  private:
	void put(double *to, int row, int col, const Mat3 &m) {
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 3; j++)
				to[(row + i) * size + col + j] = m[3 * i + j];
	}
};

// A map that only moves the speeds to another place.
inline JointMap identity_map(int neutral, int engine, int size) {
	JointMap m;
	m.neutral = neutral;
	m.engine = engine;
	m.size = size;
	for (int i = 0; i < size; i++)
		m.B[i * size + i] = m.Bi[i * size + i] = 1;
	return m;
}

class SpeedMap {
  public:
	std::vector<JointMap> joints;

	std::vector<double> u_to_engine(const std::vector<double> &u) const { return to_engine(u, false); }
	std::vector<double> udot_to_engine(const std::vector<double> &udot) const { return to_engine(udot, true); }

	// tau_e = B^-T tau
	std::vector<double> tau_to_engine(const std::vector<double> &tau) const {
		std::vector<double> out(tau.size());
		for (const JointMap &m : joints)
			for (int i = 0; i < m.size; i++)
				for (int j = 0; j < m.size; j++)
					out[m.engine + i] += m.Bi[j * m.size + i] * tau[m.neutral + j];
		return out;
	}

	// udot = B^-1 (udot_e - b)
	std::vector<double> udot_from_engine(const double *udot_e, int nu) const {
		std::vector<double> out(nu);
		for (const JointMap &m : joints)
			for (int i = 0; i < m.size; i++)
				for (int j = 0; j < m.size; j++)
					out[m.neutral + i] += m.Bi[i * m.size + j] * (udot_e[m.engine + j] - m.b[j]);
		return out;
	}

	// tau = B^T tau_e
	std::vector<double> tau_from_engine(const double *tau_e, int nu) const {
		std::vector<double> out(nu);
		for (const JointMap &m : joints)
			for (int i = 0; i < m.size; i++)
				for (int j = 0; j < m.size; j++)
					out[m.neutral + i] += m.B[j * m.size + i] * tau_e[m.engine + j];
		return out;
	}

	// M = B^T M_e B; element(i, j) reads the engine's matrix.
	template <class Element> std::vector<double> M_from_engine(const Element &element, int nu) const {
		return congruent(element, nu, [](const JointMap &m, int k, int i) { return m.B[k * m.size + i]; });
	}

	// M^-1 = B^-1 M_e^-1 B^-T
	template <class Element> std::vector<double> Minv_from_engine(const Element &element, int nu) const {
		return congruent(element, nu, [](const JointMap &m, int k, int i) { return m.Bi[i * m.size + k]; });
	}

	// J = J_e B, six rows
	template <class Element> std::vector<double> J_from_engine(const Element &element, int nu) const {
		std::vector<double> out(static_cast<std::size_t>(6) * nu);
		for (const JointMap &m : joints)
			for (int row = 0; row < 6; row++)
				for (int j = 0; j < m.size; j++)
					for (int k = 0; k < m.size; k++)
						out[static_cast<std::size_t>(row) * nu + m.neutral + j] +=
							element(row, m.engine + k) * m.B[k * m.size + j];
		return out;
	}

  private:
	// T^T A T; factor(m, k, i) reads T of a joint.
	template <class Element, class Factor>
	std::vector<double> congruent(const Element &element, int nu, const Factor &factor) const {
		std::vector<double> out(static_cast<std::size_t>(nu) * nu);
		for (const JointMap &a : joints)
			for (const JointMap &c : joints)
				for (int i = 0; i < a.size; i++)
					for (int j = 0; j < c.size; j++) {
						double sum = 0;
						for (int k = 0; k < a.size; k++)
							for (int l = 0; l < c.size; l++)
								sum += factor(a, k, i) * element(a.engine + k, c.engine + l) * factor(c, l, j);
						out[static_cast<std::size_t>(a.neutral + i) * nu + c.neutral + j] = sum;
					}
		return out;
	}

	std::vector<double> to_engine(const std::vector<double> &x, bool with_bias) const {
		std::vector<double> out(x.size());
		for (const JointMap &m : joints)
			for (int i = 0; i < m.size; i++) {
				if (with_bias)
					out[m.engine + i] = m.b[i];
				for (int j = 0; j < m.size; j++)
					out[m.engine + i] += m.B[i * m.size + j] * x[m.neutral + j];
			}
		return out;
	}
};

} // namespace bench
