#include <troupe/framework/cluster/internal/dns/dns_source.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/members/member_address.hpp>

#include <algorithm>

namespace troupe::cluster_directories {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds shortest_ttl{1'000};
constexpr milliseconds longest_ttl{30'000};
constexpr milliseconds pause_without_records{2'000};

} // namespace

member_source::finding dns_source::look(int stop_descriptor) {
  auto found = ask(stop_descriptor);
  if (!found)
    return after_failure(found.error());
  has_answered_ = true;
  answered_at_ = clock::now();
  next_pause_ = shortest_ttl;
  return {.members = std::move(found->members), .trouble = std::nullopt, .pause = found->ttl};
}

std::expected<dns_source::looked_up, std::string> dns_source::ask(int stop_descriptor) {
  const auto until = clock::now() + settings_.timeout;
  const auto types =
      settings_.address.port == 0 ? std::vector{dns_type::srv} : std::vector{dns_type::a, dns_type::aaaa};
  auto answers =
      look_up({.name = settings_.address.name, .name_servers = settings_.name_servers, .timeout = settings_.timeout},
              types, stop_descriptor);
  // Without servers of its own, the targets' names are looked up as every other name is, when they are dialed.
  if (types.front() == dns_type::srv && !settings_.name_servers.empty() && answers.front())
    answers.front() =
        with_addresses(*answers.front(), std::chrono::ceil<milliseconds>(until - clock::now()), stop_descriptor);
  looked_up found{.members = {}, .ttl = longest_ttl};
  for (const auto& answer : answers)
    if (answer)
      add_members(*answer, found);
  // If one of two failed, its last records must not vanish. If it had none, the other one's are all there is.
  for (std::size_t index = 0; index < types.size(); ++index)
    if (!answers[index] && (found.members.empty() || had_records_[types[index]]))
      return std::unexpected{answers[index].error()};
  for (std::size_t index = 0; index < types.size(); ++index)
    had_records_[types[index]] = answers[index] && !answers[index]->records.empty();
  if (found.members.size() > members_max)
    return std::unexpected{"the answer names " + std::to_string(found.members.size()) + " members; at most "
                           + std::to_string(members_max) + " are possible"};
  if (found.members.empty())
    found.ttl = pause_without_records;
  found.ttl = std::max(found.ttl, shortest_ttl);
  return found;
}

/// Replaces the targets by their addresses, of which IPv6 counts if there is no IPv4, since a target is one host. If a
/// lookup fails, the addresses that were found last count; a target without any keeps its name.
dns_answer dns_source::with_addresses(const dns_answer& services, milliseconds timeout, int stop_descriptor) {
  std::vector<dns_question> questions;
  std::map<std::string, std::size_t> places; // By target: its first question.
  for (const auto& record : services.records)
    if (is_possible_host(record.value) && places.size() < members_max
        && places.try_emplace(record.value, questions.size()).second)
      for (const auto type : {dns_type::a, dns_type::aaaa})
        questions.push_back({record.value + '.', type});
  const auto answers =
      look_up_all(questions, settings_.name_servers, std::max(timeout, milliseconds{0}), stop_descriptor);
  dns_answer all{.records = {}, .ttl_s = services.ttl_s};
  std::map<std::string, std::vector<dns_record>> found;
  for (const auto& [target, first] : places) {
    const auto& four = answers[first];
    const auto& six = answers[first + 1];
    const auto known = of_targets_.find(target);
    if (four && !four->records.empty()) {
      found[target] = four->records;
      all.ttl_s = std::min(all.ttl_s, four->ttl_s);
    } else if (four && six && !six->records.empty()) {
      found[target] = six->records;
      all.ttl_s = std::min(all.ttl_s, six->ttl_s);
    } else if ((!four || !six) && known != of_targets_.end()) {
      found[target] = known->second;
    }
  }
  for (const auto& record : services.records) {
    const auto addresses = found.find(record.value);
    if (addresses == found.end())
      all.records.push_back(record);
    else
      for (const auto& each : addresses->second) {
        all.records.push_back(record);
        all.records.back().value = each.value;
      }
  }
  of_targets_ = std::move(found);
  return all;
}

/// Leaves out targets that are no host: a dot alone says that there is no such service, and others are somebody's
/// error.
void dns_source::add_members(const dns_answer& answer, looked_up& to) const {
  if (!answer.records.empty())
    to.ttl = std::min<milliseconds>(to.ttl, std::chrono::seconds{answer.ttl_s});
  for (const auto& record : answer.records) {
    const auto port = record.type == dns_type::srv ? record.port : settings_.address.port;
    auto address = settings_.scheme + "://" + record.value + ':' + std::to_string(port);
    if (problem_of_address(address).empty())
      to.members.push_back(std::move(address));
  }
}

member_source::finding dns_source::after_failure(const std::string& why) {
  auto text = "the records of \"" + settings_.address.name + "\" were not found: " + one_line(why, 256);
  next_pause_ = std::clamp(next_pause_ * 2, shortest_ttl, longest_ttl);
  finding found{.members = std::nullopt, .trouble = std::nullopt, .pause = next_pause_};
  if (!has_answered_) {
    text += "; check the name and the name servers";
  } else if (clock::now() - answered_at_ > settings_.outage_max) {
    found.members.emplace();
    text += "; for " + std::to_string(settings_.outage_max / std::chrono::seconds{1})
            + " s, so that the list of members is empty now";
  } else {
    text += "; the last list of members stays in force";
  }
  found.trouble = directory_error{directory_errc::unavailable, std::move(text)};
  return found;
}

} // namespace troupe::cluster_directories
