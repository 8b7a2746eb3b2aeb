#include <troupe/framework/otlp/otlp_json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include <troupe/base/version.hpp>

namespace troupe::otlp {

namespace {

using nlohmann::json;

std::string nanoseconds_of(std::chrono::system_clock::time_point at) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

json text_attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

json number_attribute(std::string_view key, std::uint64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

json to_json(const troupe::span& from) {
  constexpr int error_status = 2;
  constexpr int sampled_flag = 1;
  json made{{"traceId", hex_of(from.trace)},
            {"spanId", hex_of(from.id)},
            {"name", from.name},
            {"kind", static_cast<int>(from.kind)},
            {"flags", sampled_flag},
            {"startTimeUnixNano", nanoseconds_of(from.start)},
            {"endTimeUnixNano", nanoseconds_of(std::max(from.start, from.end))}};
  if (from.parent != span_id{})
    made["parentSpanId"] = hex_of(from.parent);
  if (!from.tracestate.empty())
    made["traceState"] = from.tracestate;
  if (!from.error.empty())
    made["status"] = {{"code", error_status}, {"message", from.error}};
  auto attributes = json::array();
  attributes.push_back(text_attribute("messaging.system", "troupe"));
  attributes.push_back(text_attribute("troupe.peer", from.peer));
  attributes.push_back(number_attribute("troupe.link", from.link));
  if (!from.types.empty())
    attributes.push_back(text_attribute("troupe.types", from.types));
  if (!from.family.empty())
    attributes.push_back(text_attribute("troupe.family", from.family));
  if (from.bytes != 0)
    attributes.push_back(number_attribute("messaging.message.body.size", from.bytes));
  if (from.actor != 0)
    attributes.push_back(number_attribute("troupe.actor", from.actor));
  const auto time = [&](std::string_view key, const std::optional<std::chrono::nanoseconds>& value) {
    if (value)
      attributes.push_back(
          number_attribute(key, static_cast<std::uint64_t>(std::max<std::int64_t>(value->count(), 0))));
  };
  time("troupe.wire_ns", from.wire_time);
  time("troupe.decode_ns", from.decode_time);
  time("troupe.queue_ns", from.queue_time);
  time("troupe.handler_ns", from.handler_time);
  made["attributes"] = std::move(attributes);
  return made;
}

} // namespace

std::string request_body(const resource& from, std::span<const troupe::span> spans) {
  auto list = json::array();
  for (const auto& each : spans)
    list.push_back(to_json(each));
  auto common = json::array();
  common.push_back(text_attribute("service.name", from.service));
  common.push_back(text_attribute("service.instance.id", from.instance));
  json whole;
  whole["resourceSpans"][0]["resource"]["attributes"] = std::move(common);
  auto& made = whole["resourceSpans"][0]["scopeSpans"][0];
  made["scope"] = {{"name", "troupe"}, {"version", TROUPE_VERSION}};
  made["spans"] = std::move(list);
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);
}

partial_success read_answer(std::string_view body) {
  const auto answer = json::parse(body, nullptr, false);
  if (!answer.is_object() || !answer.contains("partialSuccess") || !answer["partialSuccess"].is_object())
    return {};
  const auto& partial = answer["partialSuccess"];
  partial_success result;
  if (const auto found = partial.find("rejectedSpans"); found != partial.end()) {
    if (found->is_number_unsigned())
      result.rejected = found->get<std::uint64_t>();
    else if (const auto* text = found->get_ptr<const std::string*>())
      std::from_chars(text->data(), text->data() + text->size(), result.rejected);
  }
  if (const auto found = partial.find("errorMessage"); found != partial.end() && found->is_string())
    result.message = found->get<std::string>();
  return result;
}

} // namespace troupe::otlp
