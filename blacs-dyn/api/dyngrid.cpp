// SPDX-License-Identifier: BSD-3-Clause
// Everything in libdyngrid.so comes from the libraries of the rooms; a shared library needs a source of its own.
