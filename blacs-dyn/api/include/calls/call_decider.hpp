// SPDX-License-Identifier: BSD-3-Clause
// What libdyngrid-calls.so may use of libdyngrid.so. libdyngrid takes ScaLAPACK's names and can carry out a call at
// another place; a CallDecider decides where. Virtual functions cross the border, so one symbol is exported.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "advise/calls.hpp"
#include "advise/machine.hpp"
#include "dyngrid/status.h"

namespace control {
class CallsBoard;
}

namespace blacs_dyn::calls {

/// The problem of a call.
struct CallProblem {
  std::string size;        ///< "4000x4000"
  advise::CallPlace place; ///< where the caller has the operands
  std::int64_t n = 0;      ///< the largest size
  int aspect = 0;          ///< problems of one aspect differ in size only
  double work = 0;         ///< operations
  int processes = 0;       ///< of the call's context
};

struct CallAgreement {
  bool is_same = false;       ///< all processes of the context make the same call
  bool is_acceptable = false; ///< and each can see nothing wrong with it
  bool is_first = false;      ///< they are those that called first
  bool holds() const { return is_same && is_acceptable; }
};

/// Seconds of one process that become those of the slowest one when a call is agreed on.
struct CallTimes {
  double run_s = 0, copy_s = 0, undecided_s = 0;
};

struct MovedCall {
  double seconds = 0, run_s = 0; ///< of all, of the routine alone
  double moved_bytes = 0;        ///< there and back
};

/// A call on this process. Collective over its context, unless marked as local.
class CallInHand {
public:
  virtual ~CallInHand() = default;
  virtual const std::string& routine() const = 0; ///< pdgetrf. Local
  virtual std::int64_t hash() const = 0;          ///< that of calls which differ in nothing but their data. Local
  virtual const void* callers() const = 0;        ///< names the processes of the context, in its order. Local
  virtual const CallProblem& problem() = 0;       ///< Local
  /// All operands are there already, in square blocks of its nb. Local
  virtual bool lies_at(const advise::CallPlace& place) const = 0;
  /// Whether all processes make the same call under the same rule; `times` become those of the slowest process.
  virtual CallAgreement agree(const advise::CallRule& rule, CallTimes& times) = 0;
  /// ScaLAPACK's routine where the caller has the operands: its seconds.
  virtual double run_here() = 0;
  /// On copies at another place. Empty where it was not moved: there was no memory, or the routine does not accept the
  /// operands there. The caller's operands are untouched then.
  virtual std::optional<MovedCall> run_at(const advise::CallPlace& place) = 0;
  /// The call scaled down to its largest size n, on other operands, at a place. `seconds` is the better of two times,
  /// of the slowest process, NaN without memory.
  struct Measured {
    double seconds = 0, spent_s = 0, work = 0;
  };
  virtual Measured measure_at(const advise::CallPlace& place, std::int64_t n) = 0;
  /// What messages and copies take between the processes of the context, measured in some 10 ms; the default figures
  /// where memory is short. The same on all of them.
  virtual advise::Machine measure_machine() const = 0;
  /// Seconds that the plans of the copies there and back predict. Local.
  virtual double predicted_copies(const advise::CallPlace& place, const advise::Machine& machine) const = 0;
};

/// In libdyngrid-calls.so.
class CallDecider {
public:
  virtual ~CallDecider() = default;
  /// Asked once for each routine. Local.
  virtual bool wants(const std::string& routine) const = 0;
  /// Carries out a call of such a routine, unless the program itself has set where it runs. Collective over its
  /// context.
  virtual void carry_out(CallInHand& call) = 0;
};

/// In libdyngrid.so. All local.
class CallHost {
public:
  virtual ~CallHost() = default;
  virtual control::CallsBoard& board() = 0;
  virtual bool prints_here() const = 0; ///< the process that prints and keeps
  /// By the process that prints, once for each `what`.
  virtual void print_once(const std::string& what, const std::string& text) = 0;
  virtual bool is_verbose() const = 0;
  /// The job's socket is closed, of a program that never calls dyngrid.
  virtual void hide() = 0;
  virtual std::string job() const = 0; ///< empty: it has no socket
  virtual std::string program() const = 0;
};

} // namespace blacs_dyn::calls

/// From here on calls that `decider` selects come to it; it outlives the process's last call. Local.
extern "C" DYNGRID_API blacs_dyn::calls::CallHost* dyngrid_calls_attach(blacs_dyn::calls::CallDecider* decider);
