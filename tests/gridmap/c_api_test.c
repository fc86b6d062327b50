/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled as C99: the header alone, every function, statuses and messages. */
#include "dyngrid/gridmap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../expect.h"

static void topology(void) {
  int p = 0, q = 0, count = 0, values[8];
  const int rows[] = {2, 4}, cols[] = {2, 4};
  const double seconds[] = {16, 4};
  double time = 0;
  char why[8];
  dyngrid_topology_request request;
  EXPECT(dyngrid_topology(14, 2, 2, 0, 0, &p, &q) == DYNGRID_SUCCESS && p == 3 && q == 4);
  EXPECT(dyngrid_topology(36, 1, 1, 5, 5, &p, &q) == DYNGRID_SUCCESS && p == 6 && q == 6);
  EXPECT(dyngrid_topology(0, 2, 2, 0, 0, &p, &q) == DYNGRID_ERR_ARGUMENT && p == 6);
  EXPECT(strstr(dyngrid_last_message(), "procs is 0") != NULL);
  EXPECT(dyngrid_topology(4, 2, 2, 3, 3, &p, &q) == DYNGRID_ERR_SHAPE);
  memset(&request, 0, sizeof request);
  request.procs = 14;
  request.prefer = DYNGRID_PREFER_ROWS;
  EXPECT(dyngrid_topology_choose(&request, &p, &q, &time, why, sizeof why) == DYNGRID_SUCCESS && p == 7 && q == 2);
  EXPECT(time == -1 && strcmp(why, "most pr") == 0);
  request.n_times = 2;
  request.time_nprow = rows;
  request.time_npcol = cols;
  request.time_seconds = seconds;
  request.procs = 10;
  EXPECT(dyngrid_topology_choose(&request, &p, &q, &time, NULL, 0) == DYNGRID_SUCCESS && p == 3 && q == 3);
  EXPECT(time > 4 && time < 16);
  request.time_seconds = NULL;
  EXPECT(dyngrid_topology_choose(&request, &p, &q, NULL, NULL, 0) == DYNGRID_ERR_NULL);
  EXPECT(dyngrid_topology_choose(NULL, &p, &q, NULL, NULL, 0) == DYNGRID_ERR_NULL);
  EXPECT(dyngrid_parse_set("4:32:*2", 8, values, &count) == DYNGRID_SUCCESS && count == 4 && values[3] == 32);
  EXPECT(dyngrid_parse_set("1:100", 8, values, &count) == DYNGRID_ERR_SHAPE && count == 100);
  EXPECT(dyngrid_parse_set("x", 8, values, &count) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_parse_set(NULL, 8, values, &count) == DYNGRID_ERR_NULL);
}

static void placement(void) {
  const int wanted[] = {0, 4, 1, 2, 5, 3};
  int grid[9];
  int64_t moved, retained, max_in, max_out, kept[9], in[9], out[9], sum = 0;
  const int64_t six = 6, four = 4;
  const dyngrid_axis from = {12, &six, 1, 0, 2}, to = {12, &four, 1, 0, 3};
  dyngrid_axis bad = from;
  int64_t bonus[4] = {0, 0, 0, 1000000};
  int i;
  EXPECT(dyngrid_place(1, 4, 1, 6, 12, 12, 0, 0, DYNGRID_LOCAL2, grid, NULL, NULL, NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(memcmp(grid, wanted, sizeof wanted) == 0);
  EXPECT(dyngrid_place(2, 2, 3, 3, 36, 36, 0, 0, DYNGRID_OPTIMAL, grid, &moved, &retained, &max_in, &max_out) ==
         DYNGRID_SUCCESS);
  EXPECT(moved == 720 && retained == 576);
  EXPECT(dyngrid_place(2, 2, 3, 3, 36, 36, 1, 1, 17, grid, &moved, NULL, NULL, NULL) == DYNGRID_ERR_ARGUMENT &&
         moved == 720);
  EXPECT(dyngrid_place(0, 2, 3, 3, 36, 36, 1, 1, DYNGRID_GLOBAL, grid, NULL, NULL, NULL, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_place_axes(&from, &from, &to, &to, DYNGRID_OPTIMAL, NULL, grid, &moved, &retained, &max_in, &max_out,
                            kept, in, out) == DYNGRID_SUCCESS);
  EXPECT(moved == 80 && retained == 64);
  for (i = 0; i < 9; ++i) sum += kept[i];
  EXPECT(sum == 64);
  EXPECT(dyngrid_place_axes(&to, &to, &from, &from, DYNGRID_OPTIMAL, NULL, grid, &moved, NULL, NULL, NULL, NULL, NULL,
                            NULL) == DYNGRID_SUCCESS);
  EXPECT(moved == 80);
  EXPECT(dyngrid_place_axes(&from, &from, &from, &from, DYNGRID_OPTIMAL, bonus, grid, &moved, NULL, NULL, NULL, NULL,
                            NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(moved == 0);
  /* 1x2 -> 2x4: process 0 stays at (0,0), unless asked otherwise */
  EXPECT(dyngrid_place(1, 2, 2, 4, 8, 8, 1, 1, DYNGRID_OPTIMAL, grid, &moved, NULL, NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(grid[0] == 0 && moved == 48);
  EXPECT(dyngrid_place(1, 1, 1, 3, 6, 6, 0, 0, DYNGRID_LOCAL2, grid, NULL, NULL, NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(grid[0] == 0);
  EXPECT(dyngrid_place(1, 1, 1, 3, 6, 6, 0, 0, DYNGRID_LOCAL2 | DYNGRID_FREE_FIRST, grid, NULL, NULL, NULL, NULL) ==
         DYNGRID_SUCCESS);
  EXPECT(grid[0] == 1 && grid[1] == 0);
  EXPECT(dyngrid_place_axes(&from, &from, &to, &to, DYNGRID_OPTIMAL | DYNGRID_FREE_FIRST, NULL, grid, &moved, NULL,
                            NULL, NULL, NULL, NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(moved == 80);
  bad.sizes = NULL;
  EXPECT(dyngrid_place_axes(&bad, &from, &to, &to, DYNGRID_OPTIMAL, NULL, grid, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL) == DYNGRID_ERR_NULL);
  bad = from;
  bad.n = 13;
  EXPECT(dyngrid_place_axes(&bad, &from, &to, &to, DYNGRID_OPTIMAL, NULL, grid, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL) == DYNGRID_ERR_SHAPE);
}

static void mapping(void) {
  const double speeds[] = {2, 4, 1, 2}, available[] = {3, 5, 2, 8}, slow[] = {1, -1};
  int order[4], n_chosen = -1, chosen[4], p = 0, q = 0, new_order[8], row_order[2], col_order[2];
  const int same[] = {2, 3, 0, 1};
  double r[2], c[2], t = 0, whole = 0, used = -1;
  int64_t rows[8], cols[8], retained = 0;
  const int64_t five = 5, fives[] = {5, 5};
  const dyngrid_axis axis = {10, &five, 1, 0, 2};
  EXPECT(dyngrid_map(2, 2, speeds, 300, 600, DYNGRID_MAP_SVD, order, r, c, rows, cols, &t, &whole) == DYNGRID_SUCCESS);
  EXPECT(order[0] == 1 && order[3] == 2 && rows[0] == 200 && rows[1] == 100 && cols[0] == 400 && cols[1] == 200);
  EXPECT(fabs(t - 20000) < 1e-6 && fabs(whole - 20000) < 1e-6 && fabs(r[0] * c[0] - 4) < 1e-9);
  EXPECT(dyngrid_map(2, 2, speeds, 300, 600, DYNGRID_MAP_BEST, NULL, NULL, NULL, NULL, NULL, &t, NULL) ==
             DYNGRID_SUCCESS &&
         fabs(t - 20000) < 1e-6);
  EXPECT(dyngrid_map_in_place(2, 2, speeds, 300, 600, DYNGRID_MAP_BEST, r, c, rows, cols, &t, NULL) == DYNGRID_SUCCESS);
  EXPECT(rows[0] == 200 && cols[0] == 200);
  EXPECT(dyngrid_map(1, 2, slow, 3, 6, DYNGRID_MAP_BEST, NULL, NULL, NULL, NULL, NULL, &t, NULL) ==
         DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_map(1, 2, NULL, 3, 6, DYNGRID_MAP_BEST, NULL, NULL, NULL, NULL, NULL, &t, NULL) == DYNGRID_ERR_NULL);
  EXPECT(dyngrid_map(1, 2, speeds, 3, 6, 5, NULL, NULL, NULL, NULL, NULL, &t, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_natural_blocks(9, 4, speeds, rows) == DYNGRID_SUCCESS && rows[0] == 2 && rows[1] == 4 && rows[2] == 1);
  EXPECT(dyngrid_natural_blocks(9, 0, speeds, rows) == DYNGRID_ERR_ARGUMENT);
  const double costs[6] = {1, 1, 1, 1, 4, 5}, unequal[3] = {1, 1, 2}; /* 4, 4 and 5/2: all others are slower */
  int64_t first[4], first_row[3], first_col[3];
  double slowest;
  EXPECT(dyngrid_cut(6, costs, 3, unequal, first, &slowest) == DYNGRID_SUCCESS && slowest == 4);
  EXPECT(first[0] == 0 && first[1] == 4 && first[2] == 5 && first[3] == 6);
  EXPECT(dyngrid_cut(6, costs, 2, NULL, first, &slowest) == DYNGRID_SUCCESS && first[1] == 5 && slowest == 8);
  EXPECT(dyngrid_cut(0, NULL, 2, NULL, first, &slowest) == DYNGRID_SUCCESS && first[2] == 0 && slowest == 0);
  EXPECT(dyngrid_cut(6, NULL, 2, NULL, first, NULL) == DYNGRID_ERR_NULL);
  EXPECT(dyngrid_cut(6, costs, 0, NULL, first, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_cut_cells(2, 3, costs, 2, 1, NULL, first_row, first_col, &slowest) == DYNGRID_SUCCESS);
  EXPECT(first_row[1] == 1 && first_col[1] == 3 && slowest == 10);
  EXPECT(dyngrid_cut_cells(2, 3, costs, 1, 2, NULL, first_row, first_col, &slowest) == DYNGRID_SUCCESS);
  EXPECT(first_row[1] == 2 && first_col[1] == 2 && slowest == 7);
  EXPECT(dyngrid_cut_cells(2, 3, costs, 0, 2, NULL, first_row, first_col, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_cut_cells(-2, 3, costs, 1, 2, NULL, first_row, first_col, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_order_grid(&axis, &axis, 2, fives, 2, fives, same, row_order, col_order, &retained) ==
         DYNGRID_SUCCESS);
  EXPECT(retained == 100 && row_order[0] == 1 && col_order[0] == 0);
  const int64_t half = INT64_C(1) << 31, halves[] = {half, half}, beyond[] = {INT64_MAX, INT64_MAX, 12}; /* 2^64 + 10 */
  const dyngrid_axis large = {2 * half, &half, 1, 0, 2}, many = {10, &five, 1, 0, 1 << 16};
  const int six[] = {0, 1, 2, 3, 4, 5};
  EXPECT(dyngrid_order_grid(&large, &large, 2, halves, 2, halves, same, row_order, col_order, &retained) ==
         DYNGRID_ERR_ARGUMENT);
  EXPECT(strstr(dyngrid_last_message(), "4294967296 x 4294967296, expected fewer than 2^61 elements") != NULL);
  EXPECT(dyngrid_order_grid(&many, &many, 2, fives, 2, fives, same, row_order, col_order, &retained) ==
         DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_order_grid(&axis, &axis, 3, beyond, 2, fives, six, NULL, NULL, NULL) == DYNGRID_ERR_ARGUMENT);
  EXPECT(dyngrid_select(2, 2, speeds, 4, available, 7, DYNGRID_SELECT_BEST, 300, 300, &n_chosen, chosen, &p, &q,
                        new_order, rows, cols, &used, &t) == DYNGRID_SUCCESS);
  EXPECT(n_chosen >= 0 && n_chosen <= 4 && used <= 7 && p * q == 4 + n_chosen && t > 0);
  EXPECT(dyngrid_select(2, 2, speeds, 0, NULL, 7, DYNGRID_SELECT_LOCAL, 300, 300, &n_chosen, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL, NULL) == DYNGRID_SUCCESS);
  EXPECT(n_chosen == 0);
  EXPECT(dyngrid_select(2, 2, speeds, 4, NULL, 7, DYNGRID_SELECT_LOCAL, 300, 300, &n_chosen, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL, NULL) == DYNGRID_ERR_NULL);
}

static void balance(void) {
  const double speeds[] = {1, 1, 1, 0.5, 1}, shares[] = {1, 1, 1, 0.5, 2}, stopped[] = {1, 0, 1, 1, 1};
  const int places[] = {3, 2, 1, 0};
  int action = -1, p = 0, q = 0, order[5];
  int64_t rows[5], cols[5], payoff = 0;
  double now = 0, then = 0, change = 0;
  char why[200];
  dyngrid_balance_request request = {0};
  request.nprow = request.npcol = 2;
  request.n_processes = 4;
  request.speeds = speeds;
  request.m = request.n = 6000;
  request.change_s = 10;
  EXPECT(dyngrid_balance_plan(&request, &action, &p, &q, order, rows, cols, &now, &then, &change, &payoff, why,
                              sizeof why) == DYNGRID_SUCCESS);
  EXPECT(action == DYNGRID_BALANCE_REMOVE && p == 1 && q == 3 && rows[0] == 6000 && cols[1] == 2000 && payoff == 15);
  EXPECT(fabs(now - 2) < 1e-9 && fabs(then - 4.0 / 3) < 1e-9 && fabs(change - 10) < 1e-9);
  EXPECT(strstr(why, "exceeds the cost after 15 of 50 steps") != NULL);
  request.steps_left = 15; /* a hundredth of their time must be saved, too */
  EXPECT(dyngrid_balance_plan(&request, &action, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &payoff, NULL, 0) ==
         DYNGRID_SUCCESS);
  EXPECT(action == DYNGRID_BALANCE_STAY && payoff == -1);
  request.steps_left = 200;
  request.n_processes = 5; /* the fifth sleeps */
  EXPECT(dyngrid_balance_plan(&request, &action, &p, &q, order, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) ==
         DYNGRID_SUCCESS);
  EXPECT(action == DYNGRID_BALANCE_REPLACE && p * q == 4 && order[3] == 4);
  request.n_processes = 4;
  request.places = places; /* the slow one stands at (0,0) */
  EXPECT(dyngrid_balance_plan(&request, &action, &p, &q, order, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) ==
         DYNGRID_SUCCESS);
  EXPECT(action == DYNGRID_BALANCE_REMOVE && order[0] != 3 && order[1] != 3 && order[2] != 3);
  request.places = NULL;
  request.n_processes = 5;
  request.shares = shares;
  EXPECT(dyngrid_balance_plan(&request, &action, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) ==
         DYNGRID_ERR_ARGUMENT);
  EXPECT(strstr(dyngrid_last_message(), "share of process 4 is 2") != NULL);
  request.shares = NULL;
  request.speeds = stopped;
  EXPECT(dyngrid_balance_plan(&request, &action, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) ==
         DYNGRID_ERR_ARGUMENT);
  request.speeds = NULL;
  EXPECT(dyngrid_balance_plan(&request, &action, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) ==
         DYNGRID_ERR_NULL);
  EXPECT(dyngrid_balance_plan(NULL, &action, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0) ==
         DYNGRID_ERR_NULL);
}

int main(void) {
  topology();
  balance();
  placement();
  mapping();
  EXPECT(dyngrid_payoff_point(48.94, 1.624, 1.130) == 100);
  EXPECT(dyngrid_payoff_point(1, 1, 2) == -1);
  EXPECT(dyngrid_payoff_point(-1, 2, 1) == -1);
  EXPECT(strstr(dyngrid_last_message(), "t_resize is -1") != NULL);
  EXPECT(dyngrid_resize_cost(48.94, 1.130) == 44);
  EXPECT(strcmp(dyngrid_status_string(DYNGRID_ERR_SHAPE), "shapes do not fit") == 0);
  EXPECT(strcmp(dyngrid_status_string(77), "unknown status") == 0);
  return failures != 0;
}
