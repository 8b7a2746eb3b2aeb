// Messages of actors as JSON, and back.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <caf/message.hpp>

#include <troupe/framework/gateway/internal/access/message_quota.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::web {

/// A value of a message in JSON: the alias of its type, and its place in the text.
struct json_value {
  std::string alias;
  std::string_view text;
};

/// Converts between messages and JSON. A value is `{"type": ALIAS, "value": ...}`, and an atom also `{"atom": TEXT}`. A
/// message of one value is that value; any other message is a list of values. The values have the form of the family
/// `json`.
///
/// Threads: any.
/// Lifetime: the registry and the families must outlive this object and the messages.
class json_messages {
public:
  /// Messages that clients send have at most `values_max` values.
  static constexpr std::size_t values_max = 64;

  json_messages(const type_registry& types, const family_set& families, std::size_t depth_max);

  /// Cuts the text into values, without decoding them. They view the text.
  [[nodiscard]] std::expected<std::vector<json_value>, refusal> cut(std::string_view text) const;
  /// Decodes a message. `keeps` lives until the message is consumed (message_with); it should own `claim`, which grows
  /// by what each value takes. Refuses types that do something else to an actor than to deliver a value: errors, exit
  /// messages, and requests of Troupe's own. Fails with `link_busy` if the claim may not grow any more.
  [[nodiscard]] std::expected<caf::message, refusal>
  decode(const std::vector<json_value>& values, message_quota::claim& claim, std::shared_ptr<const void> keeps) const;
  /// Fails if the result would be longer than `bytes_max`, or if a value has no alias or no form in JSON.
  [[nodiscard]] std::expected<std::string, refusal> encode(const caf::message& message, std::size_t bytes_max) const;

  /// Refuses any other text than one JSON value. Returns its limits.
  [[nodiscard]] const limits& bounds() const noexcept { return bounds_; }

private:
  [[nodiscard]] std::expected<const type_entry*, refusal> type_named(const std::string& alias) const;

  const type_registry& types_;
  const family_set& families_;
  const family& json_;
  limits bounds_;
};

} // namespace troupe::web
