#include <troupe/framework/cluster/internal/membership/member_record.hpp>

#include <utility>

#include <nlohmann/json.hpp>

#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

namespace {

constexpr std::size_t list_max = 64;
constexpr std::size_t text_bytes_max = 1'024;

using json = nlohmann::json;

/// False if it is there and is not a text that fits.
bool read_text(const json& from, const char* key, std::string& into) {
  const auto found = from.find(key);
  if (found == from.end())
    return true;
  if (!found->is_string() || found->get_ref<const std::string&>().size() > text_bytes_max)
    return false;
  into = found->get<std::string>();
  return true;
}

bool read_list(const json& from, const char* key, std::vector<std::string>& into) {
  const auto found = from.find(key);
  if (found == from.end())
    return true;
  if (!found->is_array() || found->size() > list_max)
    return false;
  for (const auto& each : *found) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > text_bytes_max)
      return false;
    into.push_back(each.get<std::string>());
  }
  return true;
}

} // namespace

std::string member_record(const cluster_member& of) {
  json record{{"incarnation", of.incarnation}, {"addresses", of.addresses}, {"roles", of.roles},      {"host", of.host},
              {"version", of.version},         {"features", of.features},   {"contract", of.contract}};
  if (of.is_draining)
    record["draining"] = true;
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::expected<cluster_member, std::string> read_member_record(std::string name, std::string_view record) {
  const auto read = json::parse(record, nullptr, false);
  if (!read.is_object())
    return std::unexpected{std::string{"it is not a JSON object"}};
  cluster_member member{.name = std::move(name)};
  for (const auto& [key, into] : {std::pair{"incarnation", &member.incarnation}, std::pair{"host", &member.host},
                                  std::pair{"version", &member.version}, std::pair{"contract", &member.contract}})
    if (!read_text(read, key, *into))
      return std::unexpected{std::string{key} + " is not a text of at most 1,024 bytes"};
  for (const auto& [key, into] : {std::pair{"addresses", &member.addresses}, std::pair{"roles", &member.roles},
                                  std::pair{"features", &member.features}})
    if (!read_list(read, key, *into))
      return std::unexpected{std::string{key} + " is not a list of at most 64 texts"};
  if (const auto draining = read.find("draining"); draining != read.end()) {
    if (!draining->is_boolean())
      return std::unexpected{std::string{"draining is neither true nor false"}};
    member.is_draining = draining->get<bool>();
  }
  if (member.addresses.empty())
    return std::unexpected{std::string{"it has no address"}};
  return member;
}

std::string kind_record(std::size_t shards) {
  return json{{"shards", shards}}.dump();
}

std::expected<std::size_t, std::string> read_kind_record(std::string_view record) {
  const auto read = json::parse(record, nullptr, false);
  if (!read.is_object())
    return std::unexpected{std::string{"it is not a JSON object"}};
  const auto shards = read.find("shards");
  if (shards == read.end() || !shards->is_number_unsigned() || shards->get<std::uint64_t>() < 1
      || shards->get<std::uint64_t>() > shards_max)
    return std::unexpected{std::string{"shards is not a number from 1 to 4,096"}};
  return shards->get<std::size_t>();
}

} // namespace troupe::membership
