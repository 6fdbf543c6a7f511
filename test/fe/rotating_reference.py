#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reference frequencies of test_fe_geometric.c: a rotating cantilever beam and a rotating cantilever plate.

    python3 test/fe/rotating_reference.py      # needs numpy and scipy; prints the tables of the test

Both by Ritz's method with Legendre polynomials, x from the clamped edge, no hub, lengths over L, frequencies and spin over
sqrt(EI/(rho A L^4)) or sqrt(D/(rho h L^4)). Beam: spin across the direction of flapping, tension (1 - x^2)/2. Plate: spin
about its normal, membrane forces of plane stress under the body force (x, y). Coefficients of the plate converge slowly
because of the singular corners of the clamp: the last column is their change from a smaller basis.
"""
import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eigh

SPINS = [0, 1, 2, 4, 6, 8, 10, 12]


def functions(count, x):
    """Legendre polynomials on [0, 1] and their first two derivatives at x."""
    one = np.eye(count)
    return [np.array([legendre.legval(2 * x - 1, legendre.legder(one[k], d)) * 2**d for k in range(count)])
            for d in range(3)]


def points(count):
    x, w = legendre.leggauss(count)
    return (x + 1) / 2, w / 2


def clamped(x, L):
    """x^2 L and its derivatives: no displacement and no slope at x = 0."""
    return [x**2 * L[0], 2 * x * L[0] + x**2 * L[1], 2 * L[0] + 4 * x * L[1] + x**2 * L[2]]


def frequencies(K, M, count):
    d = 1 / np.sqrt(np.diag(M))
    return np.sqrt(eigh(K * np.outer(d, d), M * np.outer(d, d), eigvals_only=True)[:count])


def beam(spin, count=16):
    x, w = points(60)
    W = clamped(x, functions(count, x))
    K = (W[2] * w) @ W[2].T + spin**2 * (W[1] * (w * (1 - x**2) / 2)) @ W[1].T
    return frequencies(K, (W[0] * w) @ W[0].T, 3)


def plate(spins, nu=0.3, n=14, m=13):
    """Square plate; n functions along x, m along y."""
    x, w = points(40)
    Lx, Y = functions(n, x), functions(m, x)
    held = [x * Lx[0], Lx[0] + x * Lx[1]]
    bent = clamped(x, Lx)
    weight = np.outer(w, w).ravel()

    def field(a, b):
        return np.einsum("ix,jy->ijxy", a, b).reshape(len(a) * len(b), -1)

    def gram(a, b, factor=1):
        return (a * (weight * factor)) @ b.T

    u, ux, uy = field(held[0], Y[0]), field(held[1], Y[0]), field(held[0], Y[1])
    size, shear = len(u), (1 - nu) / 2
    K = np.zeros((2 * size, 2 * size))
    K[:size, :size] = gram(ux, ux) + shear * gram(uy, uy)
    K[size:, size:] = gram(uy, uy) + shear * gram(ux, ux)
    K[:size, size:] = nu * gram(ux, uy) + shear * gram(uy, ux)
    K[size:, :size] = K[:size, size:].T
    force = np.concatenate([u @ (weight * np.repeat(x, len(x))), u @ (weight * np.tile(x - 0.5, len(x)))])
    q = np.linalg.lstsq(K, force, rcond=1e-14)[0]
    ex, ey, shearing = q[:size] @ ux, q[size:] @ uy, q[:size] @ uy + q[size:] @ ux
    Nx, Ny, Nxy = ex + nu * ey, ey + nu * ex, shear * shearing
    W, Wx, Wy = field(bent[0], Y[0]), field(bent[1], Y[0]), field(bent[0], Y[1])
    Wxx, Wyy, Wxy = field(bent[2], Y[0]), field(bent[0], Y[2]), field(bent[1], Y[1])
    bending = gram(Wxx, Wxx) + gram(Wyy, Wyy) + nu * (gram(Wxx, Wyy) + gram(Wyy, Wxx)) + 2 * (1 - nu) * gram(Wxy, Wxy)
    tension = gram(Wx, Wx, Nx) + gram(Wy, Wy, Ny) + gram(Wx, Wy, Nxy) + gram(Wy, Wx, Nxy)
    return [frequencies(bending + spin**2 * tension, gram(W, W), 3) for spin in spins]


if __name__ == "__main__":
    for spin in SPINS:
        print("beam  %2d " % spin, " ".join("%10.6f" % f for f in beam(spin)))
    coarse, fine = plate(SPINS, n=12, m=11), plate(SPINS)
    for spin, f, c in zip(SPINS, fine, coarse):
        print("plate %2d " % spin, " ".join("%10.5f" % v for v in f), " %.1e" % max(abs(c / f - 1)))
