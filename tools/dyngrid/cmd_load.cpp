// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "command.hpp"
#include "control/load_reader.hpp"
#include "text.hpp"

namespace command {
namespace {

struct Options {
  double seconds = 1;
  bool self_test = false, json = false;
};

/// One thread that computes meanwhile: what it gets is what a process of a grid would get here.
control::Load measure(control::LoadSource source, double seconds) {
  control::LoadReader reader(source);
  const base::Deadline end(seconds);
  while (!end.is_over()) {
  }
  return reader.look();
}

void run(const Options& o) {
  if (!o.self_test) throw Failure("got no question, expected --self-test");
  const control::LoadSources sources = control::test_load_sources();
  const control::Load load = measure(sources.share, o.seconds);
  if (print_json(o.json, {{"source", to_string(sources.share)},
                          {"text", sources.text},
                          {"throttling", sources.has_throttling},
                          {"steal", sources.has_steal},
                          {"competitors", sources.has_competitors},
                          {"share", load.share},
                          {"waited", load.waited},
                          {"throttled", load.throttled},
                          {"stolen", load.stolen},
                          {"competing", load.competing}}))
    return;
  const auto known = [](bool is_known) { return is_known ? "known" : "not known here"; };
  std::printf("share       from %s\n", sources.text.c_str());
  std::printf("quota       %s (cpu.stat of the control group)\n", known(sources.has_throttling));
  std::printf("stolen      %s (/proc/stat)\n", known(sources.has_steal));
  std::printf("competitors %s (/proc/stat)\n", known(sources.has_competitors));
  std::printf(
      "here        %.2f of a processor: %.0f %% of the time in the queue, %.0f %% without quota, %.0f %% stolen, "
      "%.3g processes compete\n",
      load.share, 100 * load.waited, 100 * load.throttled, 100 * load.stolen, load.competing);
}

} // namespace

void add_load(CommandLine& root) {
  CommandLine& app = root.add_command("load", "What part of a processor a process really gets here");
  auto o = std::make_shared<Options>();
  app.add_flag("--self-test", o->self_test, "which of the kernel's figures can be trusted, and what this process gets");
  app.add_option("--seconds", o->seconds, "so long it computes to find that out")
      .check(base::in_range(0.01, 3600.0))
      .show_default();
  app.add_flag("--json", o->json, "print one JSON object");
  app.action([o] { run(*o); });
}

} // namespace command
