#include <troupe/framework/gateway/internal/messages/json_messages.hpp>

#include <array>
#include <utility>

#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/system_messages.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/message_values.hpp>
#include <troupe/framework/remote_call.hpp>
#include <troupe/framework/spawn_request.hpp>
#include <troupe/serializers/json/json_reader.hpp>
#include <troupe/serializers/serialize_calls.hpp>

namespace troupe::web {

namespace {

refusal malformed(std::string text) {
  return {.status = 400, .code = "malformed", .text = std::move(text)};
}

/// The text between two positions of a reader, without the white space around it.
std::string_view between(std::string_view text, std::size_t from, std::size_t to) {
  constexpr std::string_view space = " \t\r\n";
  const auto part = text.substr(from, to - from);
  const auto first = part.find_first_not_of(space);
  return first == std::string_view::npos ? std::string_view()
                                         : part.substr(first, part.find_last_not_of(space) - first + 1);
}

bool cut_value(json_reader& reader, std::string_view text, json_value& value, std::string& problem) {
  if (reader.kind() != value_kind::map)
    return reader.unexpected("a value as {\"type\": ..., \"value\": ...}");
  if (!reader.begin_structure())
    return false;
  bool has_value = false;
  std::string_view name;
  for (bool more = false;;) {
    if (!reader.field(name, more))
      return false;
    if (!more)
      break;
    const bool is_atom = name == "atom";
    if (name == "type" ? !value.alias.empty() : (is_atom || name == "value") && has_value) {
      problem = "a value has a field twice, or both \"value\" and \"atom\"";
      return false;
    }
    if (name == "type") {
      std::string_view alias;
      if (!reader.text(alias))
        return false;
      value.alias = alias;
    } else if (is_atom || name == "value") {
      const auto from = reader.position();
      if (!reader.skip())
        return false;
      value.text = between(text, from, reader.position());
      if (is_atom && !std::exchange(value.alias, "caf.atom").empty()) {
        problem = "an atom needs no \"type\"";
        return false;
      }
      has_value = true;
    } else {
      problem = "a value has the fields \"type\" and \"value\", or \"atom\"; found " + excerpt(name);
      return false;
    }
  }
  if (value.alias.empty() || !has_value)
    problem = "a value lacks \"type\" or \"value\"";
  return problem.empty();
}

/// Types by which a message would do something to the actor instead of telling it something.
bool acts_on_actors(const type_entry& type) {
  const std::array forbidden{std::type_index(typeid(caf::error)), std::type_index(typeid(caf::exit_msg)),
                             std::type_index(typeid(caf::down_msg)), std::type_index(typeid(internal::spawn_call)),
                             std::type_index(typeid(internal::task_call))};
  for (const auto& each : forbidden)
    if (type.type() == each)
      return true;
  return false;
}

/// Keeps the text of one value while a frame views it.
refusal unreadable(const std::string& alias, const serialize_error& error) {
  auto made = refusal_of(error);
  if (made.text.find(alias) == std::string::npos)
    made.text = alias + ": " + made.text;
  return made;
}

} // namespace

json_messages::json_messages(const type_registry& types, const family_set& families, std::size_t depth_max)
    : types_(types), families_(families), json_(*families.find("json")) {
  bounds_.depth = depth_max;
  bounds_.height = depth_max;
  bounds_.memory_bytes = 256_MiB;
}

std::expected<std::vector<json_value>, refusal> json_messages::cut(std::string_view text) const {
  context ctx;
  ctx.limits = bounds_;
  ctx.limits.depth = bounds_.depth + 2; // The message and the value around each value.
  json_reader reader(ctx, std::as_bytes(std::span(text)), text.size());
  std::vector<json_value> values;
  std::string problem;
  const auto read = [&] {
    if (reader.kind() != value_kind::list)
      return cut_value(reader, text, values.emplace_back(), problem);
    std::size_t expected = 0;
    if (!reader.begin_list(expected))
      return false;
    for (bool more = false;;) {
      if (!reader.next(more))
        return false;
      if (!more)
        return true;
      if (values.size() == values_max) {
        problem = "a message has at most " + std::to_string(values_max) + " values";
        return false;
      }
      if (!cut_value(reader, text, values.emplace_back(), problem))
        return false;
    }
  };
  if (read() && reader.finish())
    return values;
  if (!problem.empty())
    return std::unexpected{malformed(problem)};
  return std::unexpected{refusal_of(reader.error("message", "json"))};
}

std::expected<const type_entry*, refusal> json_messages::type_named(const std::string& alias) const {
  const auto* const type = types_.find(std::string_view{alias});
  if (type == nullptr)
    return std::unexpected{
        refusal{.status = 422, .code = "unknown_type", .text = "the type " + excerpt(alias) + " is not registered"}};
  if (acts_on_actors(*type))
    return std::unexpected{
        refusal{.status = 403,
                .code = "not_allowed",
                .text = "values of the type " + excerpt(alias) + " may not be sent through a gateway"}};
  return type;
}

std::expected<caf::message, refusal> json_messages::decode(const std::vector<json_value>& values,
                                                           message_quota::claim& claim,
                                                           std::shared_ptr<const void> keeps) const {
  std::vector<const type_entry*> types;
  types.reserve(values.size());
  for (const auto& value : values) {
    auto found = type_named(value.alias);
    if (!found)
      return std::unexpected{std::move(found).error()};
    types.push_back(*found);
  }
  deserialize_options options{.deserializers = {"json"}};
  options.context.limits = bounds_;
  options.context.allow_cycles = false;
  options.context.allow_references = false;
  options.context.transport = "gateway";
  std::size_t taken_bytes = 0;
  options.context.taken_bytes = &taken_bytes;
  refusal why;
  const auto fill = [&](std::size_t place, void* value) -> std::expected<void, node_error> {
    const auto& from = values[place];
    const payload encoded{standard_header(json_, *types[place]), {frame::copy_of(std::as_bytes(std::span(from.text)))}};
    if (auto done = deserialize_entry(*types[place], value, encoded, options, types_, families_); !done) {
      why = unreadable(from.alias, done.error());
      return std::unexpected{node_error{node_errc::undecodable, why.text}};
    }
    if (!claim.grow(types[place]->size_bytes() + std::exchange(taken_bytes, 0))) {
      why = {.status = 503,
             .code = "link_busy",
             .text = "actors have not consumed the messages of this token, which may take "
                     + std::to_string(claim.bytes_max()) + " bytes",
             .retry_after_seconds = 1};
      return std::unexpected{node_error{node_errc::link_busy, why.text}};
    }
    return {};
  };
  auto made = message_with(types, fill, std::move(keeps));
  if (made)
    return *std::move(made);
  return std::unexpected{why.status != 0 ? std::move(why) : refusal_of(made.error())};
}

std::expected<std::string, refusal> json_messages::encode(const caf::message& message, std::size_t bytes_max) const {
  const auto values = values_of(message, types_);
  serialize_options options{.serializers = {"json"}};
  options.context.allow_references = false;
  options.context.transport = "gateway";
  std::string made;
  if (values.size() != 1)
    made += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [type, value] = values[i];
    if (type == nullptr)
      return std::unexpected{refusal{
          .status = 502, .code = "unserializable", .text = "the type " + type_name_of(message, i) + " has no alias"}};
    auto encoded = serialize_entry(*type, value, options, types_, families_);
    if (!encoded)
      return std::unexpected{refusal{.status = 502, .code = "unserializable", .text = encoded.error().message()}};
    const auto text = encoded->frames.front().bytes();
    if (text.size() > bytes_max || made.size() > bytes_max - text.size())
      return std::unexpected{refusal{.status = 502,
                                     .code = "limit_exceeded",
                                     .text = "the answer takes more than " + std::to_string(bytes_max) + " bytes"}};
    made += i == 0 ? "{\"type\":" : ",{\"type\":";
    made += json_text(type->alias());
    made += ",\"value\":";
    made.append(reinterpret_cast<const char*>(text.data()), text.size());
    made += '}';
  }
  if (values.size() != 1)
    made += ']';
  return made;
}

} // namespace troupe::web
