// SPDX-License-Identifier: BSD-3-Clause
// The command line of a program: options, flags, positional words, sub-commands, and the text of --help. The
// library that reads it (CLI11) costs five seconds of compiler in every file that sees it: only command_line.cpp does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace base {

/// A mistake on the command line, in words.
class CommandLineError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Condition on a value. Each item of a list is checked.
struct Check {
  struct Rule;
  std::shared_ptr<const Rule> rule;
};
Check one_of(const std::vector<std::string>& words);
Check in_range(int least, int most);
Check in_range(double least, double most);
Check positive_number();
Check non_negative_number();

/// One option, flag or positional word; lives as long as its command line.
class Option {
public:
  explicit Option(void* cli_option) : option_(cli_option) {}
  Option& required();
  Option& check(const Check& check);
  Option& type_name(const std::string& name); ///< how the help text calls its value
  Option& show_default();                     ///< what the variable holds now, in the help text
  Option& separated_by(char separator);       ///< of a list: 1,2,3
  Option& repeatable();                       ///< of a list: --to A --to B, not --to A B
  Option& needs(Option& other);
  Option& hidden(); ///< not in the help text
  Option& description(const std::string& text);

private:
  void* option_; ///< CLI::Option, owned by the command line
};

/// Description of an option, for manual pages and for the completion of shells.
struct OptionText {
  std::string name;               ///< "--grid", or the word that a positional is called
  std::vector<std::string> names; ///< "-n", "--np"; none for a positional
  std::string type, help, default_value;
  bool is_required = false, takes_value = false;
};

/// A command line, or one of its sub-commands. Variables that it fills must outlive parse().
class CommandLine {
public:
  explicit CommandLine(const std::string& description, const std::string& name = "");
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  /// `names`: "-n,--np"; without dashes, a positional word. T: std::string, bool, int, std::int64_t, double,
  /// std::uint64_t, or a vector of one of these.
  template <class T> Option& add_option(const std::string& names, T& value, const std::string& help = "");
  /// `take` gets the value, and may throw CommandLineError.
  Option& add_option(const std::string& names, std::function<void(const std::string&)> take,
                     const std::string& help = "");
  Option& add_flag(const std::string& names, bool& value, const std::string& help = "");
  /// One that was added before.
  Option& option(const std::string& name);
  void add_version(const std::string& version);

  CommandLine& add_command(const std::string& name, const std::string& description);
  void require_command();
  /// Action of a sub-command; runs in parse().
  void action(std::function<void()> run);
  void group(const std::string& name); ///< its heading in the help text; empty: not shown there

  void footer(const std::string& text);
  void help_column(int column); ///< where descriptions begin, in the sub-commands added later as well
  /// One line for each sub-command, with the heading in front of the first one of each group.
  void list_commands_by_group(int column);

  /// Fills the variables and runs the action. Returns the text to print instead, with --help and --version.
  /// @throws CommandLineError, and what the action throws.
  std::optional<std::string> parse(int argc, const char* const* argv);
  std::optional<std::string> parse(const std::vector<std::string>& words); ///< without the program's name

  std::size_t count(const std::string& option) const; ///< how often parse() has met it
  std::string used_command() const;                   ///< what parse() has met: "plan shapes", or nothing
  std::string help() const;

  std::string name() const, description() const, group() const;
  std::vector<OptionText> options() const; ///< --help included
  const std::vector<std::unique_ptr<CommandLine>>& commands() const;

private:
  struct Impl;
  explicit CommandLine(std::unique_ptr<Impl> impl);
  template <class Parse> std::optional<std::string> parsed(Parse&& parse);
  std::unique_ptr<Impl> impl_;
};

/// How every program without sub-commands reads its command line: help is status 0, a mistake is status 2 with one
/// line. Nothing when the program may go on; otherwise its exit status. Without `speaks` it prints nothing.
std::optional<int> read_command_line(CommandLine& cli, int argc, char** argv, bool speaks = true);

} // namespace base
