#include "help/command.hpp"
#include "help/words.hpp"

#include <troupe/base/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace troupe::tools {

namespace {

/// Escapes text for man, so that no line is taken for a macro and dashes stay ASCII.
[[nodiscard]] std::string escaped(const std::string& text) {
  std::string result;
  for (const auto each : text) {
    if (each == '\\')
      result += "\\e";
    else if (each == '-')
      result += "\\-";
    else
      result += each;
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

[[nodiscard]] std::string title_of(const command_words& command) {
  std::string text = "troupe";
  for (const auto& each : command.path)
    text += ' ' + each;
  return text;
}

[[nodiscard]] std::string synopsis_of(const command_words& command) {
  auto text = ".B " + escaped(title_of(command)) + '\n';
  text += "[\\fIOPTIONS\\fR]";
  for (const auto* each : positionals_of(*command.command)) {
    const auto name = "\\fI" + escaped(each->get_name(true)) + "\\fR";
    text += each->get_required() ? ' ' + name : " [" + name + ']';
  }
  return text + "\n.br\n";
}

[[nodiscard]] std::string options_text(const CLI::App& command) {
  std::string text;
  for (const auto* each : options_of(command)) {
    std::string names;
    for (const auto& name : names_of(*each))
      names += (names.empty() ? "" : ", ") + ("\\fB" + escaped(name) + "\\fR");
    if (takes_value(*each))
      names +=
          " \\fI" + escaped(each->get_option_text().empty() ? each->get_type_name() : each->get_option_text()) + "\\fR";
    auto what = each->get_description();
    if (const auto& standard = each->get_default_str(); !standard.empty())
      what += " (" + standard + ')';
    text += ".TP\n" + names + '\n' + escaped(what) + '\n';
  }
  return text;
}

/// The examples unchanged, one per line.
[[nodiscard]] std::string examples_of(const CLI::App& command) {
  const auto& footer = command.get_footer();
  return footer.empty() ? "" : ".PP\n.nf\n" + escaped(footer) + ".fi\n";
}

} // namespace

std::string man_page_of(const CLI::App& app) {
  const auto commands = commands_of(app);
  std::string text = ".TH TROUPE 1 \"\" \"Troupe " TROUPE_VERSION "\" \"User Commands\"\n"
                     ".SH NAME\ntroupe \\- looks into what Troupe's programs do and share\n.SH SYNOPSIS\n";
  for (const auto& each : commands)
    if (commands_below(*each.command).empty())
      text += synopsis_of(each);
  text += ".SH DESCRIPTION\n" + escaped(app.get_description()) + '\n' + ".SH COMMANDS\n";
  for (const auto& each : commands) {
    if (each.path.empty())
      continue;
    text += ".SS " + escaped(title_of(each)) + '\n' + escaped(each.command->get_description()) + ".\n";
    for (const auto* positional : positionals_of(*each.command))
      text +=
          ".TP\n\\fI" + escaped(positional->get_name(true)) + "\\fR\n" + escaped(positional->get_description()) + '\n';
    if (commands_below(*each.command).empty())
      text += options_text(*each.command);
    text += examples_of(*each.command);
  }
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\nIt is done.\n.TP\n.B 1\nThere is nothing of that name, nobody answers, something "
      "contradicts itself, a change breaks older peers, or something could not be measured: standard error says "
      "what.\n.TP\n.B 2\nThe arguments are "
      "none of those above, or a file cannot be read.\n.TP\n.B 128 and more\nA signal of that number less 128 ended a "
      "measurement.\n.SH FILES\n.TP\n.I /dev/shm\nThe stores of this host, where no --directory is given.\n.TP\n.I "
      "$XDG_RUNTIME_DIR/troupe/cookie\nThe secret of this host's TCP nodes, or $HOME/.config/troupe/cookie; "
      "--cookie-file names another.\n.SH ENVIRONMENT\n.TP\n.B TROUPE_LOG\nWhat nodes write to standard error: debug, "
      "info, warning, error or off.\n.SH SEE ALSO\n\\fBshm_overview\\fR(7), \\fBunix\\fR(7)\n";
  return text;
}

} // namespace troupe::tools
