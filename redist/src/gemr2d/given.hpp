// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a context say of their matrices, and the layouts that follow.
#pragma once
#include <string>
#include <vector>

#include <mpi.h>

#include "redist/layout.hpp"
#include "redist/plan.hpp"

namespace redist::detail {

enum Entry { dtype_at, ctxt_at, m_at, n_at, mb_at, nb_at, rsrc_at, csrc_at, lld_at };

/// What one rank says of one matrix: all -1 outside its grid. mb and nb of a DTYPE_ 601 are the numbers of
/// its sizes.
struct GivenDescriptor {
  int nprow = -1, npcol = -1, myrow = -1, mycol = -1;
  int m = -1, n = -1, mb = -1, nb = -1, rsrc = -1, csrc = -1, i = -1, j = -1;
  int listed = 0, sizes_hash[2] = {0, 0};

  bool is_alike(const GivenDescriptor& o) const {
    return nprow == o.nprow && npcol == o.npcol && m == o.m && n == o.n && mb == o.mb && nb == o.nb && rsrc == o.rsrc &&
           csrc == o.csrc && i == o.i && j == o.j && listed == o.listed && sizes_hash[0] == o.sizes_hash[0] &&
           sizes_hash[1] == o.sizes_hash[1];
  }
};

/// Everything a rank brings to a call that decides about the plan. Compared as bytes: only ints, no padding.
struct Call {
  GivenDescriptor a, b;
  int m = 0, n = 0;
  int part = 0, type = 0;
};

/// What a rank says when the call has to be gathered. Loads are in copies, see load_of().
struct CallOfRank {
  Call call;
  int load_of_set = 0, load_of_context = 0;
  int has_room = 0; ///< for one more executor that stays
};

/// Ends the process, as the stock routine does when an argument is wrong.
[[noreturn]] void stop(const std::string& message, int code);

/// All -1 outside the grid. @param i,j counted from 1
GivenDescriptor given_by(const int* desc, int i, int j);

/// What one rank can see of its own descriptor; assemble() has the rest from all ranks.
void check_given(GivenDescriptor& s, const int* desc, const char* letter, const std::string& name);

/// A matrix, from the calls of all ranks.
struct AgreedMatrix {
  Layout layout;
  Window window;
  const GivenDescriptor* given = nullptr; ///< of `root`
  int root = -1;                          ///< the first rank in its grid
};

/// The grid and the window of one matrix from the calls of all ranks, or the reason why not.
std::string assemble(const std::vector<CallOfRank>& calls, GivenDescriptor Call::*which, const char* letter,
                     AgreedMatrix& made);

/// How its axes lie. Lists of sizes come from the first process of the grid; those outside have none.
/// Collective.
void fill_axes(AgreedMatrix& made, const int* desc, const GivenDescriptor& mine, MPI_Comm comm);

} // namespace redist::detail
