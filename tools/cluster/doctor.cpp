#include "cluster/doctor.hpp"

#include "cluster/diagnosis.hpp"
#include "cluster/reaching.hpp"
#include "cluster/views.hpp"
#include "nodes/client.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>

#include <sys/timex.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

using namespace std::chrono_literals;
using outcome = tried_address::outcome;

constexpr std::size_t members_max = 1'000; // Further ones are not dialed.
constexpr auto skew_max = 5s;

/// Grants a lease, writes an entry under it, and revokes it.
[[nodiscard]] std::expected<void, directory_error> write_once(directory& where) {
  const auto lease = where.grant(10s);
  if (!lease)
    return std::unexpected{lease.error()};
  const directory_write write{.key = fmt::format("doctor/{}-{}", ::getpid(), lease->id),
                              .what = directory_write::kind::put,
                              .value = "{}",
                              .lease = lease->id};
  const auto written = where.commit({}, {&write, 1});
  const auto revoked = where.revoke(lease->id);
  if (!written)
    return std::unexpected{written.error()};
  return revoked;
}

/// Fails if the directory does not answer.
[[nodiscard]] std::expected<examined_directory, directory_error> examine_directory(directory& where, bool writes,
                                                                                   std::vector<finding>& findings) {
  examined_directory seen{.address = where.shown_address(), .identity = {}, .is_writable = where.is_writable()};
  const auto identity = where.identity();
  if (!identity)
    return std::unexpected{identity.error()};
  seen.identity = *identity;
  for (auto i = 0; i < 3; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const auto listed = where.list("members/");
    if (!listed)
      return std::unexpected{listed.error()};
    const auto time = std::chrono::steady_clock::now() - begun;
    seen.answer_time = i == 0 ? time : std::min<std::chrono::nanoseconds>(seen.answer_time, time);
    seen.revision = listed->revision;
  }
  if (seen.answer_time > 1s)
    findings.push_back({true, "directory", fmt::format("it answers slowly: {}", text_of(seen.answer_time))});
  if (!seen.is_writable || !writes)
    return seen;
  const auto written = write_once(where);
  seen.was_written = written.has_value();
  if (!written) // An account that may only read is no fault of the cluster.
    findings.push_back({written.error().code() != directory_errc::refused, "directory",
                        "it could not be written: " + written.error().message()});
  return seen;
}

void check_own_clock(std::vector<finding>& findings) {
  timex now{};
  if (::adjtimex(&now) == TIME_ERROR)
    findings.push_back({false, "this host", "nothing keeps its clock exact; certificates and logs need that"});
}

/// What the entries say by themselves.
void check_entries(const cluster_snapshot& seen, std::vector<finding>& findings) {
  std::map<std::string, std::set<std::string>> by_address; // Names of members.
  std::map<std::string, std::set<std::string>> by_version;
  std::set<std::string> hosts;
  for (const auto& each : seen.members) {
    hosts.insert(each.host);
    by_version[each.version].insert(each.name);
    for (const auto& address : each.addresses)
      by_address[address + (is_within_host(address) ? '\n' + each.host : "")].insert(each.name);
  }
  for (const auto& [address, names] : by_address)
    if (names.size() > 1)
      findings.push_back({true, fmt::format("{}", fmt::join(names, ", ")),
                          "they have the same address, " + address.substr(0, address.find('\n'))});
  if (by_version.size() > 1)
    for (const auto& [version, names] : by_version)
      findings.push_back({false, fmt::format("{}", fmt::join(names, ", ")),
                          "version " + (version.empty() ? "unknown" : version) + ", others have another one"});
  for (const auto& each : seen.members)
    if (hosts.size() > 1 && !each.host.empty() && std::ranges::all_of(each.addresses, is_within_host))
      findings.push_back({true, each.name,
                          "members on other hosts cannot reach it: it has only addresses within its "
                          "host; set cluster_options::advertise"});
  for (const auto& order : seen.orders)
    findings.push_back({false, order.member, "it is ordered to drain, by " + order.by});
}

/// Faults that have stayed: entries that come and go with a member may be seen in between.
void check_faults(const cluster_snapshot& before, const cluster_snapshot& after, std::vector<finding>& findings) {
  for (const auto& [key, why] : before.faults)
    if (const auto still = after.faults.find(key); still != after.faults.end() && still->second == why)
      findings.push_back({true, "the entry " + key, why});
}

void check_addresses(const examined_member& of, std::vector<finding>& findings) {
  const auto is_reached = std::ranges::any_of(
      of.addresses, [](const auto& each) { return each.what == outcome::proven || each.what == outcome::reachable; });
  for (const auto& each : of.addresses)
    if (each.what == outcome::failed)
      findings.push_back({true, of.member.name, "at " + each.address + ": " + each.text});
  if (!is_reached
      && std::ranges::all_of(of.addresses, [](const auto& each) { return each.what == outcome::elsewhere; }))
    findings.push_back({false, of.member.name,
                        "it could not be tried from here: it is on another host, and has only "
                        "addresses within that"});
}

void check_account(const examined_member& of, std::vector<finding>& findings) {
  if (!of.account)
    return;
  for (const auto& each : of.account->problems)
    findings.push_back({true, of.member.name, "it says: " + each});
  for (const auto& each : of.account->reaches)
    if (!each.is_tried)
      findings.push_back({false, of.member.name, "it had no time to dial " + each.member});
    else if (!each.why.empty())
      findings.push_back({true, of.member.name, "it cannot reach " + each.member + ": " + each.why});
}

/// `answered` is when the account came.
void check_clock(const examined_member& of, std::chrono::system_clock::time_point answered,
                 std::vector<finding>& findings) {
  if (!of.account || !of.account->clock)
    return;
  const auto skew = std::chrono::abs(answered - *of.account->clock);
  if (skew > skew_max)
    findings.push_back({true, of.member.name,
                        fmt::format("its clock and that of this host differ by {}",
                                    text_of(std::chrono::duration_cast<std::chrono::nanoseconds>(skew)))});
}

} // namespace

bool doctor_request::has_credentials() const {
  return !known_by.secret_file.empty() || !known_by.cookie_file.empty() || !known_by.tls.authority_file.empty();
}

void examine_cluster(const directory_access& by, const doctor_request& asked, bool as_json, const cluster_answer& to) {
  const auto cluster = observe(by);
  if (!cluster)
    return to.fail(by, cluster.error());
  diagnosis found;
  auto where = examine_directory(cluster->where(), asked.writes, found.findings);
  if (!where)
    return to.fail(by, where.error());
  found.where = *std::move(where);
  check_own_clock(found.findings);
  const auto before = cluster->now();
  check_entries(before, found.findings);
  client asking{{.known_by = asked.known_by, .timeout_seconds = by.timeout_seconds}};
  found.members.resize(std::min(before.members.size(), members_max));
  std::vector<std::chrono::system_clock::time_point> answered(found.members.size());
  ask_each(found.members.size(), [&](std::size_t which) {
    found.members[which] = examine(asking, before.members[which], asked.has_credentials());
    answered[which] = std::chrono::system_clock::now();
  });
  const auto after = cluster->now();
  for (std::size_t i = 0; i < found.members.size(); ++i) {
    const auto& each = found.members[i];
    const auto still = std::ranges::find(after.members, each.member.name, &cluster_member::name);
    if (still == after.members.end() || still->incarnation != each.member.incarnation)
      continue; // It has left meanwhile.
    check_addresses(each, found.findings);
    check_account(each, found.findings);
    check_clock(each, answered[i], found.findings);
  }
  check_faults(before, after, found.findings);
  if (const auto trouble = cluster->trouble())
    found.findings.push_back({true, "directory", "it has stopped to answer: " + trouble->message()});
  to.out << (as_json ? finished(document_of(found)) : text_of(found));
  to.status = found.is_healthy() ? 0 : 1;
}

} // namespace troupe::tools
