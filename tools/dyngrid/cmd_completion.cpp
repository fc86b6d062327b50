// SPDX-License-Identifier: BSD-3-Clause
// dyngrid completion SHELL: a script for the shell's tab key. It is made from the command line's own description, so
// that it has every command and option.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "shared/text.hpp"

namespace command {
namespace {

enum class Words { none, fixed, jobs, files, program };

/// The permitted values: after an option, or as a command's own word.
struct Value {
  Words kind = Words::none;
  std::string choices; ///< of `fixed`: separated by blanks
};

struct Option {
  std::vector<std::string> names; ///< with their dashes
  std::string help;
  bool takes_value = false;
  Value value;
};

struct Command {
  std::string words, help; ///< "", "run", "slurm submit"
  std::vector<Option> options;
  std::vector<const CommandLine*> below; ///< those that are shown
  Value first;                           ///< its first word that is no option
  bool has_program = false;              ///< after --
};

Value value_of(const base::OptionText& o) {
  const std::string& type = o.type;
  const auto open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos) { // TEXT:{optimal,global,...}
    std::string choices = type.substr(open + 1, close - open - 1);
    for (char& c : choices)
      if (c == ',') c = ' ';
    return {Words::fixed, choices};
  }
  if (o.name == "JOB") return {Words::jobs, ""};
  if (type.find("PROGRAM") != std::string::npos || type == "WORDS") return {Words::program, ""};
  for (const char* word : {"FILE", "PATH", "FOLDER"})
    if (type.find(word) != std::string::npos) return {Words::files, ""};
  return {};
}

std::vector<const CommandLine*> shown_below(const CommandLine& app) {
  std::vector<const CommandLine*> below;
  for (const auto& sub : app.commands())
    if (!sub->group().empty()) below.push_back(sub.get());
  return below;
}

void collect(const CommandLine& app, const std::string& words, std::vector<Command>& all) {
  Command c;
  c.words = words;
  c.help = app.description();
  c.below = shown_below(app);
  for (const base::OptionText& o : app.options()) {
    if (o.names.empty()) {
      const Value value = value_of(o);
      if (c.first.kind == Words::none) c.first = value;
      c.has_program = c.has_program || value.kind == Words::program;
      continue;
    }
    c.options.push_back({o.names, o.help, o.takes_value, value_of(o)});
  }
  all.push_back(c);
  for (const CommandLine* sub : c.below) collect(*sub, (words.empty() ? "" : words + " ") + sub->name(), all);
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string names_below(const Command& c) {
  std::vector<std::string> names;
  for (const CommandLine* sub : c.below) names.push_back(sub->name());
  return join(names, " ");
}

/// About the first sentence: a line of the list that the shell shows.
std::string brief(const std::string& help) {
  const auto end = help.find_first_of(";(\n");
  std::string text = help.substr(0, end);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

std::string escaped(const std::string& text, const char* which, const char* by) {
  std::string out;
  for (const char c : text) {
    if (std::string(which).find(c) != std::string::npos) out += by;
    out += c;
  }
  return out;
}

/// In single quotes, for bash and zsh.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// ---- bash ----

std::string bash_words(const Value& v) {
  switch (v.kind) {
  case Words::fixed:
    return "words=" + quoted(v.choices);
  case Words::jobs:
    return "words=\"$(\"${COMP_WORDS[0]}\" ps --names 2>/dev/null)\"";
  case Words::files:
    return "files=1";
  case Words::program:
    return "words='--'";
  case Words::none:
    break;
  }
  return ":";
}

std::string bash(const std::vector<Command>& all) {
  std::string text = R"sh(# SPDX-License-Identifier: BSD-3-Clause
# Completion of dyngrid for bash; made by `dyngrid completion bash`.
_dyngrid() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
  local command='' given=0 takes_value='' words='' files='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    if [ "$word" = -- ]; then # the application and its arguments
      mapfile -t COMPREPLY < <(compgen -f -- "$current"; [ "$previous" = -- ] && compgen -c -- "$current")
      compopt -o filenames 2>/dev/null
      return
    fi
    case "$command$word" in
)sh";
  for (const Command& c : all)
    if (!c.words.empty()) {
      const auto blank = c.words.rfind(' ');
      text += fmt::format(
          "      {}) command={}; continue ;;\n",
          quoted(blank == std::string::npos ? c.words : c.words.substr(0, blank) + c.words.substr(blank + 1)),
          quoted(c.words));
    }
  text += R"sh(    esac
    case "$word" in -*) ;; *) case "${COMP_WORDS[i-1]}" in -*) ;; *) given=1 ;; esac ;; esac
  done
  case "$command" in
)sh";
  for (const Command& c : all) {
    std::vector<std::string> options;
    std::string after;
    for (const Option& o : c.options) {
      options.insert(options.end(), o.names.begin(), o.names.end());
      if (o.takes_value)
        after += fmt::format("        {}) takes_value=1; {} ;;\n", join(o.names, " | "), bash_words(o.value));
    }
    text += fmt::format("    {})\n      case \"$previous\" in\n{}        *)\n", quoted(c.words), after);
    text +=
        fmt::format("          case \"$current\" in\n            -*) words={} ;;\n            *) {} ;;\n          "
                    "esac\n          ;;\n      esac\n      ;;\n",
                    quoted(join(options, " ")),
                    !c.below.empty() ? "words=" + quoted(names_below(c)) : "[ $given = 1 ] || " + bash_words(c.first));
  }
  text += R"sh(  esac
  [ -z "$takes_value" ] || [ -n "$words$files" ] || return # a number, a grid: nothing to offer
  if [ -n "$files" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
complete -F _dyngrid dyngrid
)sh";
  return text;
}

// ---- zsh ----

std::string zsh_action(const Value& v) {
  switch (v.kind) {
  case Words::fixed:
    return "(" + v.choices + ")";
  case Words::jobs:
    return "_dyngrid_jobs";
  case Words::files:
    return "_files";
  default:
    return " ";
  }
}

std::string zsh(const std::vector<Command>& all) {
  std::string text = R"sh(#compdef dyngrid
# SPDX-License-Identifier: BSD-3-Clause
# Completion of dyngrid for zsh; made by `dyngrid completion zsh`.
(( $+functions[_dyngrid_jobs] )) || _dyngrid_jobs() {
  local -a jobs
  jobs=(${(f)"$(_call_program jobs dyngrid ps --names 2>/dev/null)"})
  _describe -t jobs job jobs
}
)sh";
  for (const Command& c : all) {
    std::string name = c.words.empty() ? "_dyngrid" : "_dyngrid_" + c.words;
    for (char& character : name)
      if (character == ' ') character = '_';
    text += name + "() {\n";
    std::string specs;
    for (const Option& o : c.options) {
      const std::string help = escaped(brief(o.help), "[]:\\", "\\");
      for (const std::string& option : o.names)
        specs += " \\\n    " + quoted(fmt::format("({}){}[{}]{}", join(o.names, " "), option, help,
                                                  o.takes_value ? ":value:" + zsh_action(o.value) : ""));
    }
    if (!c.below.empty()) {
      text += "  local curcontext=\"$curcontext\" state line\n  local -a commands\n  commands=(\n";
      for (const CommandLine* sub : c.below)
        text += "    " + quoted(sub->name() + ":" + escaped(sub->description(), ":\\", "\\")) + "\n";
      text += fmt::format("  )\n  _arguments -C{} \\\n    '1: :->command' '*:: :->rest'\n", specs);
      text += fmt::format("  case $state in\n    command) _describe -t commands 'dyngrid command' commands ;;\n    "
                          "rest) (( $+functions[{0}_$words[1]] )) && {0}_$words[1] ;;\n  esac\n",
                          name);
    } else {
      const std::string own = c.first.kind == Words::program ? "'*::: :_dyngrid_program'"
                              : c.first.kind == Words::none  ? ""
                                                             : quoted("1: :" + zsh_action(c.first));
      text += fmt::format("  _arguments{}{}\n", specs, own.empty() ? "" : " \\\n    " + own);
    }
    text += "}\n";
  }
  text += R"sh(# the application after --, as if it stood at the beginning of the line
_dyngrid_program() {
  [[ $words[1] == -- ]] && { shift words; (( CURRENT-- )) }
  _normal
}
_dyngrid "$@"
)sh";
  return text;
}

// ---- fish ----

std::string fish_quoted(const std::string& text) {
  return "'" + escaped(text, "'\\", "\\") + "'";
}

std::string fish(const std::vector<Command>& all) {
  std::string text = R"sh(# SPDX-License-Identifier: BSD-3-Clause
# Completion of dyngrid for fish; made by `dyngrid completion fish`.
function __dyngrid_at -d 'the words before the cursor begin with this command; only: there are no others'
    set -l words (commandline -opc)
    contains -- -- $words; and return 1
    set -l own
    for word in $words[2..-1]
        string match -q -- '-*' $word; or set -a own $word
    end
    if test "$argv[1]" = only
        test "$own" = "$argv[2..-1]"
    else
        set -l length (count $argv)
        test "$own[1..$length]" = "$argv"
    end
end
function __dyngrid_program -d 'behind the -- of this command'
    set -l words (commandline -opc)
    contains -- -- $words; and test "$words[2]" = "$argv[1]"
end
complete -c dyngrid -f
)sh";
  for (const Command& c : all) {
    const std::string at = fish_quoted(c.words.empty() ? "__dyngrid_at only" : "__dyngrid_at " + c.words);
    const std::string alone = fish_quoted("__dyngrid_at only " + c.words);
    for (const CommandLine* sub : c.below)
      text +=
          fmt::format("complete -c dyngrid -n {} -a {} -d {}\n", alone, sub->name(), fish_quoted(sub->description()));
    for (const Option& o : c.options) {
      std::string line = "complete -c dyngrid -n " + at;
      for (const std::string& name : o.names)
        line += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (o.takes_value) line += o.value.kind == Words::files ? " -r -F" : " -x";
      if (o.value.kind == Words::fixed) line += " -a " + fish_quoted(o.value.choices);
      text += line + " -d " + fish_quoted(brief(o.help)) + "\n";
    }
    if (c.first.kind == Words::jobs)
      text += fmt::format("complete -c dyngrid -n {} -a '(dyngrid ps --names)' -d job\n", alone);
    if (c.first.kind == Words::fixed)
      text += fmt::format("complete -c dyngrid -n {} -a {}\n", alone, fish_quoted(c.first.choices));
    if (c.first.kind == Words::files) text += fmt::format("complete -c dyngrid -n {} -F\n", alone);
  }
  for (const Command& c : all)
    if (c.has_program) text += fmt::format("complete -c dyngrid -n '__dyngrid_program {}' -F\n", c.words);
  return text;
}

} // namespace

void add_completion(CommandLine& root) {
  CommandLine& app =
      root.add_command("completion", "Completion for bash, zsh and fish: commands, options and names of jobs");
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish").required().check(base::one_of({"bash", "zsh", "fish"}));
  app.footer("An installed dyngrid brings the three along, where the shells look for them under a prefix that they "
             "know. Elsewhere:\n"
             "  bash, ~/.bashrc:                  source <(dyngrid completion bash)\n"
             "  zsh, a folder of $fpath:          dyngrid completion zsh >_dyngrid\n"
             "  fish, ~/.config/fish/config.fish: dyngrid completion fish | source");
  app.action([shell, &root] {
    std::vector<Command> all;
    collect(root, "", all);
    const std::string text = *shell == "bash" ? bash(all) : *shell == "zsh" ? zsh(all) : fish(all);
    std::fputs(text.c_str(), stdout);
  });
}

} // namespace command
