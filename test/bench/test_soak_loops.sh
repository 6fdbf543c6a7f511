#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Loops do not drift: two and three four-bar windows swing for 60 s through singular positions; residuals stay below
# 1e-12 m and the energy changes at the level of the integrator. ./dev soak loops does it for 1000 s.
set -uo pipefail
if "$BUILD_DIR/bench/soak_loops" 10 none >/dev/null 2>&1; then
	echo "FAIL: a number of windows that is none was taken"
	exit 1
fi
exec "$BUILD_DIR/bench/soak_loops" 60 2 3
