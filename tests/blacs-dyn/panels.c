/* SPDX-License-Identifier: BSD-3-Clause */
/* panels lu|cholesky|indefinite|asks|gives: notices of dyngrid_on_panel while DYNGRID_RESIZE_AT changes the grid.
 * Checks that each panel is reported once and in order, on every process of the grid that did it, and the calls refused
 * inside. asks: the notices themselves request grids. gives: one of them requests a grid where the factorization would
 * request another one, to give processes back. TEST_REFUSED=N: N changes fail. Compiled as C99. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyngrid.h"
#include "dyngrid/balance.h"
#include "dyngrid/checkpoint.h"
#include "dyngrid/control.h"
#include "dyngrid/factor.h"
#include "dyngrid/layout.h"

enum { n = 300, nb = 80, negative = 200 /* on the diagonal, indefinite */ };

static struct {
  int64_t next; /* column */
  int count, refused, changes;
} seen; /* shared: new and woken processes continue the count */
static dyngrid_matrix* a;
static int has_changed = 0, asks = 0, gives = 0;

static void need(int is_true, const char* what) {
  if (is_true) return;
  fprintf(stderr, "FAILED in process %d: %s [%s]\n", dyngrid_process_id(), what, dyngrid_last_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* 64 columns, less where the matrix ends, or a block and another process has the next (gives: none has from 80 on) */
static int64_t width_at(int64_t first) {
  const int64_t left = n - first, in_block = gives && first >= 80 ? left : nb - first % nb;
  const int64_t most = in_block < left ? in_block : left;
  return most < 64 ? most : 64;
}

static void after(void* data) {
  dyngrid_matrix* same = a;
  need(data == &has_changed, "the data of on_change");
  need(dyngrid_matrix_free(&same) == DYNGRID_ERR_STATE && same == a, "the matrix that is factored is not freed");
  has_changed = 1;
  if (++seen.changes == 1 && gives) {
    int nprow, npcol;
    dyngrid_grid(&nprow, &npcol, NULL, NULL);
    need(nprow == 1 && npcol == 2, "the request goes before what is given back");
  }
}

static void refused(int status, const char* what) {
  need(status == DYNGRID_ERR_STATE && strstr(dyngrid_last_message(), "dyngrid_on_panel"), what);
}

static void try_what_is_refused(void) {
  int pivots[n], info = 5;
  dyngrid_matrix* same = a;
  refused(dyngrid_resize_point(), "dyngrid_resize_point");
  refused(dyngrid_resize_point_at("x"), "dyngrid_resize_point_at");
  refused(dyngrid_resize(1, 1, DYNGRID_OPTIMAL), "dyngrid_resize");
  refused(dyngrid_resize_without(1, 1, DYNGRID_OPTIMAL, "0"), "dyngrid_resize_without");
  refused(dyngrid_need("1x1"), "dyngrid_need");
  refused(dyngrid_pop(), "dyngrid_pop");
  refused(dyngrid_relayout(), "dyngrid_relayout");
  refused(dyngrid_rebalance(), "dyngrid_rebalance");
  refused(dyngrid_matrix_reblock(a, 8, 8), "dyngrid_matrix_reblock");
  refused(dyngrid_matrix_free(&same), "dyngrid_matrix_free");
  refused(dyngrid_lu(a, 0, pivots, &info), "dyngrid_lu");
  refused(dyngrid_cholesky(a, 'L', 0, &info), "dyngrid_cholesky");
  refused(dyngrid_checkpoint("panels.h5"), "dyngrid_checkpoint");
  refused(dyngrid_restore("panels.h5"), "dyngrid_restore");
  refused(dyngrid_finalize(), "dyngrid_finalize");
  need(same == a && info == 5, "nothing was done");
}

/* Panels begin at 0 64 80 144 160 224 240. A panel is ahead when 1x3 is requested: the change is a panel later, and
 * 2x1, requested meanwhile, immediately after it. A process that was parked with that request wakes without it. */
static void ask(const dyngrid_panel* panel) {
  const int is_2x2 = panel->first < 144 || panel->first >= 224;
  need(panel->nprow == 2 && panel->npcol == (is_2x2 ? 2 : 1), "where this panel was done");
  if (panel->first == 64) need(!dyngrid_request(1, 3), "request");
  if (panel->first == 80) need(!dyngrid_request(2, 1), "request");
  if (panel->first == 144) need(!dyngrid_request(2, 2), "request");
}

static void notice(const dyngrid_panel* panel, void* data) {
  int64_t sums[2] = {1, panel->first};
  int nprow, npcol;
  need(data == &seen, "the data of on_panel");
  need(panel->first == seen.next && panel->columns == width_at(seen.next) && panel->of == n, "the columns");
  dyngrid_grid(&nprow, &npcol, NULL, NULL);
  need(panel->nprow == nprow && panel->npcol == npcol, "the grid");
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, dyngrid_comm());
  need(sums[0] == nprow * npcol && sums[1] == sums[0] * panel->first, "all of the grid receive this panel");
  need(panel->seconds >= 0, "the seconds");
  if (panel->outcome < 0) {
    need(!has_changed && strlen(dyngrid_last_message()) > 15, "why it failed");
    ++seen.refused;
  } else {
    need(panel->outcome == (has_changed ? DYNGRID_RESIZED : DYNGRID_SAME), "what the resize point before it did");
  }
  has_changed = 0;
  seen.next += panel->columns;
  if (++seen.count == 1) try_what_is_refused();
  if (asks) ask(panel);
  if (gives && panel->first == 0) need(!dyngrid_request(1, 2), "request");
}

static void not_called(const dyngrid_panel* panel, void* data) {
  (void)panel, (void)data;
  need(0, "a routine that another one took the place of");
}

static void fill_diagonal(int is_indefinite) {
  int nprow, npcol, myrow, mycol;
  int64_t g, lld;
  double* x = dyngrid_local(a);
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  dyngrid_matrix_shape(a, NULL, NULL, &lld);
  for (g = 0; g < n; ++g) {
    const int64_t block = g / nb;
    if (block % nprow != myrow || block % npcol != mycol) continue;
    x[block / nprow * nb + g % nb + (block / npcol * nb + g % nb) * lld] = is_indefinite && g == negative ? -1 : 4;
  }
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const char* wanted = getenv("TEST_REFUSED");
  const int is_indefinite = !strcmp(kind, "indefinite"),
            is_lu = !strcmp(kind, "lu") || !strcmp(kind, "asks") || !strcmp(kind, "gives");
  int pivots[n], info = -1, count = 0, outcome;
  int64_t end = 0, next;
  asks = !strcmp(kind, "asks");
  gives = !strcmp(kind, "gives");
  need(dyngrid_on_panel(notice, &seen) == DYNGRID_ERR_STATE, "before dyngrid_init");
  need(!dyngrid_init_grid(2, 2), "init");
  need(!dyngrid_matrix_create("A", 'd', is_lu ? n + 20 : n, n, nb, nb, &a), "create");
  need(!dyngrid_share("seen", &seen, sizeof seen), "share");
  need(!dyngrid_on_change(NULL, after, &has_changed), "on_change");
  need(!dyngrid_on_panel(not_called, NULL) && !dyngrid_on_panel(notice, &seen), "on_panel");
  if (!dyngrid_is_newcomer() && dyngrid_local(a)) fill_diagonal(is_indefinite);
  outcome = is_lu ? dyngrid_lu(a, gives ? DYNGRID_GIVE_BACK : 0, pivots, &info) : dyngrid_cholesky(a, 'L', 0, &info);
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  need(outcome == (seen.changes > 0 ? DYNGRID_RESIZED : DYNGRID_SAME), "the outcome");
  need(info == (is_indefinite ? negative + 1 : 0), "info");
  /* a failing panel does not count */
  for (next = 0; next < n && !(is_indefinite && next + width_at(next) > negative); next += width_at(next)) ++count;
  end = next;
  need(seen.count == count && seen.next == end, "all panels were reported");
  need(seen.refused == (wanted ? atoi(wanted) : 0), "changes that failed");
  need(!asks || seen.changes == 3, "what was asked for inside");
  need(!gives || seen.changes == 2, "what was asked for inside, and what was given back");
  need(!dyngrid_on_panel(NULL, NULL), "none");
  if (is_lu) need(dyngrid_lu(a, 0, pivots, &info) >= 0 && seen.count == count, "nothing more is reported");
  if (dyngrid_is_first()) printf("%s: %d panels, %d changes: right\n", kind, count, seen.changes);
  return dyngrid_finalize();
}
