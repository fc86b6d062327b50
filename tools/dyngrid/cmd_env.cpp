// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "base/parse_json.hpp"
#include "command.hpp"
#include "control/mpi_settings.hpp"
#include "control/variables.hpp"
#include "shared/blas.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

struct EnvOptions {
  bool all = false, exports = false, json = false, markdown = false;
};

const std::vector<control::MpiSetting> no_settings;

/// One item of a list in lines of at most 120 characters.
std::string list_item(const std::string& text) {
  std::string item = "-";
  std::size_t width = item.size();
  std::istringstream words(text);
  for (std::string word; words >> word; width += 1 + word.size()) {
    if (width + 1 + word.size() > 120) {
      item += "\n ";
      width = 1;
    }
    item += " " + word;
  }
  return item + "\n";
}

/// "DYNGRID_GRID", and "DYNGRID_EXCHANGE=schedule" for an entry of a list.
std::string name_of(const control::Variable& v) {
  return fmt::format("{}{}{}", v.name, *v.key ? "=" : "", v.key);
}

/// The section of docs/operating.md on the variables for users.
void print_markdown() {
  for (const control::Variable& v : control::variables())
    if (!v.is_internal)
      fmt::print("{}", list_item(fmt::format("`{}={}`: {}. Default: {}. Example: `{}={}`.", name_of(v), v.value,
                                             v.meaning, v.fallback, v.name, v.example)));
}

void run(const EnvOptions& o) {
  if (o.markdown) return print_markdown();
  if (o.exports) {
    const std::string core = core_to_set(look_at_blas());
    if (!core.empty()) fmt::print("export OPENBLAS_CORETYPE={}\n", core);
    return;
  }
  const std::vector<control::UnknownVariable> unknown = control::unknown_variables(control::whole_environment());

  Json list = Json::array(), strangers = Json::array();
  std::vector<std::vector<std::string>> lines;
  for (const control::Variable& v : control::variables()) {
    const auto value = control::value_of(v);
    const bool is_set = value.has_value();
    if (v.is_internal && !is_set && !o.all) continue;
    list.push_back({{"name", v.name},
                    {"key", *v.key ? Json(v.key) : Json(nullptr)},
                    {"value", is_set ? Json(*value) : Json(nullptr)},
                    {"source", is_set ? "environment" : "default"},
                    {"default", v.fallback},
                    {"allowed", v.value},
                    {"meaning", v.meaning},
                    {"example", v.example}});
    lines.push_back({name_of(v), value.value_or(v.fallback), is_set ? "environment" : "default", v.meaning});
  }
  Json of_mpi = Json::array();
  const bool is_open_mpi = std::string_view(DYNGRID_MPI) == "Open MPI";
  for (const control::MpiSetting& s : is_open_mpi ? control::settings_of_open_mpi_5() : no_settings) {
    const bool is_users = control::is_set_by_user(s);
    const char* value = std::getenv(s.name);
    const std::string shown = !is_users ? s.value : value ? value : "(in a file)";
    of_mpi.push_back({{"name", s.name},
                      {"value", shown},
                      {"source", is_users ? "user" : "dyngrid"},
                      {"reason", s.reason},
                      {"price", s.price}});
    lines.push_back({s.name, shown, is_users ? "user" : "dyngrid",
                     fmt::format("Open MPI 5, all on one host: {}; price: {}", s.reason, s.price)});
  }
  for (const control::UnknownVariable& u : unknown)
    strangers.push_back({{"name", u.name}, {"closest", u.closest.empty() ? Json(nullptr) : Json(u.closest)}});
  const std::vector<std::string> trouble = control::trouble_with(control::whole_environment());
  if (print_json(o.json, {{"variables", list}, {"mpi_settings", of_mpi}, {"unknown", strangers}, {"wrong", trouble}}))
    return;

  std::size_t widths[3] = {0, 0, 0};
  for (const auto& line : lines)
    for (std::size_t k = 0; k < 3; ++k) widths[k] = std::max(widths[k], line[k].size());
  for (const auto& line : lines)
    fmt::print("{:{}}  {:{}}  {:{}}  {}\n", line[0], widths[0], line[1], widths[1], line[2], widths[2], line[3]);
  for (const std::string& what : trouble) fmt::print("{}\n", what);
  for (const control::UnknownVariable& u : unknown)
    fmt::print("{} is none of dyngrid's{}\n", u.name, u.closest.empty() ? "" : "; is it " + u.closest + "?");
}

} // namespace

void add_env(CommandLine& root) {
  CommandLine& app =
      root.add_command("env", "Every DYNGRID_* variable and what is set of Open MPI 5: its value and where from");
  auto o = std::make_shared<EnvOptions>();
  app.add_flag("--all", o->all, "also those that dyngrid sets itself");
  app.add_flag("--export", o->exports,
               "print instead, as lines for sh, what dyngrid run sets besides on this machine and programs started by "
               "mpirun alone want too: OPENBLAS_CORETYPE where OpenBLAS does not "
               "know the processor; eval \"$(dyngrid env --export)\"");
  app.add_flag("--json", o->json, "print one JSON object");
  app.add_flag("--markdown", o->markdown).hidden(); // the list of docs/operating.md, for tests/apps/variables
  app.footer("There is no settings file: a variable is set in the environment, or its default holds.\n"
             "Entries of one variable are separated by commas: DYNGRID_EXCHANGE=schedule=async,hugepages=off");
  app.action([o] { run(*o); });
}

} // namespace command
