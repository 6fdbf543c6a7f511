// SPDX-License-Identifier: Apache-2.0
/*
 * frames.c — choice of the link frames.
 *
 * Any rotation is Rz(phi) Rx(twist) Rz(theta). In front of a link that rotates about its z, Rz(theta) is a
 * constant added to its angle; after a link that rotates about or slides along its z, Rz(phi) is a turn of
 * that link's own frame. What is left of the orientation between two such links is a turn about x, which
 * costs 12 multiplications in place of 27 (Denavit and Hartenberg's frames, found rather than asked for).
 * A link's frame can be turned for one child only: the next link, which on a chain is the only one.
 */
#include "math/portable.h"
#include "model/compile/compile.h"

/* Rz(-phi) m */
static dvec3 unturn_vec(dvec3 v, double s, double c) { return (dvec3){c * v.x + s * v.y, c * v.y - s * v.x, v.z}; }
static dmat3 unturn(dmat3 m, double s, double c) {
	return (dmat3){unturn_vec(m.x, s, c), unturn_vec(m.y, s, c), unturn_vec(m.z, s, c)};
}

/* Turns the frame of link i about its z by the angle whose sine and cosine are s and c. */
static void turn_link(Compiler *c, int i, double angle, double sn, double cs) {
	Link *link = &c->links[i];
	if (link->motion == PRIMITIVE_ROTATION) {
		c->trig_offset[link->trig] += angle;
	} else { // a translation keeps its axis: its whole inboard frame turns
		const dmat3 E = link->E;
		link->E.x = dadd(dscale(cs, E.x), dscale(sn, E.y));
		link->E.y = dadd(dscale(-sn, E.x), dscale(cs, E.y));
		link->pure_rx = 0;
	}
	for (int k = i + 1; k < c->link_count; ++k) {
		if (c->links[k].parent != i)
			continue;
		c->links[k].E = unturn(c->links[k].E, sn, cs);
		c->links[k].p = unturn_vec(c->links[k].p, sn, cs);
		if (c->links[i].accumulator < 0)
			break; // the next link is the only child
	}
}

static int can_turn(const Link *link) {
	return link->motion == PRIMITIVE_ROTATION || link->motion == PRIMITIVE_TRANSLATION;
}

void compile_turn_frames(Compiler *c) {
	double *sine = c->turn, *cosine = c->turn + c->link_count;
	for (int i = 0; i < c->link_count; ++i) {
		sine[i] = 0, cosine[i] = 1;
		if (i + 1 >= c->link_count || c->links[i + 1].parent != i || !can_turn(&c->links[i]))
			continue;
		Link *child = &c->links[i + 1];
		if (child->motion != PRIMITIVE_ROTATION)
			continue;
		const dvec3 z = child->E.z; // (sin a sin phi, -sin a cos phi, cos a)
		const double sin_a = sqrt(z.x * z.x + z.y * z.y);
		const double phi = sin_a > 0 ? portable_atan2(z.x, -z.y) : 0.0;
		sine[i] = sin_a > 0 ? z.x / sin_a : 0.0;
		cosine[i] = sin_a > 0 ? -z.y / sin_a : 1.0;
		turn_link(c, i, phi, sine[i], cosine[i]);
		// now E = Rx(a) Rz(theta): its first row is (cos theta, -sin theta, 0)
		c->trig_offset[child->trig] += portable_atan2(-child->E.y.x, child->E.x.x);
		const double ca = z.z;
		child->E = (dmat3){{1, 0, 0}, {0, ca, sin_a}, {0, -sin_a, ca}};
		child->pure_rx = 1;
	}
	for (int b = 0; b < c->body_count; ++b) {
		Body *body = &c->bodies[b];
		if (body->link < 0)
			continue;
		const double sn = sine[body->link], cs = cosine[body->link];
		body->in_link = (dpose){unturn(body->in_link.R, sn, cs), unturn_vec(body->in_link.r, sn, cs)};
	}
}
