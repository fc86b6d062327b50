// SPDX-License-Identifier: BSD-3-Clause
// One call of a routine of ScaLAPACK, which can be agreed on and carried out at another place.
#pragma once
#include <cstdint>
#include <string>

#include "calls/call_decider.hpp"
#include "grid/calls/elsewhere.hpp"
#include "pblas/stock_calls.hpp"

namespace blacs_dyn::calls {

/// A question for the work space, or one with wrong lengths that may be one. Local.
bool is_query(const Routine& routine, const Arguments& a);

class Call final : public CallInHand {
public:
  /// Looks at the arguments as far as the quickest decision needs. Local.
  /// @param is_asked  the program itself has set where it runs (dyngrid_run_on), on this process
  Call(const pblas::StockCall& stock, const Routine& routine, const std::string& name, bool is_asked);
  const Standing& here() const { return here_; } ///< outside: nothing else may be called

  const std::string& routine() const override { return name_; }
  std::int64_t hash() const override { return hash_; }
  const void* callers() const override { return callers_; }
  const CallProblem& problem() override;
  bool lies_at(const CallPlace& place) const override;
  CallAgreement agree(const advise::CallRule& rule, CallTimes& times) override;
  double run_here() override;
  std::optional<MovedCall> run_at(const CallPlace& place) override;
  Measured measure_at(const CallPlace& place, std::int64_t n) override;
  advise::Machine measure_machine() const override;
  double predicted_copies(const CallPlace& place, const advise::Machine& machine) const override;

private:
  char type() const { return name_[1]; }
  const Arguments& arguments() const { return stock_.arguments; }
  Everyone everyone() const { return {comm_, callers_->size, here_.ctxt, here_}; }
  Standing standing_at(const CallPlace& at) const { return place_context(*callers_, at.grid, here_, comm_); }
  std::int64_t hash_of_arguments() const;
  bool has_own_work() const;
  bool has_only_numbers() const;

  const pblas::StockCall& stock_;
  const Routine& routine_;
  const std::string& name_;
  bool is_asked_;
  Problem what_;
  Standing here_;
  MPI_Comm comm_ = MPI_COMM_NULL; ///< of the context
  Callers* callers_ = nullptr;
  std::int64_t n_ = 0, hash_ = 0;
  std::optional<CallProblem> problem_;
};

/// To `rule`, a fixed place, as the program asked. Collective over the context.
void run_as_asked(Call& call, const advise::CallRule& rule);

} // namespace blacs_dyn::calls
