// The output of `troupe completion`, tested in the shells that it supports.
#include "command_support.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace troupe::tests {

namespace {

[[nodiscard]] bool is_installed(const std::string& shell) {
  return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
}

/// Provides a folder that the shells use as their home.
class completing : public ::testing::Test {
protected:
  completing() { std::filesystem::create_directory(home_); }
  ~completing() override { std::filesystem::remove_all(home_); }

  [[nodiscard]] std::string path(const std::string& file) const { return (home_ / file).string(); }

  void write(const std::string& file, const std::string& text) const { std::ofstream{path(file)} << text; }

  void write_script(const std::string& file, const std::string& shell) const {
    const auto script = run("completion " + shell);
    ASSERT_EQ(script.status, 0);
    write(file, script.text);
  }

  /// Returns the output of the command to both streams.
  [[nodiscard]] std::string said(const std::string& command) const {
    return run_line("cd " + home_.string()
                    + " && HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD ZDOTDIR=$PWD TERM=dumb " + command)
        .text;
  }

private:
  const std::filesystem::path home_ = std::filesystem::path{folder()} / "completing";
};

/// Each line has exactly one completion.
const std::map<std::string, std::string> completed_lines{
    {"troupe sto", "troupe store "},
    {"troupe store li", "troupe store list "},
    {"troupe memory --gr", "troupe memory --group-by "},
    {"troupe memory --json --gr", "troupe memory --json --group-by "},
    {"troupe memory --group-by store --so", "troupe memory --group-by store --sort "},
    {"troupe memory --sort s", "troupe memory --sort size "},
    {"troupe store --json list --sort cr", "troupe store --json list --sort creator "},
    {"troupe bench -p ring,ec", "troupe bench -p ring,echo "},
    {"troupe bench --to x --arr", "troupe bench --to x --arrivals "},
    {"troupe bench dif", "troupe bench diff "},
    {"troupe cluster doc", "troupe cluster doctor "},
    {"troupe cluster members --js", "troupe cluster members --json "},
    {"troupe completion z", "troupe completion zsh "},
    {"troupe contract check older.con", "troupe contract check older.contract "},
    {"troupe store list --directory older.con", "troupe store list --directory older.contract "},
};

TEST_F(completing, in_zsh) {
  if (!is_installed("zsh"))
    GTEST_SKIP() << "there is no zsh here";
  write_script("_troupe", "zsh");
  write("older.contract", "");
  write(".zshrc", "autoload -U compinit\n"
                  "if [[ $HOW == fpath ]]; then fpath=($HOME $fpath); compinit -u -D\n"
                  "else compinit -u -D; source $HOME/_troupe; fi\n"
                  "show() { print -r -- \"$BUFFER\" >> $HOME/shown; BUFFER=; print SHOWN }\n"
                  "zle -N show; bindkey '^G' show\n"
                  "PS1='READY'\n");
  // Types each line and a tab into a new zsh, which records the resulting line.
  write("type", "zmodload zsh/zpty\n"
                "zpty shell zsh -d -i\n"
                "zpty -r shell output '*READY*'\n"
                "while IFS= read -r line; do\n"
                "  zpty -w -n shell \"$line\"$'\\t\\a'; zpty -r shell output '*SHOWN*'\n"
                "done < typed\n"
                "zpty -d shell\n"
                "cat shown; rm shown\n");
  std::string typed;
  std::string shown;
  for (const auto& [part, whole] : completed_lines) {
    typed += part + '\n';
    shown += whole + '\n';
  }
  write("typed", typed);
  for (const auto* how : {"source", "fpath"})
    EXPECT_EQ(said(std::string{"HOW="} + how + " timeout 10 zsh -f type"), shown) << how;
}

TEST_F(completing, in_fish) {
  if (!is_installed("fish"))
    GTEST_SKIP() << "there is no fish here";
  write_script("script", "fish");
  write("older.contract", "");
  write("ask", "source ./script\ncomplete -C $argv[1]\n");
  for (const auto& [typed, whole] : completed_lines) {
    const auto words = said("fish ask '" + typed + "'"); // The only candidate, a tab and its description.
    const auto last = words.substr(0, words.find_first_of("\t\n")) + ' ';
    EXPECT_EQ(typed.substr(0, typed.rfind(' ') + 1) + last, whole) << words;
    EXPECT_EQ(std::ranges::count(words, '\n'), 1) << words;
  }
}

TEST_F(completing, in_bash) {
  write_script("script", "bash");
  write("older.contract", "");
  write("ask", "source ./script\nCOMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _troupe\n"
               "echo \"${COMPREPLY[*]}\"\n");
  for (const auto& [typed, whole] : completed_lines)
    EXPECT_EQ(typed.substr(0, typed.rfind(' ') + 1) + said("bash ask '" + typed + "'"),
              whole.substr(0, whole.size() - 1) + '\n');
}

} // namespace

} // namespace troupe::tests
