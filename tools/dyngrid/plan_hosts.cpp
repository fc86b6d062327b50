// SPDX-License-Identifier: BSD-3-Clause
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "advise/host_plan.hpp"
#include "base/clock.hpp"
#include "base/command_line.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "base/files.hpp"
#include "base/host_list.hpp"
#include "base/parse_json.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "control/limits.hpp"
#include "shared/blas.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct SpeedsOptions {
  std::string hosts, kernel = "gemm", file, shell = "ssh -o BatchMode=yes -o ConnectTimeout=5";
  int plan = 0, cores = 0;
  double seconds = 1, timeout_s = 60;
  bool here = false, one = false, json = false;
};

std::string unit_of(const std::string& kernel) {
  return kernel == "gemm" ? "GFLOP/s" : kernel == "stream" ? "GB/s" : "runs/s";
}

// ---- one process

/// Work done by `work` in a second, measured over about `seconds`; `amount` is that of one call.
template <class Work> double rate_of(double amount, double seconds, Work&& work) {
  work(); // pages and caches
  const double begun_s = base::monotonic_s();
  double took_s = 0;
  int calls = 0;
  for (; calls == 0 || took_s < seconds; ++calls) {
    work();
    took_s = base::monotonic_s() - begun_s;
  }
  return amount * calls / took_s;
}

double gemm_rate(double seconds) {
  constexpr int n = 384;
  const std::function<void()> multiply = dgemm_of(n);
  if (!multiply) throw Failure("no BLAS in this program; measure with --kernel stream or a program", 1);
  return rate_of(2e-9 * n * n * n, seconds, multiply);
}

double stream_rate(double seconds) {
  constexpr std::size_t n = 4 << 20; // 32 MiB each: beyond the share of a cache
  std::vector<double> a(n, 0), b(n, 1), c(n, 2);
  double factor = 3;
  return rate_of(3e-9 * sizeof(double) * n, seconds, [&] {
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + factor * c[i];
    factor += a[n / 2] > 1e300 ? 1 : 0; // so that the loop is not optimized away
  });
}

double program_rate(const std::string& line) {
  // the shell and all that it starts stay in the group that measure_together() ends; one that is ended by its parent's
  // death takes them with it
  if (getpgrp() == getpid()) signal(SIGTERM, [](int) { kill(0, SIGKILL); });
  const base::FileDescriptor output = base::memory_file("dyngrid-kernel");
  base::Command command{{"/bin/sh", "-c", line}};
  command.out = command.err = output.get();
  const double begun_s = base::monotonic_s();
  if (const int status = base::wait_for(base::start(command)); status != 0)
    throw Failure(fmt::format("--kernel: '{}' ended with status {}: {}", line, status,
                              base::content_of(output.get()).substr(0, 200)),
                  1);
  return 1 / std::max(base::monotonic_s() - begun_s, 1e-9);
}

double measure_one(const SpeedsOptions& o) {
  if (o.kernel == "gemm") return gemm_rate(o.seconds);
  if (o.kernel == "stream") return stream_rate(o.seconds);
  return program_rate(o.kernel);
}

// ---- this host

/// Mean speed of `processes` processes that measure at the same time.
double measure_together(const SpeedsOptions& o, int processes) {
  const base::Command command{
      {base::own_program(), "plan", "hosts", "--one", "--kernel", o.kernel, "--seconds", fmt::format("{}", o.seconds)},
      base::environment_with({"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"})};
  std::vector<std::future<base::Outcome>> runs;
  for (int i = 0; i < processes; ++i)
    runs.push_back(std::async(std::launch::async, [&command, &o] { return base::run(command, o.timeout_s); }));
  double sum = 0;
  for (std::future<base::Outcome>& run : runs) {
    const base::Outcome outcome = run.get();
    const double speed = outcome.status == 0 ? std::strtod(outcome.output.c_str(), nullptr) : 0;
    if (!(speed > 0))
      throw Failure(fmt::format("one of {} measuring processes {}: {}", processes,
                                outcome.timed_out ? "took too long" : "failed", outcome.output.substr(0, 200)),
                    1);
    sum += speed;
  }
  return sum / processes;
}

Json measure_host(const SpeedsOptions& o) {
  const int cores = o.cores > 0 ? o.cores : control::usable_cores(control::CoresOf::caller);
  const double alone = measure_together(o, 1);
  return {{"name", base::host_name()},
          {"cores", cores},
          {"alone", alone},
          {"full", cores > 1 ? measure_together(o, cores) : alone}};
}

// ---- all hosts

using Host = base::HostEntry; ///< without slots: as many as it has cores

std::vector<Host> hosts_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure(fmt::format("--hosts: cannot read '{}'", path));
  std::vector<Host> hosts;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string_view text = base::trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    hosts.push_back(base::parse_host(text, fmt::format("--hosts: line {} of {}", number, path)));
  }
  if (hosts.empty()) throw Failure(fmt::format("--hosts: no host in '{}'", path));
  if (const auto twice = base::named_twice(hosts, base::host_name()))
    throw Failure(fmt::format("--hosts: host {} is twice in '{}', expected it once", *twice, path));
  return hosts;
}

/// The line of an output in which a host says what it measured; null: none. A remote shell may print others.
Json measured_in(const std::string& output) {
  for (const std::string& line : base::split(output, '\n'))
    if (Json answer = base::parse_json_or_null(line); answer.is_object() && answer.contains("alone")) return answer;
  return nullptr;
}

/// A host's answer, requested through the remote shell, which need not reach this one.
/// @throws base::Error, Failure, std::system_error where nothing could be started or measured
Json answer_of(const SpeedsOptions& o, const Host& host) {
  if (base::is_this_host(host.name)) {
    SpeedsOptions here = o;
    here.cores = host.slots.value_or(0);
    Json answer = measure_host(here);
    answer["name"] = host.name;
    return answer;
  }
  base::Command command{base::words_in(o.shell)};
  command.words.push_back(host.name);
  for (const std::string& word :
       {base::own_program(), std::string("plan"), std::string("hosts"), std::string("--here"), std::string("--json"),
        std::string("--kernel"), o.kernel, std::string("--seconds"), fmt::format("{}", o.seconds),
        std::string("--timeout"), fmt::format("{}", o.timeout_s), std::string("--cores"),
        std::to_string(host.slots.value_or(0))})
    command.words.push_back(base::shell_quoted(word));
  const base::Outcome outcome = base::run(command, o.timeout_s);
  Json answer = measured_in(outcome.output);
  if (outcome.status == 0 && !answer.is_null()) {
    answer["name"] = host.name;
    return answer;
  }
  const std::string why = outcome.timed_out
                              ? fmt::format("no answer within {:g} s", o.timeout_s)
                              : fmt::format("status {}: {}", outcome.status, outcome.output.substr(0, 120));
  return {{"name", host.name}, {"error", std::string(base::trimmed(why))}};
}

/// The same, with "error" instead of an exception: the speeds of other hosts are kept.
Json ask(const SpeedsOptions& o, const Host& host) {
  try {
    return answer_of(o, host);
  } catch (const std::runtime_error& error) {
    return {{"name", host.name}, {"error", error.what()}};
  }
}

std::string file_of(const SpeedsOptions& o) {
  if (!o.file.empty()) return o.file;
  const std::string folder = base::state_directory();
  if (folder.empty()) throw Failure("no place for the speeds: neither XDG_STATE_HOME nor HOME is set, expected --file");
  if (!base::make_directories(folder)) throw Failure(fmt::format("cannot make '{}'", folder), 1);
  return folder + "/speeds.json";
}

Json measure_all(const SpeedsOptions& o) {
  Json list = Json::array();
  if (o.hosts.empty())
    list.push_back(measure_host(o));
  else
    for (const Host& host : hosts_of(o.hosts)) list.push_back(ask(o, host)); // one after the other: they may share
  return {{"kernel", o.kernel}, {"unit", unit_of(o.kernel)}, {"measured_from", base::host_name()}, {"hosts", list}};
}

std::string names_of(const Json& hosts) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < hosts.size() && i < shown; ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", hosts[i].at("name").get<std::string>());
  return hosts.size() > shown ? fmt::format("{} and {} more", text, hosts.size() - shown) : text;
}

/// The hosts of these speeds: named by --hosts, or this one is among them, or they were measured from here.
void refuse_other_machine(const SpeedsOptions& o, const Json& speeds, const std::string& path) {
  const Json& hosts = speeds.value("hosts", Json());
  const auto has = [&](const std::string& name) {
    return std::any_of(hosts.begin(), hosts.end(),
                       [&](const Json& host) { return base::is_same_host(host.at("name").get<std::string>(), name); });
  };
  const std::string here = base::host_name();
  if (!o.hosts.empty()) {
    const std::vector<Host> requested = hosts_of(o.hosts);
    if (std::any_of(requested.begin(), requested.end(), [&](const Host& host) { return has(host.name); })) return;
    throw Failure(fmt::format("'{}' is of {}, expected speeds of the hosts of '{}': measure these first, with "
                              "dyngrid plan hosts --hosts {}",
                              path, names_of(hosts), o.hosts, o.hosts));
  }
  const Json from = speeds.value("measured_from", Json());
  if (has(here) || (from.is_string() && base::is_same_host(from.get<std::string>(), here))) return;
  throw Failure(fmt::format("'{}' is of {}, and this is {}, which is none of them: measure from here, with dyngrid "
                            "plan hosts, or name these hosts with --hosts FILE",
                            path, names_of(hosts), here));
}

bool is_host(const Json& host) {
  return host.is_object() && host.contains("name") && host.at("name").is_string() &&
         (host.contains("error") ||
          (host.value("cores", Json()).is_number_integer() && host.value("alone", Json()).is_number() &&
           host.value("full", Json()).is_number()));
}

/// Null for a file that has none.
Json speeds_in(const std::string& path) {
  Json speeds = base::parse_json_or_null(base::content_of(path));
  const bool is_good = speeds.is_object() && speeds.contains("hosts") && speeds["hosts"].is_array() &&
                       std::all_of(speeds["hosts"].begin(), speeds["hosts"].end(), is_host);
  return is_good ? speeds : Json();
}

/// A host that does not answer now keeps its earlier measurement, with the reason as "not_measured_now".
void keep_earlier(Json& speeds, const Json& before) {
  if (before.is_null() || before.value("kernel", "") != speeds["kernel"].get<std::string>()) return;
  for (Json& host : speeds["hosts"]) {
    if (!host.contains("error")) continue;
    for (const Json& earlier : before.at("hosts")) {
      if (earlier.contains("error") || earlier.value("name", Json()) != host["name"]) continue;
      const std::string why = host["error"].get<std::string>();
      host = earlier;
      host["not_measured_now"] = why;
      break;
    }
  }
}

/// @throws Failure for a file that is invalid, or of another machine.
Json read_speeds(const SpeedsOptions& o, const std::string& path) {
  if (!std::ifstream(path))
    throw Failure(fmt::format("cannot read '{}'; measure first, with dyngrid plan hosts", path));
  Json speeds = speeds_in(path);
  if (speeds.is_null()) throw Failure(fmt::format("'{}' is no file of dyngrid plan hosts", path));
  refuse_other_machine(o, speeds, path);
  return speeds;
}

/// Hosts to plan with, and those left out, with the reason.
struct Usable {
  std::vector<advise::HostSpeed> hosts;
  Json left_out = Json::array();
  std::size_t all() const { return hosts.size() + left_out.size(); }

  void leave_out(const std::string& name, const std::string& why) {
    left_out.push_back({{"name", name}, {"why", why}});
  }
  /// "gone (no answer), slow (gets no process)"
  std::string left_out_text() const {
    std::string text;
    for (const Json& host : left_out)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", host.at("name").get<std::string>(),
                          host.at("why").get<std::string>());
    return text;
  }
};

/// The hosts that answered when they were measured.
Usable answered(const Json& speeds) {
  Usable usable;
  for (const Json& host : speeds.at("hosts")) {
    const auto name = host.at("name").get<std::string>();
    if (host.contains("error"))
      usable.leave_out(name, host.value("error", Json()).is_string() ? host.at("error").get<std::string>()
                                                                     : base::json_text(host.value("error", Json())));
    else
      usable.hosts.push_back(
          {name, host.at("cores").get<int>(), host.at("alone").get<double>(), host.at("full").get<double>()});
  }
  return usable;
}

/// Of these the ones that --hosts names, and no more cores than its slots.
Usable among(const Usable& measured, const std::vector<Host>& requested, const std::string& path) {
  Usable usable;
  std::vector<bool> is_found(requested.size(), false);
  const auto place_of = [&](const std::string& name) {
    const auto at =
        static_cast<std::size_t>(std::find_if(requested.begin(), requested.end(),
                                              [&](const Host& host) { return base::is_same_host(host.name, name); }) -
                                 requested.begin());
    if (at < requested.size()) is_found[at] = true;
    return at;
  };
  for (advise::HostSpeed host : measured.hosts) {
    const std::size_t at = place_of(host.name);
    if (at == requested.size()) {
      usable.leave_out(host.name, "not in --hosts");
      continue;
    }
    if (const int slots = requested[at].slots.value_or(0); slots > 0 && slots < host.cores) {
      host.full = advise::core_speed(host, slots);
      host.cores = slots;
    }
    usable.hosts.push_back(host);
  }
  for (const Json& host : measured.left_out) {
    place_of(host.at("name").get<std::string>());
    usable.left_out.push_back(host);
  }
  for (std::size_t i = 0; i < requested.size(); ++i)
    if (!is_found[i]) usable.leave_out(requested[i].name, fmt::format("not measured: not in '{}'", path));
  return usable;
}

/// "node1:4:12.3,node2:2:24.6": the syntax of DYNGRID_HOSTS.
std::string hosts_text(const std::vector<advise::HostSpeed>& hosts, const advise::HostPlan* plan) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const int slots = plan != nullptr ? plan->hosts[i].processes : hosts[i].cores;
    const double speed = plan != nullptr ? plan->hosts[i].speed : hosts[i].full;
    if (slots > 0) text += fmt::format("{}{}:{}:{:.4g}", text.empty() ? "" : ",", hosts[i].name, slots, speed);
  }
  return text;
}

/// "left out    1 of 3 hosts: gone (no answer)", a line where there are any.
std::string left_out_line(const Usable& usable, std::size_t all) {
  if (usable.left_out.empty()) return {};
  return fmt::format("left out    {} of {} hosts: {}\n", usable.left_out.size(), all, usable.left_out_text());
}

void show_speeds(const SpeedsOptions& o, const Json& speeds, const std::string& path) {
  const Usable usable = answered(speeds);
  const auto& hosts = usable.hosts;
  Json out = speeds;
  out["file"] = path;
  out["left_out"] = usable.left_out;
  out["DYNGRID_HOSTS"] = hosts_text(hosts, nullptr);
  if (print_json(o.json, out)) return;
  const std::string unit = speeds.at("unit").get<std::string>();
  std::vector<std::vector<std::string>> rows{{"host", "cores", "alone, " + unit, "each of all", "of it"}};
  for (const advise::HostSpeed& h : hosts)
    rows.push_back({h.name, std::to_string(h.cores), fmt::format("{:.3g}", h.alone), fmt::format("{:.3g}", h.full),
                    fmt::format("{:.0f} %", 100 * h.full / h.alone)});
  std::printf("%skept in %s\n%sDYNGRID_HOSTS=%s\n", table(rows).c_str(), path.c_str(),
              left_out_line(usable, usable.all()).c_str(), hosts_text(hosts, nullptr).c_str());
}

void show_plan(const SpeedsOptions& o) {
  const std::string path = file_of(o);
  const Json speeds = read_speeds(o, path);
  Usable usable = answered(speeds);
  if (!o.hosts.empty()) usable = among(usable, hosts_of(o.hosts), path);
  const auto& hosts = usable.hosts;
  if (hosts.empty())
    throw Failure(fmt::format("'{}': none of {} hosts can be planned with: {}; expected at least one, measured with "
                              "dyngrid plan hosts",
                              path, usable.all(), usable.left_out_text()));
  const std::size_t all = usable.all();
  const advise::HostPlan plan = advise::plan_hosts(hosts, o.plan);
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{{"host", "processes", "threads of each", "speed of each"}};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const advise::HostShare& share = plan.hosts[i];
    list.push_back(
        {{"name", hosts[i].name}, {"processes", share.processes}, {"threads", share.threads}, {"speed", share.speed}});
    rows.push_back({hosts[i].name, std::to_string(share.processes), std::to_string(share.threads),
                    fmt::format("{:.3g}", share.speed)});
    if (share.processes == 0) usable.leave_out(hosts[i].name, "gets no process: the others are enough, and faster");
  }
  if (print_json(o.json, {{"processes", o.plan},
                          {"slowest", plan.slowest},
                          {"hosts", list},
                          {"left_out", usable.left_out},
                          {"DYNGRID_HOSTS", hosts_text(hosts, &plan)}}))
    return;
  std::printf("%sslowest     %.3g %s\n%sDYNGRID_HOSTS=%s\n", table(rows).c_str(), plan.slowest,
              speeds.value("unit", "").c_str(), left_out_line(usable, all).c_str(), hosts_text(hosts, &plan).c_str());
}

void run(const SpeedsOptions& o) {
  if (o.one) {
    std::printf("%.9g\n", measure_one(o));
    return;
  }
  if (o.here) {
    print_json(true, measure_host(o));
    return;
  }
  if (o.plan > 0) return show_plan(o);
  const std::string path = file_of(o);
  Json speeds = measure_all(o);
  keep_earlier(speeds, speeds_in(path));
  std::ofstream file(path);
  file << base::json_text(speeds, 1) << '\n';
  if (!file.flush())
    throw Failure(fmt::format("cannot write '{}'; what was measured: DYNGRID_HOSTS={}", path,
                              hosts_text(answered(speeds).hosts, nullptr)),
                  1);
  show_speeds(o, speeds, path);
  const Usable usable = answered(speeds);
  std::string kept;
  for (const Json& host : speeds["hosts"])
    if (host.contains("not_measured_now"))
      kept += fmt::format("{}{} ({})", kept.empty() ? "" : ", ", host.at("name").get<std::string>(),
                          host.at("not_measured_now").get<std::string>());
  if (!kept.empty())
    std::fprintf(stderr, "dyngrid plan hosts: not measured now, the earlier speeds are kept: %s\n",
                 base::printable(kept).c_str());
  if (!kept.empty() && usable.left_out.empty()) throw Failure("not every host was measured", 1);
  if (!usable.left_out.empty())
    throw Failure(fmt::format("{} of {} hosts were not measured: {}", usable.left_out.size(), usable.all(),
                              usable.left_out_text()),
                  1);
}

} // namespace

void add_plan_hosts(CommandLine& plan) {
  CommandLine& app =
      plan.add_command("hosts", "How fast the cores of each host are; with --procs: processes and threads for each");
  auto o = std::make_shared<SpeedsOptions>();
  app.add_option("--hosts", o->hosts,
                 "a line NAME or NAME:SLOTS for each host (default: this one; with --procs: all that were measured)")
      .type_name("FILE");
  app.add_option("--kernel", o->kernel, "gemm, stream, or a program with its arguments, which is run once")
      .type_name("WORDS")
      .show_default();
  app.add_option("--seconds", o->seconds, "time of each measurement")
      .check(base::in_range(0.01, 3600.0))
      .show_default();
  app.add_option("--timeout", o->timeout_s, "time that a host has to answer")
      .check(base::in_range(0.01, 86400.0))
      .show_default();
  app.add_option("--shell", o->shell, "the command that reaches a host; its name and a command follow")
      .type_name("WORDS")
      .show_default();
  app.add_option("--file", o->file,
                 "where the speeds are kept (default: dyngrid/speeds.json in the user's state folder)")
      .type_name("PATH");
  app.add_option("--procs", o->plan,
                 "for N processes: how many go on each host, with how many BLAS threads, so that all are equally fast")
      .type_name("N")
      .check(base::in_range(1, 1 << 20));
  app.add_flag("--json", o->json, "print one JSON object");
  app.add_flag("--here", o->here).hidden();                                    // what a host is asked for
  app.add_option("--cores", o->cores).check(base::in_range(0, 4096)).hidden(); // number of processes
  app.add_flag("--one", o->one).hidden();                                      // one of the processes that measure
  app.footer(
      "Measures one process alone, and one on every core at the same time: a core of a full host is slower. Hosts\n"
      "are measured one after the other. Those that do not answer are counted and named, and the status is 1.\n"
      "--procs counts and names them too; it refuses speeds of another machine: measured neither from this host nor\n"
      "on it, unless --hosts says that these hosts are meant.");
  app.action([o] { run(*o); });
}

} // namespace command
