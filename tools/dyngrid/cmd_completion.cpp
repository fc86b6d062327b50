// SPDX-License-Identifier: BSD-3-Clause
// dyngrid completion SHELL: a script for the shell's tab key. It asks `dyngrid __complete WORDS`, which answers from
// the command line's own description: a line for each candidate, "WORD<tab>HELP", or :files, or :command.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "command.hpp"
#include "job_text.hpp"

namespace command {
namespace {

constexpr const char* bash = R"sh(# SPDX-License-Identifier: BSD-3-Clause
# Completion of dyngrid for bash; made by `dyngrid completion bash`.
_dyngrid() {
  local -a answer
  mapfile -t answer < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case "${answer[0]}" in
    :files) mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"); compopt -o filenames 2>/dev/null ;;
    :command) mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${answer[*]%%$'\t'*}" -- "${COMP_WORDS[COMP_CWORD]}") ;;
  esac
}
complete -F _dyngrid dyngrid
)sh";

constexpr const char* zsh = R"sh(#compdef dyngrid
# SPDX-License-Identifier: BSD-3-Clause
# Completion of dyngrid for zsh; made by `dyngrid completion zsh`.
_dyngrid() {
  local -a answer candidates
  local line
  answer=("${(@f)$(${~words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  case $answer[1] in
    :files) _files ;;
    :command) # as if the application stood at the beginning of the line
      local program=$words[(i)--]
      shift $program words
      (( CURRENT -= program ))
      _normal ;;
    *)
      for line in $answer; do
        candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
      done
      _describe 'dyngrid' candidates ;;
  esac
}
_dyngrid "$@"
)sh";

constexpr const char* fish = R"sh(# SPDX-License-Identifier: BSD-3-Clause
# Completion of dyngrid for fish; made by `dyngrid completion fish`.
function __dyngrid_complete
    set -l words (commandline -opc)
    set -l answer ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
    switch "$answer[1]"
        case :files :command
            __fish_complete_path (commandline -ct)
        case '*'
            printf '%s\n' $answer
    end
end
complete -c dyngrid -f -a '(__dyngrid_complete)'
)sh";

/// Lines of the permitted values of an option, or of a positional word.
std::vector<std::string> values_of(const base::OptionText& o) {
  const auto open = o.type.find('{'), close = o.type.find('}');
  if (open != std::string::npos && close != std::string::npos) // TEXT:{optimal,global,...}
    return base::split(std::string_view(o.type).substr(open + 1, close - open - 1), ',');
  if (o.name == "JOB") {
    std::vector<std::string> jobs = running_jobs();
    for (std::string& job : jobs) job += "\tjob";
    return jobs;
  }
  if (o.type.find("PROGRAM") != std::string::npos || o.type == "WORDS") return {"--\tthe application"};
  for (const char* word : {"FILE", "PATH", "FOLDER"})
    if (o.name == word || o.type.find(word) != std::string::npos) return {":files"};
  return {};
}

/// About the first sentence of a help text.
std::string brief(const std::string& help) {
  std::string text = help.substr(0, help.find_first_of(";(\n"));
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

/// What the last word of the line can be, on `app` where `given` positional words stand before it.
std::vector<std::string> next_words(const CommandLine& app, const std::string& last, std::size_t given) {
  std::vector<std::string> lines;
  if (!last.empty() && last[0] == '-') {
    for (const base::OptionText& o : app.options())
      for (const std::string& name : o.names) lines.push_back(name + "\t" + brief(o.help));
    return lines;
  }
  for (const auto& below : app.commands())
    if (!below->group().empty()) lines.push_back(below->name() + "\t" + below->description());
  if (!lines.empty()) return lines;
  for (const base::OptionText& o : app.options())
    if (o.names.empty() && given-- == 0) return values_of(o);
  return {};
}

} // namespace

std::vector<std::string> completions(const CommandLine& root, const std::vector<std::string>& words) {
  const CommandLine* app = &root;
  std::size_t given = 0;
  std::optional<base::OptionText> before; ///< an option whose value comes next
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (before) {
      before.reset();
    } else if (word == "--") {
      return {i + 2 == words.size() ? ":command" : ":files"};
    } else if (!word.empty() && word[0] == '-') {
      for (const base::OptionText& o : app->options())
        if (o.takes_value && std::find(o.names.begin(), o.names.end(), word) != o.names.end()) before = o;
    } else {
      const auto& below = app->commands();
      const auto found = std::find_if(below.begin(), below.end(), [&](const auto& sub) { return sub->name() == word; });
      given = found == below.end() ? given + 1 : 0;
      if (found != below.end()) app = found->get();
    }
  }
  if (before) return values_of(*before);
  return next_words(*app, words.empty() ? "" : words.back(), given);
}

void add_completion(CommandLine& root) {
  CommandLine& app =
      root.add_command("completion", "Completion for bash, zsh and fish: commands, options and names of jobs");
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish").required().check(base::one_of({"bash", "zsh", "fish"}));
  app.footer("An installed dyngrid has the three scripts in folders where the shells look for them. Elsewhere:\n"
             "  bash, ~/.bashrc:                  source <(dyngrid completion bash)\n"
             "  zsh, a folder of $fpath:          dyngrid completion zsh >_dyngrid\n"
             "  fish, ~/.config/fish/config.fish: dyngrid completion fish | source");
  app.action([shell] { std::fputs(*shell == "bash" ? bash : *shell == "zsh" ? zsh : fish, stdout); });
}

} // namespace command
