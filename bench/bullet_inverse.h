// SPDX-License-Identifier: Apache-2.0
// Bullet's inverse dynamics library (MultiBodyTree), used by engine_bullet.cpp where its headers are
// installed; Debian ships the library but not the headers.
#pragma once

#include "models.h"

#include <memory>
#include <string>
#include <vector>

namespace bench {

class BulletInverse {
  public:
	BulletInverse();
	~BulletInverse();

	bool load(const BenchModel &model, std::string &reason);
	void set_state(const BenchState &state);

	void inverse_dynamics();
	void mass_matrix();

	std::vector<double> tau() const;
	std::vector<double> M() const;

  private:
	struct Impl;
	std::unique_ptr<Impl> impl_;
};

} // namespace bench
