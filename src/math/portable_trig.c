// SPDX-License-Identifier: Apache-2.0
/*
 * portable_trig.c — tangent, inverse functions, and sine and cosine of large angles.
 *
 * Angles are reduced to n pi/2 + r, |r| < 0.79, with r in twofold numbers: up to REAL_TRIG_MAX by parts of pi/2, above by
 * those 192 bits of 2/pi that matter (Payne and Hanek 1983). Series: the first terms in twofold numbers, the rest in doubles.
 * Inverse functions are angles of (x, y): minus the nearest c = k/8 of the slope, tan(a - b) = (y - c x)/(x + c y).
 */
#include <math.h>
#include <stdint.h>

#include "math/portable.h"
#include "math/real.h"
#include "math/twofold.h"

static const Twofold HALF_PI = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const Twofold PI = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

/* ---- reduction --------------------------------------------------------------------------------- */

enum { WORDS = 6, WORD = 32 }; // of a fixed-point number with two bits before the point

/* 2/pi, after 64 zeros: its first bit, of weight 1/2, is the uppermost of the third word. */
static const uint32_t TWO_BY_PI[] = {
	0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
	0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
	0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
	0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
	0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

/* Word i of 2/pi from a bit on. */
static uint32_t two_by_pi_word(int bit, int i) {
	const int word = bit / WORD + i, shift = bit % WORD;
	const uint64_t two = (uint64_t)TWO_BY_PI[word] << WORD | TWO_BY_PI[word + 1];
	return (uint32_t)(two >> (WORD - shift));
}

/*
 * out = x 2/pi mod 4, uppermost word first, for finite x >= 2^-32. x = m 2^e, m of 53 bits: bits of 2/pi whose weight is 2^(2 - e)
 * or more contribute multiples of 4. The first that counts has the weight 2^(1 - e): number 64 + e - 2 of the table.
 */
static void quarter_turns(double x, uint32_t out[WORDS]) {
	int e;
	const uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);
	const int bit = 64 + (e - 53) - 2;
	uint64_t carry = 0;
	uint32_t before = 0; // the word of 2/pi below this one
	for (int i = WORDS - 1; i >= 0; i--) {
		const uint32_t digit = two_by_pi_word(bit, i);
		const uint64_t low = (m & 0xffffffff) * digit, high = (m >> WORD) * before;
		const uint64_t sum = carry + (low & 0xffffffff) + (high & 0xffffffff);
		out[i] = (uint32_t)sum;
		carry = (sum >> WORD) + (low >> WORD) + (high >> WORD);
		before = digit;
	}
}

/* x = n pi/2 + r for any finite x > 0. */
static Twofold reduce_large(double x, int *n) {
	uint32_t turns[WORDS];
	quarter_turns(x, turns);
	const int up = turns[0] >> 29 & 1; // the fraction is 1/2 or more: it is taken as negative
	*n = (int)(turns[0] >> 30) + up;
	turns[0] &= 0x3fffffff;
	Twofold f = {-up, 0};
	double weight = 0x1p-30;
	for (int i = 0; i < WORDS; i++, weight *= 0x1p-32)
		f = twofold_plus(f, turns[i] * weight);
	return twofold_multiply(f, HALF_PI);
}

/* The first two parts of pi/2 are those of real.h, n times them is exact; the third has all that they leave. */
static Twofold reduce_small(double x, int *n) {
	const double whole = floor(x * 0.63661977236758134308 + 0.5);
	const double r = x - whole * 1.57079632673412561417;
	*n = (int)fmod(whole, 4);
	return twofold_add(twofold_sum(r, -whole * 6.07710050630396597660e-11),
	                   (Twofold){-whole * 2.0222662487959506e-21, 0});
}

static Twofold reduce(double x, int *n) {
	const double size = fabs(x);
	const Twofold r = size > REAL_TRIG_MAX ? reduce_large(size, n) : reduce_small(size, n);
	if (x > 0)
		return r;
	*n = -*n;
	return twofold_negate(r);
}

/* ---- sine, cosine, tangent --------------------------------------------------------------------- */

static Twofold sine_of(Twofold r) {
	static const double rest[] = {1.0 / 120,          -1.0 / 5040,          1.0 / 362880,           -1.0 / 39916800,
	                              1.0 / 6227020800.0, -1.0 / 1307674368000, 1.0 / 355687428096000.0};
	static const Twofold sixth = {-0x1.5555555555555p-3, -0x1.5555555555555p-57};
	const Twofold z = twofold_multiply(r, r);
	const Twofold sum = twofold_add(sixth, twofold_times(z, polynomial(rest, 7, z.hi)));
	return twofold_multiply(r, twofold_plus(twofold_multiply(z, sum), 1));
}

static Twofold cosine_of(Twofold r) {
	static const double rest[] = {-1.0 / 720,           1.0 / 40320,          -1.0 / 3628800,         1.0 / 479001600,
	                              -1.0 / 87178291200.0, 1.0 / 20922789888000, -1.0 / 6402373705728000};
	static const Twofold by_24 = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
	const Twofold z = twofold_multiply(r, r);
	Twofold sum = twofold_add(by_24, twofold_times(z, polynomial(rest, 7, z.hi)));
	sum = twofold_plus(twofold_multiply(z, sum), -0.5);
	return twofold_plus(twofold_multiply(z, sum), 1);
}

void portable_sincos_large(double x, double *s, double *c) {
	if (!isfinite(x)) {
		*s = *c = NAN;
		return;
	}
	int n;
	const Twofold r = reduce(x, &n);
	const double sine = sine_of(r).hi, cosine = cosine_of(r).hi;
	*s = n & 1 ? cosine : sine;
	*c = n & 1 ? sine : cosine;
	if (n & 2)
		*s = -*s;
	if ((n + 1) & 2)
		*c = -*c;
}

double portable_sin(double x) {
	double s, c;
	sincos_double(x, &s, &c);
	return x == 0 ? x : s; // of either sign
}

double portable_cos(double x) {
	double s, c;
	sincos_double(x, &s, &c);
	return c;
}

double portable_tan(double x) {
	if (!isfinite(x))
		return NAN;
	if (fabs(x) < 0x1p-28)
		return x;
	int n;
	const Twofold r = reduce(x, &n), s = sine_of(r), c = cosine_of(r);
	return n & 1 ? -twofold_divide(c, s).hi : twofold_divide(s, c).hi;
}

/* ---- inverse functions ------------------------------------------------------------------------- */

/* atan(k/8) */
static const Twofold ATAN_EIGHTHS[] = {
	{0, 0},
	{0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
	{0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
	{0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
	{0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
	{0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
	{0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
	{0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
	{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

/* atan(y/x), 0 <= y <= x, x > 0. */
static Twofold slope_angle(Twofold y, Twofold x) {
	static const double rest[] = {-1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15};
	const int k = (int)(8 * (y.hi / x.hi) + 0.5);
	const double c = 0.125 * k;
	const Twofold u = twofold_divide(twofold_add(y, twofold_times(x, -c)), twofold_add(x, twofold_times(y, c)));
	const double z = u.hi * u.hi;
	return twofold_add(ATAN_EIGHTHS[k], twofold_plus(u, u.hi * z * polynomial(rest, 7, z)));
}

/* The angle of (x, y) from the x axis, 0 ... pi; y >= 0, not both zero, sizes near 1 or one far below the other. */
static Twofold angle_of(Twofold y, Twofold x) {
	const Twofold size = x.hi < 0 ? twofold_negate(x) : x;
	Twofold angle;
	if (y.hi > size.hi) {
		angle = twofold_add(HALF_PI, twofold_negate(slope_angle(size, y)));
	} else {
		angle = slope_angle(y, size);
	}
	return x.hi < 0 ? twofold_add(PI, twofold_negate(angle)) : angle;
}

double portable_atan2(double y, double x) {
	if (isnan(x) || isnan(y))
		return x + y;
	if (isinf(x) || isinf(y)) {
		x = copysign(isinf(x) ? 1 : 0, x);
		y = copysign(isinf(y) ? 1 : 0, y);
	}
	if (y == 0)
		return signbit(x) ? copysign(PI.hi, y) : y;
	if (x > 0 && fabs(y) < x * 0x1p-30)
		return y / x;
	int n;
	frexp(fmax(fabs(x), fabs(y)), &n);
	return copysign(angle_of((Twofold){ldexp(fabs(y), -n), 0}, (Twofold){ldexp(x, -n), 0}).hi, y);
}

double portable_atan(double x) { return portable_atan2(x, 1); }

/* sqrt(1 - x^2) */
static Twofold other_leg(double x) { return twofold_sqrt(twofold_multiply(twofold_sum(1, x), twofold_sum(1, -x))); }

double portable_asin(double x) {
	if (!(fabs(x) <= 1))
		return NAN;
	return fabs(x) < 0x1p-28 ? x : copysign(angle_of((Twofold){fabs(x), 0}, other_leg(x)).hi, x);
}

double portable_acos(double x) { return fabs(x) <= 1 ? angle_of(other_leg(x), (Twofold){x, 0}).hi : NAN; }
