// SPDX-License-Identifier: BSD-3-Clause
// checkpoint CASE FILE: the contents of a checkpoint, and the results of errors.
// write GRID: five types and an uneven matrix on GRID, grown to it, written
// read GRID: the same read on GRID: every element, the shared state; two of the matrices not made by the program
// again: written over and over with the step in every element, until it is killed
// whole: the file of `again` is one step throughout (or missing: the answer is on stdout)
// refuse: the file is damaged, cut short, or of another program: same status on all ranks, nothing changed
// nowhere: a missing folder, a file that cannot be written
#include <cstring>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "dyngrid/checkpoint.h"
#include "dyngrid/layout.h"
#include "follow.hpp"

namespace {

using follow::expect;

struct Case {
  char type;
  int m, n, mb, nb;
};
const std::vector<Case> cases{{'s', 23, 17, 3, 2},  {'d', 1037, 1541, 4, 5}, {'c', 1, 29, 2, 3},
                              {'z', 19, 19, 19, 1}, {'i', 64, 2, 8, 1},      {'d', 0, 7, 2, 2}};

std::string name_of(std::size_t k) {
  return k == 2 ? "a/strange.name %" : std::string("matrix ") + std::to_string(k);
}

/// Rows or columns in shares of 1 : 2 : 3 ...
std::int64_t by_number(void*, char axis, std::int64_t length, int nprow, int npcol, std::int64_t* sizes) {
  const int nprocs = axis == 'R' ? nprow : npcol;
  std::int64_t left = length;
  for (int p = 0; p < nprocs && sizes; ++p) {
    sizes[p] = p + 1 < nprocs ? length * 2 * (p + 1) / (nprocs * (nprocs + 1)) : left;
    left -= sizes[p];
  }
  return nprocs;
}

double uneven_value(std::int64_t i, std::int64_t j) {
  return static_cast<double>(1000 * i + j);
}

/// Of a matrix by the rule above: local index, global row and column of every element of mine.
template <class F> void for_uneven(const dyngrid_matrix* u, F&& f) {
  int nprow = 0, npcol = 0, myrow = 0, mycol = 0;
  dyngrid_grid(&nprow, &npcol, &myrow, &mycol);
  if (myrow < 0) return;
  std::int64_t m_loc = 0, n_loc = 0, lld = 0, first_row = 0, first_col = 0;
  dyngrid_matrix_shape(u, &m_loc, &n_loc, &lld);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(nprow)), cols(static_cast<std::size_t>(npcol));
  by_number(nullptr, 'R', 61, nprow, npcol, rows.data());
  by_number(nullptr, 'C', 47, nprow, npcol, cols.data());
  for (int p = 0; p < myrow; ++p) first_row += rows[static_cast<std::size_t>(p)];
  for (int q = 0; q < mycol; ++q) first_col += cols[static_cast<std::size_t>(q)];
  expect(m_loc == rows[static_cast<std::size_t>(myrow)] && n_loc == cols[static_cast<std::size_t>(mycol)],
         "local size of the uneven matrix");
  for (std::int64_t j = 0; j < n_loc; ++j)
    for (std::int64_t i = 0; i < m_loc; ++i) f(i + j * lld, first_row + i, first_col + j);
}

int write(const char* file, int nprow, int npcol) {
  std::vector<dyngrid_matrix*> a(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k)
    expect(!dyngrid_matrix_create(name_of(k).c_str(), cases[k].type, cases[k].m, cases[k].n, cases[k].mb, cases[k].nb,
                                  &a[k]),
           "create");
  dyngrid_matrix* u = nullptr;
  expect(!dyngrid_matrix_create_by("uneven", 'd', 61, 47, by_number, nullptr, &u), "create uneven");
  int step = 0, nothing = 0;
  std::vector<double> history(3000000);
  expect(!dyngrid_share("step", &step, sizeof step) &&
             !dyngrid_share("history", history.data(), history.size() * sizeof(double)) &&
             !dyngrid_share("nothing", &nothing, 0),
         "share");
  if (!dyngrid_is_newcomer()) {
    for (std::size_t k = 0; k < cases.size(); ++k) follow::fill(a[k], cases[k].type, static_cast<int>(k));
    for_uneven(u, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      static_cast<double*>(dyngrid_local(u))[at] = uneven_value(i, j);
    });
    step = 41;
    for (std::size_t i = 0; i < history.size(); ++i) history[i] = 0.5 * static_cast<double>(i);
    expect(!dyngrid_request(nprow, npcol), "request");
  }
  const int outcome = dyngrid_resize_point();
  expect(outcome >= 0, "resize point");
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  const int status = dyngrid_checkpoint(file);
  expect(status == DYNGRID_SUCCESS, "dyngrid_checkpoint");
  expect(step == 41 && follow::wrong(a[1], 'd', 1) == 0, "data after the checkpoint");
  return dyngrid_finalize();
}

int read(const char* file, int nprow, int npcol, bool with_rule) {
  int step = 0;
  dyngrid_matrix *a = nullptr, *u = nullptr;
  // other block sizes than in the file
  expect(!dyngrid_matrix_create(name_of(1).c_str(), 'd', cases[1].m, cases[1].n, 7, 3, &a) &&
             !dyngrid_share("step", &step, sizeof step),
         "create");
  if (with_rule) expect(!dyngrid_matrix_create_by("uneven", 'd', 61, 47, by_number, nullptr, &u), "create uneven");
  const int* desc = dyngrid_desc(a);
  if (!dyngrid_is_newcomer()) {
    expect(dyngrid_restore(file) == DYNGRID_SUCCESS, "dyngrid_restore");
    int myrow = 0;
    dyngrid_grid(nullptr, nullptr, &myrow, nullptr);
    expect((myrow < 0 || step == 41) && follow::wrong(a, 'd', 1) == 0 && dyngrid_desc(a) == desc && desc[4] == 7,
           "what the program made");
    expect(!dyngrid_request(nprow, npcol), "request");
  }
  // and once more after a change of the grid, over the present contents
  const int outcome = dyngrid_resize_point();
  expect(outcome >= 0, "resize point");
  if (outcome == DYNGRID_LEAVE) return dyngrid_finalize();
  static_cast<double*>(dyngrid_local(a))[0] = -7;
  step = 3;
  expect(dyngrid_restore(file) == DYNGRID_SUCCESS, "dyngrid_restore");
  expect(step == 41 && follow::wrong(a, 'd', 1) == 0, "what the program made, on the other grid");
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (k == 1) continue;
    dyngrid_matrix* other = dyngrid_matrix_find(name_of(k).c_str());
    expect(other && dyngrid_desc(other)[1] == dyngrid_context() && dyngrid_desc(other)[4] == cases[k].mb,
           "what the program did not make is there");
    expect(follow::wrong(other, cases[k].type, static_cast<int>(k)) == 0, "elements of what the program did not make");
  }
  if (with_rule) {
    for_uneven(u, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      expect(static_cast<double*>(dyngrid_local(u))[at] == uneven_value(i, j), "uneven");
    });
  } else {
    const dyngrid_matrix* even = dyngrid_matrix_find("uneven");
    expect(even && dyngrid_desc(even)[0] == 1, "the uneven one in even blocks");
    follow::for_mine(even, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      expect(static_cast<const double*>(dyngrid_local(even))[at] == uneven_value(i, j), "uneven, in even blocks");
    });
  }
  std::vector<double> history(3000000);
  expect(!dyngrid_share("history", history.data(), history.size() * sizeof(double)) &&
             history[2999999] == 0.5 * 2999999,
         "what the program did not share");
  return dyngrid_finalize();
}

/// The file must be the earlier one, and the program unchanged.
void refused(const char* file, int status, const char* word, dyngrid_matrix* a, const int& step) {
  const int got = dyngrid_restore(file);
  int rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  if (rank == 1) std::printf("%s: %s\n", dyngrid_status_string(got), dyngrid_last_message());
  expect(got == status, std::string("status ") + std::to_string(got) + ", expected " + std::to_string(status));
  expect(std::strstr(dyngrid_last_message(), word) != nullptr, std::string("a message with the word ") + word);
  expect(step == 9 && follow::wrong(a, 'd', 5) == 0, "data after a restore that was refused");
}

void copy(const std::string& from, const std::string& to, std::size_t bytes, std::size_t flip) {
  std::ifstream in(from, std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (flip < all.size()) all[flip] = static_cast<char>(all[flip] ^ 0x40);
  std::ofstream(to, std::ios::binary) << all.substr(0, bytes);
}

int refuse(const std::string& file) {
  dyngrid_matrix* a = nullptr;
  int step = 9, rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  expect(!dyngrid_matrix_create("a", 'd', 300, 200, 8, 8, &a) && !dyngrid_share("step", &step, sizeof step), "create");
  follow::fill(a, 'd', 5);
  expect(dyngrid_checkpoint(file.c_str()) == DYNGRID_SUCCESS, "dyngrid_checkpoint");
  struct stat info {};
  stat(file.c_str(), &info);
  const auto size = static_cast<std::size_t>(info.st_size);
  const std::string bad = file + ".bad";
  const auto make = [&](std::size_t bytes, std::size_t flip) {
    MPI_Barrier(dyngrid_comm());
    if (rank == 0) copy(file, bad, bytes, flip);
    MPI_Barrier(dyngrid_comm());
  };
  for (const std::size_t cut : {std::size_t{0}, std::size_t{100}, size / 2, size - 1}) {
    make(cut, size);
    refused(bad.c_str(), DYNGRID_ERR_IO, "not a whole one", a, step);
  }
  make(size, size - 300 * 200 * 4); // in the elements, which fill nearly all of the file
  refused(bad.c_str(), DYNGRID_ERR_IO, "cannot be read", a, step);
  refused("/no/such/file", DYNGRID_ERR_NOT_FOUND, "No such file", a, step);
  dyngrid_matrix* b = follow::create("b", 'd', 3, 3, 1, 1);
  refused(file.c_str(), DYNGRID_ERR_NOT_FOUND, "no matrix \"b\"", a, step);
  expect(!dyngrid_matrix_free(&b) && !dyngrid_matrix_free(&a), "free");
  expect(!dyngrid_matrix_create("a", 'd', 300, 201, 8, 8, &a), "create a, wider");
  follow::fill(a, 'd', 5);
  refused(file.c_str(), DYNGRID_ERR_MISMATCH, "300 x 201 in the program", a, step);
  expect(!dyngrid_matrix_free(&a) && !dyngrid_matrix_create("a", 'd', 300, 200, 8, 8, &a), "create a again");
  follow::fill(a, 'd', 5);
  std::int64_t wide = 0;
  expect(!dyngrid_unshare("step") && !dyngrid_share("step", &wide, sizeof wide), "share step, wider");
  refused(file.c_str(), DYNGRID_ERR_MISMATCH, "8 bytes in the program", a, step);
  expect(dyngrid_restore(nullptr) == DYNGRID_ERR_ARGUMENT, "no path");
  expect(!dyngrid_is_restarted(), "not restarted");
  if (rank == 0) unlink(bad.c_str());
  return dyngrid_finalize();
}

int nowhere(const std::string& file) {
  dyngrid_matrix* a = nullptr;
  int rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  expect(!dyngrid_matrix_create("a", 'd', 30, 20, 8, 8, &a), "create");
  for (const std::string& where :
       {std::string("/no/such/folder/file"), std::string("/dev/full/x"), std::string("/tmp")}) {
    expect(dyngrid_checkpoint(where.c_str()) == DYNGRID_ERR_IO, "status for " + where);
    if (rank == 1) std::printf("%s\n", dyngrid_last_message());
    expect(std::strlen(dyngrid_last_message()) > 20, "a message");
  }
  expect(dyngrid_checkpoint(nullptr) == DYNGRID_ERR_ARGUMENT, "no path");
  // files that another user may put there, in a folder that many write to
  const std::string victim = file + ".victim", partial = file + ".writing";
  if (rank == 0) {
    std::ofstream(victim) << "kept";
    expect(symlink(victim.c_str(), partial.c_str()) == 0, "a link");
  }
  expect(dyngrid_checkpoint(file.c_str()) == DYNGRID_SUCCESS, "a good one afterwards");
  struct stat info {};
  if (rank == 0) {
    std::string word;
    std::ifstream(victim) >> word;
    expect(word == "kept", "the file that the link names is not written");
    expect(lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode), "the checkpoint is a file");
    unlink(victim.c_str());
  }
  expect(stat((file + ".writing").c_str(), &info) != 0, "nothing is left of the others");
  return dyngrid_finalize();
}

/// Every element contains the number of its step.
int again(const char* file, int steps) {
  dyngrid_matrix* a = nullptr;
  int step = 0;
  expect(!dyngrid_matrix_create("a", 'd', 700, 300, 16, 16, &a) && !dyngrid_share("step", &step, sizeof step),
         "create");
  for (; step < steps; ++step) {
    follow::fill(a, 'd', step);
    expect(dyngrid_checkpoint(file) == DYNGRID_SUCCESS, "dyngrid_checkpoint");
  }
  return dyngrid_finalize();
}

int whole(const char* file) {
  dyngrid_matrix* a = nullptr;
  int step = -1, rank = 0;
  MPI_Comm_rank(dyngrid_comm(), &rank);
  expect(!dyngrid_matrix_create("a", 'd', 700, 300, 5, 7, &a) && !dyngrid_share("step", &step, sizeof step), "create");
  const int status = dyngrid_restore(file);
  if (status == DYNGRID_ERR_NOT_FOUND) {
    if (rank == 0) std::printf("none\n");
  } else {
    expect(status == DYNGRID_SUCCESS, "dyngrid_restore");
    expect(follow::wrong(a, 'd', step) == 0, "one step throughout");
    if (rank == 0) std::printf("step %d\n", step);
  }
  return dyngrid_finalize();
}

} // namespace

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  const std::string file = argc > 2 ? argv[2] : "";
  const std::string option = argc > 3 ? argv[3] : "";
  expect(dyngrid_init() == DYNGRID_SUCCESS, "dyngrid_init");
  int nprow = 1, npcol = 1;
  std::sscanf(option.c_str(), "%dx%d", &nprow, &npcol);
  if (kind == "write") return write(file.c_str(), nprow, npcol);
  if (kind == "read") return read(file.c_str(), nprow, npcol, argc > 4);
  if (kind == "again") return again(file.c_str(), std::atoi(option.c_str()));
  if (kind == "whole") return whole(file.c_str());
  if (kind == "refuse") return refuse(file);
  if (kind == "nowhere") return nowhere(file);
  follow::fail("which case?");
}
