#include "tape/replaying.hpp"

#include "arguments.hpp"
#include "nodes/client.hpp"
#include "text.hpp"

#include <troupe/base/sizes.hpp>
#include <troupe/framework/log.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/replay.hpp>

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

struct replay_request {
  std::vector<std::string> files;
  std::string address;
  std::string speed = "1";
  std::vector<std::string> actors; // "NAME" or "NAME=OTHER".
  std::string side;
  bool json = false;
  access by;
  replay_options how;
};

// Slower replays would practically never end.
constexpr double speed_min = 0.001;

/// The speed; 0 for "max". Nullopt if it is neither "max" nor a number from speed_min on.
std::optional<double> speed_of(const std::string& text) {
  if (text == "max")
    return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < speed_min)
    return std::nullopt;
  return value;
}

CLI::Validator is_speed() {
  return CLI::Validator{[](std::string& given) {
                          return speed_of(given) ? std::string{}
                                                 : "'" + given + "' is neither max nor a number from 0.001 on";
                        },
                        {}};
}

double replayed_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string progress_text(const replay_report& report) {
  return fmt::format("{} sent, {} of {} answered, {} different, at most {:.3f} s late",
                     several(report.messages, "message"), grouped(report.answers), several(report.requests, "request"),
                     grouped(report.different), replayed_seconds(report.latest));
}

std::string replay_text(const replay_report& report, bool compares) {
  auto text = progress_text(report) + '\n';
  if (compares)
    text +=
        fmt::format("{} as recorded, {} different, {} not answered in time, {} not compared\n", grouped(report.same),
                    grouped(report.different), grouped(report.unanswered), grouped(report.uncompared));
  else if (report.unanswered > 0)
    text += several(report.unanswered, "request") + " not answered in time\n";
  for (const auto& each : report.differences)
    text += in_line(fmt::format("message {} to \"{}\": {}", each.message, each.actor, each.what), 1'000) + '\n';
  if (report.differences.size() < report.different + report.unanswered && compares)
    text += "further differences are not shown\n";
  for (const auto& [reason, count] : report.skipped)
    text += in_line("not sent: " + several(count, "message") + ": " + reason, 1'000) + '\n';
  if (report.damages > 0)
    text += several(report.damages, "part") + " of the tape cannot be read\n";
  if (!report.ended_early.empty())
    text += reason_in_line("ended early: " + report.ended_early) + '\n';
  return text;
}

std::string replay_json(const replay_report& report) {
  json result{{"messages", report.messages},
              {"requests", report.requests},
              {"answers", report.answers},
              {"unanswered", report.unanswered},
              {"same", report.same},
              {"different", report.different},
              {"uncompared", report.uncompared},
              {"unasked", report.unasked},
              {"differences", json::array()},
              {"skipped", json::object()},
              {"damages", report.damages},
              {"latest_seconds", replayed_seconds(report.latest)},
              {"ended_early", report.ended_early}};
  for (const auto& each : report.differences)
    result["differences"].push_back({{"message", each.message}, {"actor", each.actor}, {"what", each.what}});
  for (const auto& [reason, count] : report.skipped)
    result["skipped"][reason] = count;
  return result.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

/// What replays. Lifetime: the link ends with this object.
struct replaying_node {
  type_registry types;
  family_set families;
  system_config config;
  caf::actor_system system{config};
  std::optional<node> home;
};

void replay_tape(replay_request& asked, std::ostream& out, std::ostream& err, int& status) {
  const auto refuse = [&](const std::string& why) {
    err << reason_in_line("troupe: " + why) << '\n';
    status = 2;
  };
  asked.how.speed = *speed_of(asked.speed); // CLI11 has checked it.
  if (!asked.side.empty())
    asked.how.side = asked.side == "peer" ? tape_side::peer : tape_side::recorder;
  for (const auto& each : asked.actors) {
    const auto equals = each.find('=');
    asked.how.actors[each.substr(0, equals)] = equals == std::string::npos ? each : each.substr(equals + 1);
  }
  asked.how.next_files.assign(asked.files.begin() + 1, asked.files.end());
  asked.how.answer_timeout = asked.by.timeout();
  asked.how.find_timeout = asked.by.timeout();
  if (::isatty(STDERR_FILENO) == 1)
    asked.how.progress = [&err](const replay_report& report) { err << '\r' << progress_text(report) << std::flush; };
  if (std::getenv("TROUPE_LOG") == nullptr)
    set_log_threshold(log_level::error); // What is not delivered is in the report.
  auto from = tape::open(asked.files.front());
  if (!from)
    return refuse(from.error().message());
  replaying_node by;
  add_replay_types(by.types);
  auto opened = node::open(by.system, by.types, by.families,
                           {.name = observer_name(), .store = std::nullopt, .local_queries = false});
  if (!opened)
    return refuse(opened.error().message());
  by.home = *std::move(opened);
  auto to = by.home->connect(asked.address, {.serializers = {"typed", "msgpack", "json"},
                                             .share_store = false,
                                             .credentials = asked.by.known_by,
                                             .connect_timeout = asked.by.timeout()});
  if (!to)
    return refuse(asked.address + ": " + to.error().message());
  const auto report = replay(*from, *to, by.system, by.types, by.families, asked.how);
  if (asked.how.progress)
    err << '\n';
  if (!report)
    return refuse(report.error().message());
  out << (asked.json ? replay_json(*report) : replay_text(*report, asked.how.expect_answers));
  const auto is_good = asked.how.expect_answers ? report->is_clean() : report->ended_early.empty();
  status = is_good && report->damages == 0 ? 0 : 1;
  const auto compared = report->same + report->different + report->uncompared + report->unanswered;
  if (report->messages == 0 || (asked.how.expect_answers && compared == 0)) {
    err << "troupe: " << (report->messages == 0 ? "nothing was sent" : "no answer was compared") << '\n';
    status = 1;
  }
}

} // namespace

void add_replay_command(CLI::App& app, std::ostream& out, std::ostream& err, int& status) {
  auto asked = std::make_shared<replay_request>();
  auto* replays = app.add_subcommand("replay", "Sends the messages of a tape again, to the actors of the same names");
  replays->add_option("files", asked->files, "The files of one recording, in their order")
      ->required()
      ->option_text("FILE...");
  replays->add_option("--to", asked->address, "The address of the node that gets them")
      ->required()
      ->option_text("ADDRESS");
  replays->add_option("--speed", asked->speed, "How much faster than recorded; max: as fast as the node answers")
      ->check(is_speed())
      ->option_text("SPEED")
      ->capture_default_str();
  replays
      ->add_option("--families", asked->how.families,
                   "Encodes the messages by these families (default: as they were recorded)")
      ->delimiter(',')
      ->check(is_one_of({"typed", "msgpack", "json"}))
      ->option_text("LIST");
  replays->add_flag(
      "--expect-answers", asked->how.expect_answers,
      "Compares the answers with the recorded ones; status 1 if one differs or is missing, or if none was compared");
  replays
      ->add_option("--actor", asked->actors,
                   "Sends only to the actor of this name; with =OTHER to the actor of another name. Repeatable")
      ->option_text("NAME[=OTHER]");
  replays->add_option("--side", asked->side, "Sends only what the recorder's end, or its peer, has sent")
      ->check(is_one_of({"recorder", "peer"}))
      ->option_text("SIDE");
  replays->add_option("--requests", asked->how.requests_most, "Waits at this many unanswered requests")
      ->check(is_whole_within(1, 10'000'000))
      ->option_text("N")
      ->capture_default_str();
  replays->add_flag("--json", asked->json, "Prints a JSON document");
  add_access(*replays, asked->by);
  replays->callback([asked, &out, &err, &status] { replay_tape(*asked, out, err, status); });
}

} // namespace troupe::tools
