// SPDX-License-Identifier: Apache-2.0
/*
 * derivative_frame.c — how the motion of a frame changes with coordinates and speeds: the displacement theta x c + x of a point
 * at c from the origin of a link, its time derivatives (derivative.h), summed over the links inboard of the frame.
 */
#include "derivative/derivative_frame.h"
#include "derivative/derivative_flex.h"

void frame_prepare(const CalModel *model, const double *u, CalDerivatives *d) {
	kinematics_origins(model, u, d->work);
	derivative_flex_columns(model, d);
}

/* Adds what one dof does; c, c_rate: the frame's origin from that of the dof's link; turning: rate of its column theta. */
static void add_variation(const DofMotion *m, const LoopFrame *f, vec3 gravity, vec3 c, vec3 c_rate, vec3 turning,
                          FrameVariation *out) {
	const vec3 theta = m->S.a, x_rate = scale(0.5, m->speed.l);
	const vec3 r = add(m->S.l, cross(theta, c));
	out->theta = add(out->theta, theta);
	out->r = add(out->r, r);
	out->w = add(out->w, add(m->rate, cross(theta, f->w)));
	out->v = add(out->v, add(x_rate, add(cross(m->rate, c), cross(theta, c_rate))));
	out->al = add(out->al, add(m->acceleration.a, add(cross(m->rate, f->w), cross(theta, f->al))));
	const vec3 swung = add(cross(m->acceleration.a, c), scale(2.0, cross(m->rate, c_rate)));
	out->a = add(out->a, add(add(m->acceleration.l, swung), cross(theta, sub(f->a, gravity))));
	out->speed.a = add(out->speed.a, add(m->speed.a, cross(theta, f->w)));
	const vec3 coriolis = add(cross(m->speed.a, c), scale(2.0, cross(theta, c_rate)));
	out->speed.l = add(out->speed.l, add(m->speed.l, coriolis));
	out->axis_rate = add(out->axis_rate, turning);
	out->r_rate = add(out->r_rate, add(x_rate, add(cross(turning, c), cross(theta, c_rate))));
}

/* Modes that move the node on its body. */
static void add_node_modes(const CalModel *model, const FramePoint *at, CalDerivatives *d, FrameVariation *out) {
	const Node *n = &model->nodes[at->node];
	const CalWork *work = d->work;
	if (n->shape < 0)
		return;
	const NodePlace place = kinematics_node(model, work, at->node);
	const LoopFrame *f = &at->motion;
	DerivativeNode node;
	modal_node_init(place.flex, place.shape, place.work, &work->links[n->link], &node);
	const vec3 c = sub(f->r, add(work->position[n->link], place.c)), gravity = vec_from(work->gravity);
	const vec3 c_rate = cross(f->w, c), a = sub(f->a, add(gravity, add(cross(f->al, c), cross(f->w, c_rate))));
	for (int k = 0; k < place.flex->m; ++k) {
		const DofMotion m = modal_node_motion(&node, k, a);
		add_variation(&m, f, gravity, c, c_rate, m.rate, &out[place.flex->u + k]);
	}
}

/* Rate of a column: that of a joint turns with its link, or with the parent where it is fixed there. */
static vec3 column_rate(const Link *link, const LinkWork *l, const DofMotion *m) {
	return link->flex >= 0 ? m->rate : cross(l->w, m->S.a);
}

void frame_variations(const CalModel *model, const FramePoint *at, CalDerivatives *d, FrameVariation *out) {
	const CalWork *work = d->work;
	const LoopFrame *f = &at->motion;
	const vec3 gravity = vec_from(work->gravity);
	memset(out, 0, sizeof *out * (size_t)d->n);
	if (at->node < 0 || model->nodes[at->node].link < 0)
		return;
	add_node_modes(model, at, d, out);
	for (int i = model->nodes[at->node].link; i >= 0; i = model->links[i].parent) {
		const LinkColumns *columns = &d->columns[i];
		const vec3 c = sub(f->r, work->position[i]), c_rate = sub(f->v, work->velocity[i]);
		for (int k = 0; k < columns->count; ++k) {
			const DofMotion *m = &d->motions[columns->motion + k];
			add_variation(m, f, gravity, c, c_rate, column_rate(&model->links[i], &work->links[i], m),
			              &out[columns->u + k]);
		}
	}
}
