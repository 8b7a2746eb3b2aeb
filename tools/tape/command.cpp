#include "tape/command.hpp"

#include "arguments.hpp"
#include "tape/costs.hpp"
#include "tape/selection.hpp"
#include "tape/views.hpp"
#include "text.hpp"

#include <troupe/framework/tape_cost.hpp>
#include <troupe/serializers/serialize.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::tools {

namespace {

struct tape_request {
  std::vector<std::string> files;
  tape_selection which;
  bool json = false;
  bool with_values = false;
  std::uint64_t limit = 0; // Of messages; 0: none.
};

/// Writes the events of files, one after the other.
class tape_printer {
public:
  tape_printer(const tape_request& asked, std::ostream& out) : asked_(asked), out_(out) {}

  /// Returns false if enough messages are written.
  bool print(const std::string& file, tape& from) {
    auto is_introduced = false;
    while (auto event = from.next()) {
      if (!std::exchange(is_introduced, true)) // The first event knows who has recorded.
        out_ << (asked_.json ? json_of(file, from.info()) : text_of(file, from.info()));
      is_damaged_ = is_damaged_ || std::holds_alternative<tape_damage>(*event);
      const auto* message = std::get_if<tape_message>(&*event);
      if (!is_wanted(*event, message))
        continue;
      out_ << (asked_.json ? json_of(*event, asked_.with_values) : text_of(*event));
      if (message != nullptr && ++messages_ == asked_.limit)
        return false;
    }
    return true;
  }

  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

private:
  /// A search for messages shows besides them only what is missing.
  [[nodiscard]] bool is_wanted(const tape_event& event, const tape_message* message) const {
    if (message != nullptr)
      return asked_.which.contains(*message);
    return !asked_.which.has_conditions() || std::holds_alternative<tape_drop>(event)
           || std::holds_alternative<tape_damage>(event) || std::holds_alternative<tape_end>(event);
  }

  const tape_request& asked_;
  std::ostream& out_;
  std::uint64_t messages_ = 0;
  bool is_damaged_ = false;
};

void show(const tape_request& asked, std::ostream& out, std::ostream& err, int& status) {
  tape_printer printer{asked, out};
  std::optional<tape> current;
  for (const auto& file : asked.files) {
    if (!current || !current->go_on(file)) { // Not the next file of the same recording.
      auto opened = tape::open(file);
      if (!opened) {
        out.flush();
        err << reason_in_line("troupe: " + opened.error().message()) << '\n';
        status = 2;
        return;
      }
      current.emplace(*std::move(opened));
    }
    if (!printer.print(file, *current))
      break;
  }
  status = printer.is_damaged() ? 1 : 0;
}

struct cost_request {
  std::vector<std::string> files;
  tape_cost_options how;
  std::vector<std::string> compressions;
  bool json = false;
};

void show_costs(cost_request& asked, std::ostream& out, std::ostream& err, int& status) {
  const auto refuse = [&](const std::string& why) {
    err << reason_in_line("troupe: " + why) << '\n';
    status = 2;
  };
  if (!asked.compressions.empty())
    asked.how.compressions.clear();
  for (const auto& name : asked.compressions)
    asked.how.compressions.push_back(compression_named(name).value_or(compression::none)); // CLI11 has checked it.
  auto from = tape::open(asked.files.front());
  if (!from)
    return refuse(from.error().message());
  asked.how.next_files.assign(asked.files.begin() + 1, asked.files.end());
  const type_registry types;
  const family_set families;
  const auto report = tape_cost(*from, types, families, asked.how);
  if (!report)
    return refuse(report.error().message());
  out << (asked.json ? json_of(*report) : text_of(*report));
  status = report->damages > 0 ? 1 : 0;
}

void add_cost(CLI::App& tapes, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<cost_request>();
  auto* costs = tapes.add_subcommand("cost", "Shows what the messages would have cost by other families and "
                                             "compressions, and what could change in the configuration");
  costs->add_option("files", asked->files, "The files of one recording, in their order")
      ->required()
      ->option_text("FILE...");
  costs
      ->add_option("--families", asked->how.families,
                   "Compares these and the recorded ones (default: typed,msgpack,json). Others need the program")
      ->delimiter(',')
      ->option_text("LIST");
  costs->add_option("--compressions", asked->compressions, "none, lz4, zstd (default: all)")
      ->delimiter(',')
      ->check(is_one_of({"none", "lz4", "zstd"}))
      ->option_text("LIST");
  costs
      ->add_option("--payloads", asked->how.payloads_most,
                   "Measures so many payloads of each type, link and direction (default: 1000)")
      ->check(is_whole_within(1, 100'000'000))
      ->option_text("N");
  costs
      ->add_option("--bytes-per-second", asked->how.bytes_per_second,
                   "The rate of the network, for the advice (default: 125000000 over TCP, 2000000000 within a host)")
      ->check(is_whole_within(1, 1'000'000'000'000))
      ->option_text("N");
  costs->add_flag("--json", asked->json, "Prints a JSON document");
  costs->callback([asked, &out, &err, &status] { show_costs(*asked, out, err, status); });
}

void add_files(CLI::App& to, tape_request& asked) {
  to.add_option("files", asked.files, "The files of a recording, in their order, or of several recordings")
      ->required()
      ->option_text("FILE...");
}

void add_selection(CLI::App& to, tape_request& asked) {
  to.add_option("--actor", asked.which.actor, "Only messages from or to the actor of this name or number")
      ->option_text("NAME");
  to.add_option("--type", asked.which.type,
                "Only messages with an element of this type; with * at its end: whose alias begins so")
      ->option_text("ALIAS");
  to.add_option("--link", asked.which.link, "Only messages of the link with this number")->option_text("NUMBER");
  to.add_option("--since", asked.which.since_seconds, "Only messages from so many seconds after the recording began")
      ->option_text("SECONDS");
  to.add_option("--until", asked.which.until_seconds, "Only messages until so many seconds after the recording began")
      ->option_text("SECONDS");
  to.add_option("--limit", asked.limit, "Stops after so many messages; 0: shows all")->option_text("N");
}

} // namespace

void add_tape_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto* tapes = app.add_subcommand("tape", "Shows the messages on tapes, which are recordings of links");
  tapes->require_subcommand(1);

  auto shown = std::make_shared<tape_request>();
  auto* shows = tapes->add_subcommand("show", "Shows one line for each message");
  add_files(*shows, *shown);
  shows->add_option("--limit", shown->limit, "Stops after so many messages; 0: shows all")->option_text("N");
  shows->add_flag("--json", shown->json, "One JSON object on each line instead of text");
  shows->callback([shown, &out, &err, &status] { show(*shown, out, err, status); });

  auto found = std::make_shared<tape_request>();
  auto* finds = tapes->add_subcommand("grep", "Shows the messages that meet all conditions");
  add_files(*finds, *found);
  add_selection(*finds, *found);
  finds->add_flag("--json", found->json, "One JSON object on each line instead of text");
  finds->callback([found, &out, &err, &status] {
    if (!found->which.has_conditions()) {
      err << "troupe: tape grep needs a condition: --actor, --type, --link, --since or --until\n";
      status = 2;
      return;
    }
    show(*found, out, err, status);
  });

  add_cost(*tapes, out, err, status);

  auto exported = std::make_shared<tape_request>();
  exported->with_values = true;
  auto* exports =
      tapes->add_subcommand("export", "Writes the messages with their values, one JSON object on each line. "
                                      "Values of typed, msgpack and json are readable without the program");
  add_files(*exports, *exported);
  add_selection(*exports, *exported);
  exports->add_flag("--json", exported->json, "The form of the output; there is no other yet");
  exports->callback([exported, &out, &err, &status] {
    exported->json = true;
    show(*exported, out, err, status);
  });
}

} // namespace troupe::tools
