// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace blacs_dyn {

/// A released process must not exit before the launcher has closed its end of the PMIx connection
/// (docs/decisions/0012).
///
///     linger_prepare();   // before MPI_Finalize: keeps a duplicate of the socket
///     MPI_Finalize();
///     linger_wait();      // sleeps until the launcher has closed its end, 5 s at most; does nothing when nothing was
///     prepared
///
/// Local. linger_prepare also arranges for linger_wait at exit, in case it is not called.
void linger_prepare();
void linger_wait();

} // namespace blacs_dyn
