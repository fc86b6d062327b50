// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace blacs_dyn {

/// A released process must not exit before the launcher has closed its end of the PMIx connection: the PMIx 4.2.2
/// server may close the socket of a dead process without removing its event. The next process whose connection gets
/// that descriptor is never read and hangs in MPI_Init, once in some hundred changes. A fixed sleep would be too long
/// in most cases and too short on a busy machine. PMIx 5.0.7 does not need this, and it does no harm there.
///
///     linger_prepare();   // before MPI_Finalize: keeps a duplicate of the socket
///     MPI_Finalize();
///     linger_wait();      // sleeps until the launcher has closed its end, 5 s at most; does nothing when nothing was
///     prepared
///
/// Local. linger_prepare also arranges for linger_wait at exit, in case it is not called. A fork of the process waits
/// for nothing.
void linger_prepare();
void linger_wait();

} // namespace blacs_dyn
