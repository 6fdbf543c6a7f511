// SPDX-License-Identifier: Apache-2.0
/*
 * branch_places.c — where the nodes of branches are in the world and how they move, on ranks that do not know all states.
 *
 * A branch knows its own joints, so that it needs the pose and the velocity of its base: of the ground, of a link of the
 * branch that carries it, or as the rank of that branch sends them, 18 numbers. Outward, once, before an evaluation; only
 * branches that are wanted, and those between them and the ground.
 */
#include <string.h>

#include "component/branches.h"
#include "dynamics/tree/kinematics.h"

void branches_want_place(const CalBranches *s, int node, uint8_t *wanted) {
	int k = s->piece_map.node[node].piece;
	for (; k >= 0; k = s->branches[k].parent)
		wanted[k] = 1;
}

/* Pose and velocity of a link that carries a branch: into place of the branch and its base, or from there to a message. */
static void find_base_place(const Branch *parent, const BranchPlace *under, int link, SweepBase *base,
                            BranchPlace *place) {
	const CalWork *work = parent->work;
	base->R = work->links[link].R;
	base->w = work->links[link].w;
	place->r = add(under->r, work->position[link]);
	place->v = add(under->v, work->velocity[link]);
}

static void set_base(CalBranches *s, Branch *b) {
	BranchPlace *place = &s->places[b->index];
	if (b->parent < 0) {
		b->base.R = mat_from(dmat_identity());
		b->base.w = place->r = place->v = vec_zero();
	} else if (ranks_has(s->ranks, b->parent)) {
		find_base_place(&s->branches[b->parent], &s->places[b->parent], b->base_link, &b->base, place);
	} else {
		ranks_receive_place(s->ranks, b, place);
	}
}

static void place_branch(const CalState *state, Branch *b) {
	const SweepInput in = {.q = b->q, .u = b->u, .prepared = 1, .base = &b->base};
	segments_gather(b->q_segment, b->q_segments, state->q, b->q);
	segments_gather(b->u_segment, b->u_segments, state->u, b->u);
	interface_kernels(b->model->isa)->base_path(b->model, &in, b->base_path, b->base_path_count, b->work);
	forward_kernels(b->model->isa)->outward_in(b->model, b->model->gravity, &in, b->work);
	kinematics_origins(b->model, b->u, b->work);
}

void branches_find_places(CalBranches *s, const CalState *state, const uint8_t *wanted) {
	for (int k = 0; k < s->count; ++k) {
		Branch *b = &s->branches[k];
		if (!wanted[k] || !ranks_has(s->ranks, k))
			continue;
		set_base(s, b);
		place_branch(state, b);
		for (int i = 0; i < b->child_count; ++i) {
			const Branch *child = &s->branches[b->children[i]];
			SweepBase base = {0};
			BranchPlace place;
			if (!wanted[child->index] || ranks_has(s->ranks, child->index))
				continue;
			find_base_place(b, &s->places[k], child->base_link, &base, &place);
			ranks_send_place(s->ranks, child, &base, &place);
		}
	}
}

int branches_rank_of_dof(const CalBranches *s, int u) { return s->ranks->rank_of[s->piece_map.u[u].piece]; }

bool branches_know_dof(const CalBranches *s, int u) {
	return branches_know_all(s) || ranks_has(s->ranks, s->piece_map.u[u].piece);
}

int branches_rank_of_node(const CalBranches *s, int node) {
	const int piece = s->piece_map.node[node].piece;
	return piece >= 0 ? s->ranks->rank_of[piece] : -1;
}

void branches_node_motion(const CalBranches *s, int node, CalPose *pose, CalSpatial *velocity) {
	const PieceIndex at = s->piece_map.node[node];
	const Branch *b = &s->branches[at.piece];
	const BranchPlace *base = &s->places[at.piece];
	const NodePlace place = kinematics_node(b->model, b->work, at.own);
	const int link = b->model->nodes[at.own].link;
	const spatial V = kinematics_node_velocity(b->work, link, &place);
	pose->R = mat_out(place.R);
	pose->r = vec_out(add(base->r, add(b->work->position[link], place.c)));
	*velocity = spatial_out((spatial){V.a, add(base->v, V.l)});
}
