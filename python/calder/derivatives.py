# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the dynamics by coordinates, speeds, forces and inertial parameters."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import Array, pointer, vector
from ._calder import ffi, lib
from ._core import Core
from .dynamics import Input, Wrenches
from .errors import check, make, status_text

if TYPE_CHECKING:
    from .state import State

PARAMETERS = 10


class ForwardDerivatives(NamedTuple):
    """Derivatives of udot; matrices [nu, nu]. The first three unpack: `dq, du, dtau = m.forward_derivatives(s)[:3]`."""

    dq: Array
    """By coordinates, in the tangent space of State.integrate: of a ball joint by turns about its outboard axes."""
    du: Array
    """By speeds."""
    dtau: Array
    """By generalized forces: M^-1, exactly symmetric; with loops M_c."""
    udot: Array
    """[nu] the accelerations themselves."""


class InverseDerivatives(NamedTuple):
    """Derivatives of tau; matrices [nu, nu]."""

    dq: Array
    """By coordinates, as in ForwardDerivatives."""
    du: Array
    """By speeds."""
    dudot: Array
    """By accelerations: the mass matrix."""


class NodeDerivatives(NamedTuple):
    """Derivatives of the motion of a node; matrices [6, nu], angular rows first, world axes."""

    velocity_dq: Array
    """Of the velocity J u by coordinates: of J times any vector, with that vector as speeds of the state."""
    acceleration_dq: Array
    """Of the acceleration by coordinates."""
    acceleration_du: Array
    """Of the acceleration by speeds."""


class Derivatives(Core):
    """Derivatives of a group's dynamics (docs/derivatives.md)."""

    def _derivatives(self, state: State) -> Any:
        """The workspace of a state, made at its first use."""
        if state._derivatives is None:
            place = ffi.new("CalDerivatives **")
            check(lib.cal_derivatives_create(self._m, place))
            state._derivatives = ffi.gc(place[0], lib.cal_derivatives_destroy, lib.cal_derivatives_size(self._m))
        return state._derivatives

    def _differentiate(self, state: State, where: str, call: Any, *arguments: Any) -> None:
        """Runs call(model, state, arguments with the workspace in place of None)."""
        self._own(state)
        with state:
            d = self._derivatives(state)
            status = call(self._m, state._c, *(d if a is None else a for a in arguments))
            if status:
                dof = lib.cal_derivatives_failed_dof(d) if status > 0 else -1
                detail = f" (at {self.u_names[dof]!r})" if 0 <= dof < self.nu else ""
                raise make(status, f"{where}: {status_text(status)}{detail}")

    def derivatives_exact(self, state: State) -> bool:
        """Whether derivatives are analytical; False: the model has functions of its own, and inverse dynamics is differenced."""
        self._own(state)
        with state:
            return bool(lib.cal_derivatives_exact(self._derivatives(state)))

    def forward_derivatives(self, state: State, tau: npt.ArrayLike | None = None, *, wrenches: Wrenches | None = None,
                            prescribed: Any = None, udot: npt.ArrayLike | None = None) -> ForwardDerivatives:
        """Derivatives of forward(state, tau, ...), loops held; rows of prescribed speeds are zero."""
        given = Input(self, tau, wrenches, prescribed, udot)
        square = [np.empty((self.nu, self.nu)) for _ in range(3)]
        result = np.empty(self.nu)
        self._differentiate(state, "derivatives of forward dynamics", lib.cal_forward_derivatives, given.c, None,
                            pointer(result), *(pointer(m) for m in square))
        return ForwardDerivatives(*square, result)

    def inverse_derivatives(self, state: State, udot: npt.ArrayLike | None = None, *,
                            wrenches: Wrenches | None = None) -> InverseDerivatives:
        """Derivatives of inverse(state, udot, ...); udot [nu], zero if not given. Loops are open."""
        given = Input(self, None, wrenches)
        a = None if udot is None else vector(udot, self.nu, "udot", self.u_names)
        square = [np.empty((self.nu, self.nu)) for _ in range(3)]
        self._differentiate(state, "derivatives of inverse dynamics", lib.cal_inverse_derivatives,
                            ffi.NULL if a is None else pointer(a), given.c, None, *(pointer(m) for m in square))
        return InverseDerivatives(*square)

    def inverse_derivatives_along(self, state: State, v: npt.ArrayLike, udot: npt.ArrayLike | None = None, *,
                                  wrenches: Wrenches | None = None) -> InverseDerivatives:
        """How inverse_derivatives() change along v [3 nu]: a displacement, a change of speeds, one of udot (Hessian times v)."""
        given = Input(self, None, wrenches)
        a = None if udot is None else vector(udot, self.nu, "udot", self.u_names)
        way = vector(v, 3 * self.nu, "v")
        square = [np.empty((self.nu, self.nu)) for _ in range(3)]
        self._differentiate(state, "second derivatives of inverse dynamics", lib.cal_inverse_derivatives_along,
                            ffi.NULL if a is None else pointer(a), given.c, pointer(way), None,
                            *(pointer(m) for m in square))
        return InverseDerivatives(*square)

    def forward_derivatives_along(self, state: State, v: npt.ArrayLike, tau: npt.ArrayLike | None = None, *,
                                  wrenches: Wrenches | None = None) -> tuple[Array, Array, Array]:
        """How dq, du and dtau of forward_derivatives() change along v [3 nu]: a displacement, a change of speeds, one of tau."""
        given = Input(self, tau, wrenches)
        way = vector(v, 3 * self.nu, "v")
        dq, du, dtau = (np.empty((self.nu, self.nu)) for _ in range(3))
        self._differentiate(state, "second derivatives of forward dynamics", lib.cal_forward_derivatives_along, given.c,
                            pointer(way), None, pointer(dq), pointer(du), pointer(dtau))
        return dq, du, dtau

    def inertial_parameters(self) -> Array:
        """[bodies, 10]: mass, first moments x y z, moments of inertia xx yy zz xy xz yz about the origins of the body frames."""
        result = np.empty((len(self.bodies), PARAMETERS))
        for i in range(len(self.bodies)):
            check(lib.cal_inertial_parameters(self._m, i, pointer(result[i])))
        return result

    def regressor(self, state: State, udot: npt.ArrayLike | None = None) -> Array:
        """Y [nu, bodies, 10]: inverse dynamics is the sum of Y times inertial_parameters(), and what does not depend on them."""
        a = None if udot is None else vector(udot, self.nu, "udot", self.u_names)
        result = np.empty((self.nu, len(self.bodies), PARAMETERS))
        self._differentiate(state, "regressor", lib.cal_inverse_regressor, ffi.NULL if a is None else pointer(a), None,
                            pointer(result))
        return result

    def forward_parameter_derivatives(self, state: State, tau: npt.ArrayLike | None = None, *, wrenches: Wrenches | None = None,
                                      prescribed: Any = None, udot: npt.ArrayLike | None = None) -> Array:
        """dudot/dpi [nu, bodies, 10] of forward(state, tau, ...) by inertial_parameters(), loops held."""
        given = Input(self, tau, wrenches, prescribed, udot)
        result = np.empty((self.nu, len(self.bodies), PARAMETERS))
        self._differentiate(state, "derivatives by inertial parameters", lib.cal_forward_parameter_derivatives, given.c, None,
                            ffi.NULL, pointer(result))
        return result

    def node_derivatives(self, state: State, node: str | int, udot: npt.ArrayLike | None = None) -> NodeDerivatives:
        """Derivatives of velocity and acceleration of a node by coordinates and speeds."""
        a = None if udot is None else vector(udot, self.nu, "udot", self.u_names)
        rows = [np.empty((6, self.nu)) for _ in range(3)]
        self._differentiate(state, "derivatives of a node", lib.cal_node_derivatives, ffi.NULL if a is None else pointer(a),
                            self.node_index(node), None, *(pointer(m) for m in rows))
        return NodeDerivatives(*rows)

    def node_jacobian_rate(self, state: State, node: str | int) -> tuple[Array, Array]:
        """(J, dJ/dt) of a node, [6, nu] each, at the speeds of the state."""
        J, rate = np.empty((6, self.nu)), np.empty((6, self.nu))
        self._differentiate(state, "rate of a Jacobian", lib.cal_node_jacobian_rate, self.node_index(node), None, pointer(J),
                            pointer(rate))
        return J, rate

    def momentum_matrix(self, state: State) -> tuple[Array, Array]:
        """(A, dA/dt), [6, nu] each: A u is the angular momentum about the center of mass and the linear momentum."""
        A, rate = np.empty((6, self.nu)), np.empty((6, self.nu))
        self._differentiate(state, "momentum matrix", lib.cal_momentum_matrix, None, pointer(A), pointer(rate))
        return A, rate

    def energy_gradient(self, state: State) -> tuple[Array, Array]:
        """(dE/dq, dE/du), [nu] each, of the total energy."""
        dq, du = np.empty(self.nu), np.empty(self.nu)
        self._differentiate(state, "gradient of the energy", lib.cal_energy_gradient, None, pointer(dq), pointer(du))
        return dq, du
