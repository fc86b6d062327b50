// SPDX-License-Identifier: BSD-3-Clause
// Everything in libdyngrid.so comes from the three module libraries; a shared library needs a source of its own.
