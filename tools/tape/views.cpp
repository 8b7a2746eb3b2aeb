#include "tape/views.hpp"

#include "text.hpp"

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/serialize.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <string_view>
#include <variant>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

std::string utc_of(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string_view direction_of(tape_side writer) {
  return writer == tape_side::peer ? "received" : "sent";
}

std::string_view word_of(tape_message_kind kind) {
  switch (kind) {
  case tape_message_kind::plain:
    return "message";
  case tape_message_kind::request:
    return "request";
  case tape_message_kind::answer:
    return "answer";
  }
  return "message";
}

std::string_view word_of(tape_end::state state) {
  switch (state) {
  case tape_end::state::closed:
    return "closed";
  case tape_end::state::continued:
    return "continued";
  case tape_end::state::full:
    return "full";
  case tape_end::state::cut:
    return "cut";
  }
  return "closed";
}

std::string text_of_actor(const tape_actor& actor) {
  if (actor.number == 0)
    return "nobody";
  return actor.name.empty() ? "actor " + std::to_string(actor.number) : '"' + actor.name + '"';
}

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string types_of(const tape_message& message) {
  std::vector<std::string> names;
  for (const auto& each : message.elements)
    names.push_back(each.type.empty() ? "?" : each.type);
  return listed(names);
}

std::string families_of(const tape_message& message) {
  std::vector<std::string> names;
  for (const auto& each : message.elements)
    if (!each.family.empty() && std::ranges::find(names, each.family) == names.end())
      names.push_back(each.family);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::uint64_t stored_bytes_of(const tape_message& message) {
  std::uint64_t bytes = 0;
  for (const auto& element : message.elements)
    for (const auto& each : element.frames)
      if (each.place == tape_frame_place::store)
        bytes += each.size_bytes;
  return bytes;
}

/// A line of an event at a time of a link.
std::string line_at(std::chrono::nanoseconds at, std::uint64_t link, const std::string& what) {
  return in_line(fmt::format("{:12.6f} link {} {}", seconds_of(at), link, what), 1'000) + '\n';
}

struct text_writer {
  std::string operator()(const tape_link& of) const {
    return line_at(of.at, of.number,
                   fmt::format("{} \"{}\" has \"{}\"{} as its peer, over {}; sends {}, accepts {}, compresses by {}",
                               of.is_repeated ? "goes on:" : "begins:", of.recorder_name, of.peer_name,
                               of.peer_address.empty() ? "" : " at " + of.peer_address, of.transport, listed(of.sends),
                               listed(of.accepts), of.compression));
  }
  std::string operator()(const tape_message& of) const {
    auto what = fmt::format("{:8} {}{} {}from {} to {}: ", direction_of(of.writer), of.is_urgent ? "urgent " : "",
                            word_of(of.kind),
                            of.kind == tape_message_kind::plain ? "" : std::to_string(of.request_number) + ' ',
                            text_of_actor(of.from), text_of_actor(of.to));
    if (of.value_bytes)
      what += fmt::format("values within the process, {} bytes", grouped(*of.value_bytes));
    else
      what += fmt::format("{} by {}, {} bytes", types_of(of), families_of(of), grouped(of.wire_bytes));
    if (const auto stored = stored_bytes_of(of); stored > 0)
      what += fmt::format(" and {} in the store", grouped(stored));
    if (of.asked_at)
      what += fmt::format(", after {:.6f} s", seconds_of(of.at - *of.asked_at));
    if (!of.missing.empty())
      what += "; not whole: " + of.missing;
    return line_at(of.at, of.link, what);
  }
  std::string operator()(const tape_drop& of) const {
    return line_at(of.first_at, of.link,
                   fmt::format("{:8} not on the tape, until {:.6f}: {} in {}, {} bytes: {}", direction_of(of.writer),
                               seconds_of(of.last_at), several(of.messages, "message"), several(of.packets, "packet"),
                               grouped(of.bytes), of.why));
  }
  std::string operator()(const tape_link_end& of) const { return line_at(of.at, of.link, "ends: " + of.reason); }
  std::string operator()(const tape_damage& of) const {
    return in_line(fmt::format("damaged, bytes {} to {}: {}", grouped(of.begin), grouped(of.end), of.what), 1'000)
           + '\n';
  }
  std::string operator()(const tape_end& of) const {
    switch (of.how) {
    case tape_end::state::cut:
      return "the file does not say that it ends here: its recorder was killed or still records, or the file was cut\n";
    case tape_end::state::full:
      return "the tape had reached its bound; nothing was recorded after this\n";
    default:
      return "";
    }
  }
};

json json_of_actor(const tape_actor& actor) {
  if (actor.number == 0)
    return nullptr;
  json result{{"number", actor.number}, {"at", actor.exporter == tape_side::peer ? "peer" : "recorder"}};
  if (!actor.name.empty())
    result["name"] = actor.name;
  return result;
}

/// The value in the form of the family json, or why there is none.
void add_value(json& to, const tape_element& of) {
  static const type_registry types;
  static const family_set families;
  auto value = to_record(of);
  if (!value) {
    to["unreadable"] = value.error().message();
    return;
  }
  const auto text = serialize(*value, {.serializers = {"json"}}, types, families);
  if (!text) {
    to["unreadable"] = text.error().message();
    return;
  }
  const auto bytes = text->frames.at(0).bytes();
  to["value"] =
      json::parse(std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, nullptr, false);
}

json json_of_element(const tape_element& of, bool with_values) {
  json result{{"type", of.type}, {"family", of.family}};
  auto frames = json::array();
  for (const auto& each : of.frames)
    frames.push_back({{"bytes", each.size_bytes},
                      {"place", each.place == tape_frame_place::store    ? "store"
                                : each.place == tape_frame_place::chunks ? "chunks"
                                                                         : "message"},
                      {"recorded", each.is_recorded}});
  result["frames"] = frames;
  if (!of.actors.empty())
    for (const auto& each : of.actors)
      result["actors"].push_back(json_of_actor(each));
  if (of.objects > 0)
    result["objects"] = of.objects;
  for (const auto& each : of.mentions)
    result["mentions"].push_back({{"object", each.object}, {"bytes", each.size_bytes}, {"recorded", each.is_recorded}});
  if (!of.missing.empty())
    result["missing"] = of.missing;
  else if (with_values)
    add_value(result, of);
  return result;
}

struct json_writer {
  bool with_values;

  json operator()(const tape_link& of) const {
    return {{"event", "link"},
            {"link", of.number},
            {"at_seconds", seconds_of(of.at)},
            {"repeated", of.is_repeated},
            {"recorder", {{"name", of.recorder_name}, {"address", of.recorder_address}}},
            {"peer", {{"name", of.peer_name}, {"address", of.peer_address}}},
            {"transport", of.transport},
            {"compression", of.compression},
            {"sends", of.sends},
            {"accepts", of.accepts},
            {"features", of.features}};
  }
  json operator()(const tape_message& of) const {
    json result{{"event", "message"},
                {"number", of.number},
                {"link", of.link},
                {"at_seconds", seconds_of(of.at)},
                {"direction", direction_of(of.writer)},
                {"kind", word_of(of.kind)},
                {"urgent", of.is_urgent},
                {"from", json_of_actor(of.from)},
                {"to", json_of_actor(of.to)}};
    if (of.kind != tape_message_kind::plain)
      result["request"] = of.request_number;
    if (of.asked_at) {
      result["answers"] = of.answers;
      result["after_seconds"] = seconds_of(of.at - *of.asked_at);
    }
    result["bytes"] = of.wire_bytes;
    if (of.value_bytes)
      result["value_bytes"] = *of.value_bytes;
    auto elements = json::array();
    for (const auto& each : of.elements)
      elements.push_back(json_of_element(each, with_values));
    result["elements"] = elements;
    if (!of.missing.empty())
      result["missing"] = of.missing;
    result["place"] = of.place;
    return result;
  }
  json operator()(const tape_drop& of) const {
    return {{"event", "dropped"},
            {"link", of.link},
            {"direction", direction_of(of.writer)},
            {"first_at_seconds", seconds_of(of.first_at)},
            {"last_at_seconds", seconds_of(of.last_at)},
            {"packets", of.packets},
            {"messages", of.messages},
            {"bytes", of.bytes},
            {"why", of.why}};
  }
  json operator()(const tape_link_end& of) const {
    return {{"event", "link_end"}, {"link", of.link}, {"at_seconds", seconds_of(of.at)}, {"reason", of.reason}};
  }
  json operator()(const tape_damage& of) const {
    return {{"event", "damage"}, {"begin", of.begin}, {"end", of.end}, {"what", of.what}};
  }
  json operator()(const tape_end& of) const { return {{"event", "end"}, {"how", word_of(of.how)}}; }
};

std::string line_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

} // namespace

std::string text_of(const std::string& file, const tape_info& info) {
  return printable(fmt::format("{}: file {} of a recording by {}, since {}", file, info.file,
                               info.node.empty() ? "an unknown node" : '"' + info.node + '"', utc_of(info.began)))
         + '\n';
}

std::string text_of(const tape_event& event) {
  return std::visit(text_writer{}, event);
}

std::string json_of(const std::string& file, const tape_info& info) {
  const auto since_epoch = std::chrono::duration<double>(info.began.time_since_epoch());
  return line_of({{"event", "tape"},
                  {"file", file},
                  {"number", info.file},
                  {"recording", fmt::format("{:016x}", info.recording)},
                  {"node", info.node},
                  {"software", info.software},
                  {"began_unix_seconds", since_epoch.count()}});
}

std::string json_of(const tape_event& event, bool with_values) {
  return line_of(std::visit(json_writer{with_values}, event));
}

} // namespace troupe::tools
