// SPDX-License-Identifier: BSD-3-Clause
#include "base/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <sstream>
#include <type_traits>
#include <utility>

namespace base {
namespace {

/// The commands in one list that fits on a screen.
class GroupedCommands : public CLI::Formatter {
public:
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode) const override {
    std::string text, group;
    const auto padded = [](std::string word, std::size_t width) {
      word.resize(std::max(word.size(), width), ' ');
      return word;
    };
    for (const CLI::App* sub : app->get_subcommands({})) {
      if (sub->get_group().empty()) continue;
      text += (text.empty() ? "\n" : "") + padded(sub->get_group() == group ? "" : sub->get_group() + ":", 8) +
              padded(sub->get_name(), 11) + sub->get_description() + "\n";
      group = sub->get_group();
    }
    return text;
  }
};

CLI::Option* cli_option(void* option) {
  return static_cast<CLI::Option*>(option);
}

// CLI11 takes a word "[a,b]" of a list for two, and "[]" for none, also behind "--", where words are another program's.
constexpr char as_it_is = '\1'; ///< in front of such a word until it has reached its variable

std::vector<std::string> guarded(std::vector<std::string> words) {
  auto word = std::find(words.begin(), words.end(), "--");
  for (; word != words.end(); ++word)
    if (!word->empty() && (word->front() == '[' || word->front() == as_it_is)) word->insert(0, 1, as_it_is);
  return words;
}

/// One without dashes gets its words back as they were.
CLI::Option* unguarded(CLI::Option* option) {
  if (!option->get_positional()) return option;
  return option->transform(
      [](const std::string& word) { return !word.empty() && word.front() == as_it_is ? word.substr(1) : word; });
}

} // namespace

struct Check::Rule {
  CLI::Validator validator;
};

namespace {

Check check_of(CLI::Validator validator) {
  return Check{std::make_shared<const Check::Rule>(Check::Rule{std::move(validator)})};
}

/// CLI11 takes the nearest number that it can hold.
CLI::Validator not_beyond_64_bits() {
  return CLI::Validator(
      [](const std::string& text) {
        errno = 0;
        (void)std::strtoll(text.c_str(), nullptr, 0);
        return errno == ERANGE ? "is " + text + ", expected a number below 2^63" : std::string();
      },
      "");
}

/// CLI11's own say the largest double in 309 digits.
Check number_that(bool (*is_right)(double), const char* expected, const char* name) {
  return check_of(CLI::Validator(
      [=](std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        return is_number && is_right(value) ? std::string() : "is " + text + ", expected " + expected;
      },
      name));
}

} // namespace

Check one_of(const std::vector<std::string>& words) {
  return check_of(CLI::IsMember(words));
}

Check in_range(int least, int most) {
  return check_of(CLI::Range(least, most));
}

Check in_range(double least, double most) {
  const CLI::Validator range = CLI::Range(least, most);
  return check_of(CLI::Validator(
      [range](std::string& text) { // CLI11 takes nan for a number of any range
        double value = 0;
        const bool is_nan = CLI::detail::lexical_cast(text, value) && std::isnan(value);
        return is_nan ? "is " + text + ", expected a number" : range(text);
      },
      range.get_description()));
}

Check positive_number() {
  return number_that([](double value) { return value > 0; }, "a number above 0", "POSITIVE");
}

Check non_negative_number() {
  return number_that([](double value) { return value >= 0; }, "0 or a number above it", "NONNEGATIVE");
}

Option& Option::required() {
  cli_option(option_)->required();
  return *this;
}

Option& Option::check(const Check& check) {
  cli_option(option_)->check(check.rule->validator);
  return *this;
}

Option& Option::type_name(const std::string& name) {
  cli_option(option_)->type_name(name);
  return *this;
}

Option& Option::show_default() {
  cli_option(option_)->capture_default_str();
  return *this;
}

Option& Option::separated_by(char separator) {
  cli_option(option_)->delimiter(separator);
  return *this;
}

Option& Option::repeatable() {
  cli_option(option_)->expected(1)->take_all()->allow_extra_args(false); // CLI11 would swallow a "--" after its value
  return *this;
}

Option& Option::needs(Option& other) {
  cli_option(option_)->needs(cli_option(other.option_));
  return *this;
}

Option& Option::hidden() {
  cli_option(option_)->group("");
  return *this;
}

Option& Option::description(const std::string& text) {
  cli_option(option_)->description(text);
  return *this;
}

struct CommandLine::Impl {
  std::unique_ptr<CLI::App> own; ///< of the root only: CLI11 owns the sub-commands
  CLI::App* app = nullptr;
  std::deque<Option> options; ///< a deque: the program keeps references
  std::vector<std::unique_ptr<CommandLine>> commands;
};

CommandLine::CommandLine(const std::string& description, const std::string& name) : impl_(std::make_unique<Impl>()) {
  impl_->own = std::make_unique<CLI::App>(description, name);
  impl_->app = impl_->own.get();
  // CLI11 2.6 has these headings in capitals; manual pages and tests read them
  impl_->app->option_defaults()->group("Options");
  impl_->app->get_help_ptr()->group("Options"); // made before the defaults
  impl_->app->get_formatter()->label("POSITIONALS", "Positionals");
}

CommandLine::CommandLine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

CommandLine::~CommandLine() = default;

template <class T> Option& CommandLine::add_option(const std::string& names, T& value, const std::string& help) {
  CLI::Option* const option = unguarded(impl_->app->add_option(names, value, help));
  if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::vector<std::int64_t>>)
    option->check(not_beyond_64_bits());
  return impl_->options.emplace_back(option);
}
template Option& CommandLine::add_option(const std::string&, std::string&, const std::string&);
template Option& CommandLine::add_option(const std::string&, int&, const std::string&);
template Option& CommandLine::add_option(const std::string&, std::int64_t&, const std::string&);
template Option& CommandLine::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option& CommandLine::add_option(const std::string&, double&, const std::string&);
template Option& CommandLine::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option& CommandLine::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option& CommandLine::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option& CommandLine::add_option(const std::string&, std::vector<double>&, const std::string&);

Option& CommandLine::add_option(const std::string& names, std::function<void(const std::string&)> take,
                                const std::string& help) {
  return impl_->options.emplace_back(
      unguarded(impl_->app->add_option_function<std::string>(names, std::move(take), help)));
}

Option& CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  return impl_->options.emplace_back(impl_->app->add_flag(names, value, help));
}

Option& CommandLine::option(const std::string& name) {
  return impl_->options.emplace_back(impl_->app->get_option(name));
}

void CommandLine::add_version(const std::string& version) {
  impl_->app->set_version_flag("--version", version);
}

CommandLine& CommandLine::add_command(const std::string& name, const std::string& description) {
  auto impl = std::make_unique<Impl>();
  impl->app = impl_->app->add_subcommand(name, description)->group("Subcommands");
  impl->app->get_help_ptr()->group("Options");
  return *impl_->commands.emplace_back(new CommandLine(std::move(impl)));
}

void CommandLine::require_command() {
  impl_->app->require_subcommand(1);
}

void CommandLine::action(std::function<void()> run) {
  impl_->app->callback(std::move(run));
}

void CommandLine::group(const std::string& name) {
  impl_->app->group(name);
}

void CommandLine::footer(const std::string& text) {
  impl_->app->footer(text);
}

void CommandLine::help_column(int column) {
  impl_->app->get_formatter()->column_width(static_cast<std::size_t>(column));
}

void CommandLine::list_commands_by_group(int column) {
  const auto formatter = std::make_shared<GroupedCommands>(); // the root's own, the commands keep theirs
  formatter->column_width(static_cast<std::size_t>(column));
  formatter->label("SUBCOMMAND", "COMMAND");
  impl_->app->formatter(formatter);
}

template <class Parse> std::optional<std::string> CommandLine::parsed(Parse&& parse) {
  try {
    parse();
    return std::nullopt;
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    impl_->app->exit(asked, text, text);
    return text.str();
  } catch (const CLI::ParseError& error) {
    throw CommandLineError(error.what());
  }
}

std::optional<std::string> CommandLine::parse(int argc, const char* const* argv) {
  return parsed([&] { impl_->app->parse(argc, argv); });
}

std::optional<std::string> CommandLine::parse(const std::vector<std::string>& words) {
  std::vector<std::string> reversed = guarded(words);
  std::reverse(reversed.begin(), reversed.end());
  return parsed([&] { impl_->app->parse(std::move(reversed)); });
}

std::size_t CommandLine::count(const std::string& option) const {
  return impl_->app->count(option);
}

std::string CommandLine::used_command() const {
  std::string names;
  for (auto used = impl_->app->get_subcommands(); !used.empty(); used = used[0]->get_subcommands())
    names += (names.empty() ? "" : " ") + used[0]->get_name();
  return names;
}

std::string CommandLine::help() const {
  return impl_->app->help();
}

std::string CommandLine::name() const {
  return impl_->app->get_name();
}

std::string CommandLine::description() const {
  return impl_->app->get_description();
}

std::string CommandLine::group() const {
  return impl_->app->get_group();
}

std::vector<OptionText> CommandLine::options() const {
  std::vector<OptionText> options;
  for (const CLI::Option* o : std::as_const(*impl_->app).get_options()) {
    OptionText& text = options.emplace_back();
    for (const std::string& name : o->get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : o->get_lnames()) text.names.push_back("--" + name);
    text.name = o->get_name(text.names.empty());
    text.type = o->get_type_size() == 0 ? "" : o->get_type_name();
    text.help = o->get_description();
    text.default_value = o->get_default_str();
    text.is_required = o->get_required();
    text.takes_value = o->get_type_size() != 0 && o->get_items_expected_max() > 0;
  }
  return options;
}

const std::vector<std::unique_ptr<CommandLine>>& CommandLine::commands() const {
  return impl_->commands;
}

std::optional<int> read_command_line(CommandLine& cli, int argc, char** argv, bool speaks) {
  try {
    const std::optional<std::string> asked = cli.parse(argc, argv);
    if (asked && speaks) std::fputs(asked->c_str(), stdout);
    return asked ? std::optional<int>(0) : std::nullopt;
  } catch (const CommandLineError& error) {
    if (speaks) std::fprintf(stderr, "%s: %s (see --help)\n", cli.name().c_str(), error.what());
    return 2;
  }
}

} // namespace base
