// SPDX-License-Identifier: Apache-2.0
/*
 * mass.ts — mass properties of a body as the document has them, checked.
 */
import { fail, list, number, type Dict } from "./values.js";

export interface MassProperties {
	mass: number; // [kg]
	center: number[] | null; // [3] center of mass in the body frame [m]; null: not given
	inertia: number[] | null; // xx, yy, zz, xy, xz, yz about it, in body axes [kg m^2]; null: not given
}

function numbers(value: unknown, size: number, place: string): number[] | null {
	if (value === undefined || value === null) return null;
	const all = list(value, place).map((v, i) => number(v, `${place}[${i}]`));
	if (all.length !== size) fail(place, `has ${all.length} numbers instead of ${size}`);
	return all;
}

/** null: the document does not say. */
export function decodeMass(from: Dict, place: string): MassProperties | null {
	if (from.mass === undefined || from.mass === null) return null;
	return {
		mass: number(from.mass, `${place}.mass`),
		center: numbers(from.center_of_mass, 3, `${place}.center_of_mass`),
		inertia: numbers(from.inertia, 6, `${place}.inertia`),
	};
}
