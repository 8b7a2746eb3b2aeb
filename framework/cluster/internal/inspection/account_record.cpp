#include <troupe/framework/cluster/internal/inspection/account_record.hpp>

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace troupe::membership {

namespace {

using json = nlohmann::json;

constexpr std::size_t account_bytes_max = 1'048'576;
constexpr std::size_t account_problems_max = 100;
constexpr std::size_t account_reaches_max = 256;
constexpr std::size_t account_text_bytes_max = 1'024;
constexpr std::int64_t reach_time_max = 3'600'000;
constexpr std::int64_t unix_ms_max = 253'402'300'799'999; // The end of the year 9999.

/// False if it is not a text that fits.
bool read_account_text(const json& from, std::string& into) {
  if (!from.is_string() || from.get_ref<const std::string&>().size() > account_text_bytes_max)
    return false;
  into = from.get<std::string>();
  return true;
}

std::optional<member_reach> read_reach(const json& from) {
  member_reach read{.member = {}};
  if (!from.is_object() || !from.contains("member") || !read_account_text(from["member"], read.member))
    return std::nullopt;
  if (from.contains("why") && !read_account_text(from["why"], read.why))
    return std::nullopt;
  if (const auto tried = from.find("tried"); tried != from.end() && tried->is_boolean())
    read.is_tried = tried->get<bool>();
  if (const auto time = from.find("ms"); time != from.end() && time->is_number_integer())
    read.time = std::chrono::milliseconds{std::clamp<std::int64_t>(time->get<std::int64_t>(), 0, reach_time_max)};
  return read;
}

} // namespace

std::string account_record(const member_account& of) {
  json problems = json::array();
  for (const auto& each : of.problems)
    if (problems.size() < account_problems_max)
      problems.push_back(each.substr(0, account_text_bytes_max));
  json reaches = json::array();
  for (const auto& each : of.reaches) {
    if (reaches.size() == account_reaches_max)
      break;
    json row{{"member", each.member.substr(0, account_text_bytes_max)}, {"ms", each.time.count()}};
    if (!each.is_tried)
      row["tried"] = false;
    if (!each.why.empty())
      row["why"] = each.why.substr(0, account_text_bytes_max);
    reaches.push_back(std::move(row));
  }
  // A character that was cut in two is left out.
  json record{{"member", of.member}, {"draining", of.is_draining}, {"problems", problems}, {"reaches", reaches}};
  if (of.clock)
    record["unix_ms"] = of.clock->time_since_epoch().count();
  return record.dump(-1, ' ', false, json::error_handler_t::ignore);
}

std::optional<member_account> read_account_record(std::string_view record) {
  if (record.size() > account_bytes_max)
    return std::nullopt;
  const auto read = json::parse(record, nullptr, false);
  member_account account;
  if (!read.is_object() || !read.contains("member") || !read_account_text(read["member"], account.member))
    return std::nullopt;
  if (const auto draining = read.find("draining"); draining != read.end() && draining->is_boolean())
    account.is_draining = draining->get<bool>();
  if (const auto clock = read.find("unix_ms"); clock != read.end() && clock->is_number_integer())
    account.clock = std::chrono::sys_time<std::chrono::milliseconds>{
        std::chrono::milliseconds{std::clamp<std::int64_t>(clock->get<std::int64_t>(), 0, unix_ms_max)}};
  if (const auto problems = read.find("problems"); problems != read.end()) {
    if (!problems->is_array() || problems->size() > account_problems_max)
      return std::nullopt;
    for (const auto& each : *problems)
      if (!read_account_text(each, account.problems.emplace_back()))
        return std::nullopt;
  }
  if (const auto reaches = read.find("reaches"); reaches != read.end()) {
    if (!reaches->is_array() || reaches->size() > account_reaches_max)
      return std::nullopt;
    for (const auto& each : *reaches) {
      auto reach = read_reach(each);
      if (!reach)
        return std::nullopt;
      account.reaches.push_back(*std::move(reach));
    }
  }
  return account;
}

} // namespace troupe::membership
