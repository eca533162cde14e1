// Package simplify reduces triangle meshes to fewer triangles with a bounded
// error: levels of detail and distant proxies (HLODs) come from here.
//
// The method is edge collapse after Garland and Heckbert ("Surface
// simplification using quadric error metrics", 1997), with attributes in the
// metric after Hoppe ("New quadric metric for simplifying meshes with
// appearance attributes", 1999): every vertex carries a quadric that measures
// squared distances from the planes around it, and how far normals, texture
// coordinates and colours around it are from linear functions; every set of
// attributes there carries these functions. A collapse puts the new vertex where
// the quadrics of both ends cost least together. That the attributes of both
// ends must agree from then on is priced at the position found, which it does not
// move: what the position alone costs is a lower bound, with which most edges are
// too dear already.
//
// Topology lives on positions: source vertices at one position are one vertex,
// and the attribute sets that meet there (wedges) stay apart. UV seams, hard edges and
// borders between groups (materials) therefore neither tear nor stop anything:
// an edge on a seam collapses with both of its sides. Double-sided and
// non-manifold geometry needs no cutting up.
//
// Afterwards positions and normals are fitted once more to samples of the source,
// and the distances of source vertices are measured: Result.Error is such a
// measurement, not a sum of estimates.
//
// Weights trade geometry against shading; docs/lod.md has measurements of the
// defaults.
//
// # Data
//
//	              n2      A vertex is a position, with the wedges that meet there.
//	             /  \     A wedge is a vertex with one set of attributes.
//	            /    \    A corner is a wedge's use by one triangle: triangle t has
//	    seam   c      n1  the corners 3t, 3t+1 and 3t+2, as in the source's Indices.
//	  ======= [v] -----   next leads from corner to corner around a vertex, in a
//	            \ d /     ring: c, d, ..., c. Dead corners stay in it until somebody
//	             \ /      walks past.
//
//	per vertex   vertices (position, flags, sum of quadrics, first corner), geo
//	per wedge    wedgeVertex (its vertex; gone|w once merged into w), wedgeQuadrics
//	per corner   cornerWedge (none once dead), next, cost (key of the edge that begins
//	             here; one corner of each edge has one)
//	per block    least: a lower bound of the keys of 16 corners
//	per part     components: box, corners left, price of removal
//
// cornerWedge and wedgeVertex lead from a corner to its vertex. Source vertices never
// change: an index into Mesh.Positions is one, all others are those of the arrays above.
//
// # Stages
//
//  1. prepare_: weld positions to vertices and vertices to wedges, count triangles
//     around each vertex to find the few that are irregular, sum quadrics, hold borders
//     and seams.
//  2. collapse_: passes over the queue of edges with a rising limit. Each edge is priced
//     (cost, join), checked (legal), and collapsed (apply, merge). Rules relax when
//     nothing is left; components vanish when that is cheaper.
//  3. cluster: a grid instead, where Sloppy allows it and collapses fall short.
//  4. fit_: positions, then normals, then creases follow samples of the source; the
//     error is measured.
//  5. output: what is left becomes a Mesh. Reduce may go on afterwards.
//
// A Simplifier continues from where it stands, so that all levels of an object
// come from one run. The same mesh and options give the same bits on every
// machine; no random numbers, maps or goroutines are involved.
package simplify
