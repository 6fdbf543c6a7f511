// SPDX-License-Identifier: Apache-2.0
/*
 * local_link.c — constants of links in the order in which inverse dynamics takes them.
 */
#include "model/local_link.h"

#include "model/model.h"

static CyclicMat cyclic(dmat3 m) { // m.c.r is row r of column c
	return (CyclicMat){{m.x.x, m.y.y, m.z.z}, {m.y.x, m.z.y, m.x.z}, {m.z.x, m.x.y, m.y.z}};
}

void local_links_fill(const Link *links, int count, LocalLink *out) {
	for (int i = 0; i < count; ++i) {
		const Link *link = &links[i];
		const DInertia *in = &link->inertia;
		const double xx = in->zz + 2.0 * in->ha, yy = in->zz + 2.0 * in->hb, zz = in->zz; // of Sigma
		const dmat3 turned = {link->E.y, dscale(-1.0, link->E.x), {0, 0, 0}};
		out[i] = (LocalLink){.E = cyclic(link->E),
		                     .F = cyclic(turned),
		                     .p = link->p,
		                     .mc = in->mc,
		                     .Id = {yy + zz, xx + zz, xx + yy},
		                     .In = {-in->d, -in->f, -in->e},
		                     .m = in->m};
	}
}
