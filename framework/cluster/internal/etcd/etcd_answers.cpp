#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>

#include <troupe/framework/cluster/internal/etcd/base64.hpp>

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

namespace troupe::cluster_directories {

namespace {

using nlohmann::json;

/// Thrown inside this file only: an answer has many places at which it may be wrong.
struct wrong_answer {
  std::string text;
};

/// Bounds the memory that reading the answer takes.
void check_shape(std::string_view text) {
  std::size_t depth = 0;
  std::size_t values = 0;
  auto is_in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto each = text[at];
    if (is_in_string) {
      at += each == '\\' ? 1 : 0;
      is_in_string = each != '"';
    } else if (each == '"') {
      is_in_string = true;
    } else if (each == '{' || each == '[') {
      if (++depth > answer_depth_max)
        throw wrong_answer{"nests deeper than " + std::to_string(answer_depth_max)};
    } else if (each == '}' || each == ']') {
      depth -= depth > 0 ? 1 : 0;
    } else if (each == ',' && ++values > answer_values_max) {
      throw wrong_answer{"has more than " + std::to_string(answer_values_max) + " values"};
    }
  }
}

json parsed(std::string_view text) {
  check_shape(text);
  auto value = json::parse(text, nullptr, false);
  if (!value.is_object())
    throw wrong_answer{"is not a JSON object; it begins with \"" + one_line(text.substr(0, 48), 64) + '"'};
  return value;
}

const json& part_of(const json& object, const char* name) {
  static const json nothing = json::object();
  const auto found = object.find(name);
  if (found == object.end())
    return nothing;
  if (!found->is_object())
    throw wrong_answer{std::string{"has a \""} + name + "\" that is not an object"};
  return *found;
}

/// The gateway leaves out what is false, 0 or empty.
const json* find_part(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& list_of(const json& object, const char* name) {
  static const json nothing = json::array();
  const auto* const found = find_part(object, name);
  if (found == nullptr)
    return nothing;
  if (!found->is_array())
    throw wrong_answer{std::string{"has a \""} + name + "\" that is not a list"};
  return *found;
}

template <class Number>
Number digits_of(const json& object, const char* name) {
  const auto* const found = find_part(object, name);
  if (found == nullptr)
    return 0;
  Number number = 0;
  const auto text = found->is_string() ? found->get<std::string>() : found->dump();
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end != text.data() + text.size() || text.empty())
    throw wrong_answer{std::string{"has a \""} + name + "\" that is not a whole number of 64 bits"};
  return number;
}

std::uint64_t revision_of(const json& object, const char* name) {
  const auto number = digits_of<std::int64_t>(object, name);
  if (number < 0)
    throw wrong_answer{std::string{"has a \""} + name + "\" below 0"};
  return static_cast<std::uint64_t>(number);
}

std::uint64_t lease_of(const json& object, const char* name) {
  return static_cast<std::uint64_t>(digits_of<std::int64_t>(object, name)); // Other programs may grant negative ones.
}

bool flag_of(const json& object, const char* name) {
  const auto* const found = find_part(object, name);
  if (found != nullptr && !found->is_boolean())
    throw wrong_answer{std::string{"has a \""} + name + "\" that is neither true nor false"};
  return found != nullptr && found->get<bool>();
}

std::string text_of(const json& object, const char* name) {
  const auto* const found = find_part(object, name);
  if (found == nullptr)
    return {};
  if (!found->is_string())
    throw wrong_answer{std::string{"has a \""} + name + "\" that is not a text"};
  return found->get<std::string>();
}

std::string bytes_of(const json& object, const char* name) {
  auto bytes = bytes_of_base64(text_of(object, name));
  if (!bytes)
    throw wrong_answer{std::string{"has a \""} + name + "\" that is not base64"};
  return *std::move(bytes);
}

etcd_head head_of(const json& answer) {
  const auto& head = part_of(answer, "header");
  const etcd_head result{digits_of<std::uint64_t>(head, "cluster_id"), revision_of(head, "revision")};
  if (result.cluster_id == 0)
    throw wrong_answer{"has no cluster_id"};
  return result;
}

std::string key_of(const json& kv, std::string_view prefix) {
  auto key = bytes_of(kv, "key");
  if (!key.starts_with(prefix))
    throw wrong_answer{"has the key \"" + one_line(key, 64) + "\", which does not begin with " + std::string{prefix}};
  return key.substr(prefix.size());
}

directory_entry entry_of(const json& kv, std::string_view prefix) {
  if (!kv.is_object())
    throw wrong_answer{"has an entry that is not an object"};
  directory_entry entry{.key = key_of(kv, prefix),
                        .value = bytes_of(kv, "value"),
                        .created_revision = revision_of(kv, "create_revision"),
                        .changed_revision = revision_of(kv, "mod_revision"),
                        .lease = lease_of(kv, "lease")};
  if (entry.created_revision == 0 || entry.changed_revision < entry.created_revision)
    throw wrong_answer{"has an entry with impossible revisions"};
  return entry;
}

directory_change change_of(const json& event, std::string_view prefix) {
  if (!event.is_object())
    throw wrong_answer{"has an event that is not an object"};
  const auto type = text_of(event, "type");
  const auto& kv = part_of(event, "kv");
  if (type.empty() || type == "PUT")
    return {directory_change::kind::put, entry_of(kv, prefix)};
  if (type != "DELETE")
    throw wrong_answer{"has an event of the unknown type \"" + one_line(type, 32) + '"'};
  return {directory_change::kind::removed,
          {.key = key_of(kv, prefix), .changed_revision = revision_of(kv, "mod_revision")}};
}

/// Of one message of a stream, the answer within.
const json& result_of(const json& message) {
  const auto* const found = find_part(message, "result");
  if (found == nullptr || !found->is_object())
    throw wrong_answer{"has no \"result\""};
  return *found;
}

std::chrono::seconds time_of(const json& answer) {
  constexpr std::int64_t seconds_max = 9'000'000'000; // etcd's own bound.
  const auto seconds = digits_of<std::int64_t>(answer, "TTL");
  if (seconds < 0 || seconds > seconds_max)
    throw wrong_answer{"has an impossible TTL"};
  return std::chrono::seconds{seconds};
}

template <class Read>
auto checked(Read&& read) -> read_result<decltype(read())> {
  try {
    return read();
  } catch (const wrong_answer& wrong) {
    return std::unexpected{wrong.text};
  } catch (const std::exception& error) { // The JSON library's own, or no memory.
    return std::unexpected{"cannot be read: " + std::string{exception_text(error)}};
  }
}

} // namespace

read_result<etcd_status> read_status(std::string_view body) {
  return checked([&] {
    const auto answer = parsed(body);
    return etcd_status{head_of(answer), text_of(answer, "version")};
  });
}

read_result<etcd_range> read_range(std::string_view body, std::string_view prefix) {
  return checked([&] {
    const auto answer = parsed(body);
    etcd_range range{.head = head_of(answer), .has_more = flag_of(answer, "more")};
    for (const auto& kv : list_of(answer, "kvs")) {
      auto entry = entry_of(kv, prefix);
      if (!range.entries.empty() && entry.key <= range.entries.back().key)
        throw wrong_answer{"has keys that do not rise"};
      range.entries.push_back(std::move(entry));
    }
    if (range.has_more && range.entries.empty())
      throw wrong_answer{"promises more entries and has none"};
    return range;
  });
}

read_result<etcd_txn> read_txn(std::string_view body, std::string_view prefix) {
  return checked([&] {
    const auto answer = parsed(body);
    etcd_txn txn{.head = head_of(answer), .is_applied = flag_of(answer, "succeeded")};
    if (txn.is_applied)
      return txn;
    for (const auto& response : list_of(answer, "responses")) {
      if (!response.is_object())
        throw wrong_answer{"has a response that is not an object"};
      for (const auto& kv : list_of(part_of(response, "response_range"), "kvs"))
        txn.found.push_back(entry_of(kv, prefix));
    }
    return txn;
  });
}

read_result<etcd_lease> read_grant(std::string_view body) {
  return checked([&] {
    const auto answer = parsed(body);
    const etcd_lease lease{head_of(answer), lease_of(answer, "ID"), time_of(answer)};
    if (lease.id == 0 || lease.time == std::chrono::seconds::zero())
      throw wrong_answer{"grants no lease"};
    return lease;
  });
}

read_result<etcd_lease> read_keep_alive(std::string_view body) {
  return checked([&] {
    const auto message = parsed(body);
    const auto& answer = result_of(message);
    return etcd_lease{head_of(answer), lease_of(answer, "ID"), time_of(answer)};
  });
}

read_result<etcd_revocation> read_revocation(std::string_view body) {
  return checked([&] { return etcd_revocation{head_of(parsed(body))}; });
}

read_result<std::string> read_token(std::string_view body) {
  return checked([&] {
    auto token = text_of(parsed(body), "token");
    const auto is_printable = [](char each) { return each > ' ' && each < '\x7f'; };
    if (token.empty() || token.size() > 8'192 || !std::ranges::all_of(token, is_printable))
      throw wrong_answer{"has no usable token"};
    return token;
  });
}

read_result<etcd_watch_message> read_watch_message(std::string_view line, std::string_view prefix) {
  return checked([&] {
    const auto message = parsed(line);
    const auto& answer = result_of(message);
    etcd_watch_message result{.head = head_of(answer),
                              .is_created = flag_of(answer, "created"),
                              .is_fragment = flag_of(answer, "fragment"),
                              .is_cancelled = flag_of(answer, "canceled"),
                              .reason = text_of(answer, "cancel_reason"),
                              .compacted_revision = revision_of(answer, "compact_revision")};
    for (const auto& event : list_of(answer, "events"))
      result.changes.push_back(change_of(event, prefix));
    return result;
  });
}

read_result<etcd_refusal> read_refusal(std::string_view body) {
  return checked([&] {
    const auto answer = parsed(body);
    const auto* const error = find_part(answer, "error");
    if (error == nullptr)
      throw wrong_answer{"reports no failure of etcd"};
    if (error->is_object()) // In streams.
      return etcd_refusal{digits_of<int>(*error, "grpc_code"), text_of(*error, "message")};
    return etcd_refusal{digits_of<int>(answer, "code"), text_of(answer, "error")};
  });
}

} // namespace troupe::cluster_directories
