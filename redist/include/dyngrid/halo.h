/* SPDX-License-Identifier: BSD-3-Clause */
/* Halo exchange: the elements around the blocks of a distributed matrix, in C. Calls are local, nothing communicates,
 * unless it says "collective" or "fetches". Statuses are those of dyngrid/status.h. Everything counts from 0. */
#ifndef DYNGRID_HALO_H
#define DYNGRID_HALO_H
#include <mpi.h>
#include <stdint.h>

#include "dyngrid/redist.h"
#include "dyngrid/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- borders (halo exchange) ---- */

/* The elements around the blocks of a distributed matrix, fetched from the processes that own them. Along each axis
 * what a process holds is some stretches of consecutive indices; in its *ghosted* array, column-major, each of them has
 * more places before and after it. An exchange writes those; places outside a matrix that is not periodic stay as they
 * are. */
typedef struct dyngrid_halo dyngrid_halo;

enum { DYNGRID_NEIGHBOURS_FOUR = 4, DYNGRID_NEIGHBOURS_EIGHT = 8 }; /* eight: corners too */

/* The same border of `width` elements on all sides, at least 1. Collective over comm, which covers the layout's ranks
 * and is duplicated; all arguments are global. element_bytes: any size. The layout may be destroyed afterwards. Errors
 * are agreed. */
DYNGRID_API int dyngrid_halo_create(MPI_Comm comm, const dyngrid_layout* layout, int width, int neighbours,
                                    int periodic_rows, int periodic_cols, int element_bytes, dyngrid_halo** halo);
DYNGRID_API int dyngrid_halo_create_f(MPI_Fint comm, const dyngrid_layout* layout, int width, int neighbours,
                                      int periodic_rows, int periodic_cols, int element_bytes, dyngrid_halo** halo);
/* A border of its own on each side: lo[0] rows above and hi[0] below each stretch of rows, lo[1] columns left and hi[1]
 * right of each stretch of columns. None is below 0, and one at least is above. periodic[0], periodic[1]: whether rows
 * and columns continue at the other end; null: neither does. Otherwise as dyngrid_halo_create. */
DYNGRID_API int dyngrid_halo_create_sides(MPI_Comm comm, const dyngrid_layout* layout, const int* lo, const int* hi,
                                          const int* periodic, int neighbours, int element_bytes, dyngrid_halo** halo);
DYNGRID_API int dyngrid_halo_create_sides_f(MPI_Fint comm, const dyngrid_layout* layout, const int* lo, const int* hi,
                                            const int* periodic, int neighbours, int element_bytes,
                                            dyngrid_halo** halo);
/* Of my ghosted array: rows, columns and stretches of each axis. Any pointer may be null. */
DYNGRID_API int dyngrid_halo_shape(const dyngrid_halo* halo, int64_t* rows, int64_t* cols, int* row_stretches,
                                   int* col_stretches);
/* Stretch k, from 0, of axis 'R' or 'C' (of a field: its first or second dimension): its first global index, where that
 * is in the local and in the ghosted array, and its length. Any pointer may be null. */
DYNGRID_API int dyngrid_halo_stretch(const dyngrid_halo* halo, char axis, int k, int64_t* i_glo, int64_t* i_loc,
                                     int64_t* i_ghosted, int64_t* size);
/* Of dyngrid_matrix_halo (dyngrid/layout.h): the extents of my ghosted array in each dimension, where the pointer is
 * not null; returns the number of dimensions, 2 for a matrix, 0 outside the grid. */
DYNGRID_API int dyngrid_halo_extents(const dyngrid_halo* halo, int64_t* extents);
/* Stretch k, from 0, of dimension `dim`, from 0, as dyngrid_halo_stretch. Returns 1, or 0 where there is none. */
DYNGRID_API int dyngrid_halo_range(const dyngrid_halo* halo, int dim, int64_t k, int64_t* i_glo, int64_t* i_loc,
                                   int64_t* i_ghosted, int64_t* size);
/* Fetches the borders. Every process of the grid calls it and waits for its neighbours only. lld of the ghosted array,
 * 0: its rows. */
DYNGRID_API int dyngrid_halo_exchange(dyngrid_halo* halo, void* ghosted, int64_t lld);
/* The same in two halves; between them read what lies inside the blocks, leave the borders alone. */
DYNGRID_API int dyngrid_halo_start(dyngrid_halo* halo, void* ghosted, int64_t lld);
DYNGRID_API int dyngrid_halo_finish(dyngrid_halo* halo);
/* The local array into the ghosted one and back. lld_local, lld: 0 for the rows of the array. */
DYNGRID_API int dyngrid_halo_to_ghosted(const dyngrid_halo* halo, const void* local, int64_t lld_local, void* ghosted,
                                        int64_t lld);
DYNGRID_API int dyngrid_halo_from_ghosted(const dyngrid_halo* halo, const void* ghosted, int64_t lld, void* local,
                                          int64_t lld_local);
/* Every place of the ghosted array, borders included, becomes *value, one element. */
DYNGRID_API int dyngrid_halo_fill(const dyngrid_halo* halo, void* ghosted, int64_t lld, const void* value);
/* Collective. Waits for an exchange under way. */
DYNGRID_API int dyngrid_halo_destroy(dyngrid_halo** halo);

#ifdef __cplusplus
}
#endif
#endif
