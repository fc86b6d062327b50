// SPDX-License-Identifier: BSD-3-Clause
// The tuned constants, a struct for each decision. Limits on memory and computing time stand where they are used.
#pragma once
#include <cstddef>
#include <cstdint>

namespace advise {

/// What a step usually takes.
struct UsualRules {
  std::size_t kept = 9; ///< the newest ones: their median ignores four disturbed ones
  std::size_t few = 3;  ///< of fewer the least counts: a first one may fill caches
};

/// What share of its processor a process gets, and when that has changed for good. docs/decisions/0048.
struct LoadRules {
  double period_s = 0.4;     ///< of samples: one takes 0.3 ms
  double wanted_s = 0.05;    ///< of a processor, requested until a sample counts: of less the share scatters
  double least_share = 1e-3; ///< that is reported and planned with: times are divided by it
  double calm_share = 0.9;   ///< above it nothing takes much of a processor, and shares scatter by as much
  double asleep_part = 0.02; ///< of the wall time: of a process that wants less, its own times have no meaning
  double marked_s = 1e-3;    ///< of marked work between two samples: less is too short to measure
  double stopped_s = 1;      ///< a thread that wakes so late was stopped: a loaded host is late too, by less
  // ---- a lasting change
  double changed = 0.1; ///< of a processor: shares of an unloaded one scatter by as much
  int needed = 3;       ///< samples that differ, all up or all down: one or two may be scatter
  int of = 5;           ///< the last samples, among which they are
  // ---- speeds by marked work
  double piece_s = 0.01;  ///< of the processor: a shorter piece is joined with the next one
  std::size_t pieces = 5; ///< the newest ones, of which the best counts: a disturbance only makes one slower
  // ---- questions of clients
  double asked_s = 5; ///< after a question, loads are gathered for so long: a client that watches asks again sooner
};

/// Whether work is redistributed, and processes leave the grid or come back. docs/decisions/0045.
struct BalanceRules {
  // ---- whether a change is worth it
  double gain = 0.05;           ///< least part of a step that is saved
  double sure_part = 0.5;       ///< of that gain: enough where nothing is predicted
  double errors = 2;            ///< times the error of a step, which has to be saved, too
  double payoff_part = 0.5;     ///< the cost is saved within this part of the steps, where their number is a guess
  double worth = 0.01;          ///< where that is known: least part of the time left that is saved, the change included
  double seen_s = 2;            ///< a load has gone for so long when that is seen
  double calm_s = 10;           ///< a sleeping process returns only after so long without a competitor
  double soon_s = 60;           ///< a process that left less than this ago
  double soon_factor = 2;       ///< must bring the gain times this, in the time divided by this
  std::int64_t steps_left = 50; ///< where the number is not known

  // ---- when loads are gathered
  double gather_s = 1; ///< at most so often: beside that, an all-gather is short
  double gather_near_s =
      0.25;                   ///< the same while a share is changing, or a load has to last longer before a change pays
  double near_s = 5;          ///< a load that has lasted for so long does not change a decision so soon
  double asleep_s = 2;        ///< a sleeping process reports so often that nothing has changed
  double asleep_news_s = 1;   ///< and at most so often that something has: a share needs samples
  double asleep_share = 0.05; ///< of a processor: a share that differs by less is no news
  double silent_s = 6;        ///< three such reports are missing: the process may be stopped, and all would wait for it

  // ---- when to decide
  double settled_within = 0.1; ///< of a processor: the last sample is so near the median, so the share is not changing
  double settled_s = 5;        ///< nothing has changed for so long: then a single sample does not matter
  double again_s = 10;         ///< since the last decision: which sleeping process may return changes with time alone
  double costs_s = 2;          ///< the same with new costs of rows or columns, which a program may report at each step
  double decision_part = 0.05; ///< of the time at most, since all processes wait for a decision
  double longer_held = 1.25;   ///< times as long as at the last decision, a load has lasted: a change saves more

  // ---- which steps count
  std::size_t last_steps = 9;   ///< the newest ones: their median ignores four disturbed ones
  std::size_t sure_steps = 3;   ///< fewer are not remembered as measured: of them the usual time is the least
  std::size_t judged_steps = 5; ///< after a balance, before predicted and measured steps are compared
  double least_size = 0.05;     ///< of the usual size of a step: of smaller ones, more than work decides the time
  double unseen_s = 1; ///< the last steps: a load that has just begun slows them before the monitor has seen it

  // ---- what is the same, relative
  double same_conditions = 0.05; ///< work and shares of two observations: steps scatter by as much
  double same_speeds = 0.1;      ///< the time of a step counts as the same: shares are known to about this

  // ---- errors of predicted steps, relative
  double usual_error = 0.03; ///< without any experience
  double error_half_s = 20;  ///< half of the rest is forgotten: something else may have slowed a step down once

  // ---- processes with a competitor
  double competes_below = 0.6; ///< of the largest share in the grid: one competitor leaves a half
  double competes_most = 1.25; ///< times the smallest share: such processes share the longest step
  double same_part = 0.05;     ///< relative; of parts of work: the newest step with such a part counts
  double parts_apart = 1.3;    ///< factor between parts that separate waiting from work: steps scatter by a few percent
  double same_load = 0.2;      ///< relative: steps of one load agree with the prediction within that
  double least_waiting = 0.1;  ///< of a step: less may be scatter
};

/// How much of a grid the rest of a factorization needs.
struct FactorRules {
  std::int64_t least_width = 128; ///< rows and columns of a process: two panels' width
  int times_fewer = 2;            ///< processes: each change moves the whole matrix
};

/// Which layout of a phase is tried next, and when a plan is made anew. docs/decisions/0063.
struct PhaseRules {
  std::size_t tries = 2;   ///< of a candidate before all are planned: a first run may fill caches
  std::size_t settled = 9; ///< runs after which its time is known: their median ignores four disturbed ones
  std::size_t kept = 15;   ///< the newest runs: older ones may have met other conditions
  double hopeless = 3;     ///< times the quickest candidate at its first try: there is no second one
  double scatter = 0.1;    ///< of one run, relative: an unlucky one may have been so much quicker
  double changed = 0.05;   ///< relative: a time that differs by more from the planned one outdates the plan
};

/// Where a call of an unmodified program runs. docs/decisions/0076.
struct CallChoiceRules {
  double gain = 0.1;               ///< least part of a call that a move saves
  std::size_t kept = 8;            ///< the newest times of one size at one place
  std::int64_t few = 3;            ///< one disturbed call can move the median of fewer
  double quartile = 0.25;          ///< of its times, lower: a disturbance only makes a call longer
  std::size_t quartile_of = 5;     ///< a quartile of fewer lies above the least even where no call was disturbed
  double unsure_of_one = 0.15;     ///< part of one measurement, and of a fitted time; of two half of it, and so on
  double unsure_of_quartile = 3.6; ///< 2 standard errors, 1.36 s / sqrt(n), and s = 4/3 of the quartile less the least
  // ---- when all places are measured
  double worth_measuring_s = 0.3; ///< in calls: a few short ones are not worth it
  double most_measured = 0.01;    ///< of the time in calls, after the first round
  int most_rounds = 4;
  // ---- block sizes of the places that are compared
  int block = 64;        ///< on every grid: the usual one of ScaLAPACK's users
  int small_block = 32;  ///< on the grid there is and on the squarest one: small matrices are spread more evenly
  int large_block = 128; ///< on the squarest grid: fewer messages, where the matrix has enough blocks
};

/// When a change of the grid counts as one that made the program slower.
struct TrialRules {
  std::size_t least_before = 2; ///< steps before it: one has no error of its own
  std::size_t least = 3;        ///< steps after it: of fewer the usual time is the least
  std::size_t most = 9;         ///< steps after which the grid stays
  double slower = 0.05;         ///< relative: less is not worth the way back
  double errors = 3;            ///< standard errors of both times together: chance reaches that about once in 700 times
};

/// Grids that dyngrid chooses, and what a change to them costs.
struct GridRules {
  double aspect = 3;          ///< longest side over the shortest one, where the application has no limits
  double sweet_spot = 0.05;   ///< relative: a smaller grid that is so near the quickest one is as good
  double start_s = 0.2;       ///< of a process group, where none was ever started: docs/results.md "Groups"
  double start_each_s = 0.05; ///< of each of its processes, too
};

/// The predicted time of a step, relative errors.
struct StepRules {
  double model_error = 0.05; ///< of a fit over grids: no formula is better than that
  double error_of_one = 0.1; ///< of a single step, which has no spread of its own
  double terms_error = 0.02; ///< of fitted terms: a better fit does not make another term likely
};

} // namespace advise
