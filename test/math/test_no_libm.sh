#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library calls no function of the C library whose last bit depends on the machine (src/math/portable.h). What is exact or
# correctly rounded everywhere (sqrt, fmod, floor, ldexp, ...) it may call.
set -euo pipefail
names='a?(sin|cos|tan)h?|atan2|sincos|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|hypot|cbrt|erfc?|[lt]gamma|fma'
called=$(nm -A -u "$BUILD_DIR/libcalder.a" | grep -E " U ($names)[fl]?\$" || true)
if [ -n "$called" ]; then
	printf 'call portable_... of math/portable.h instead:\n%s\n' "$called"
	exit 1
fi
