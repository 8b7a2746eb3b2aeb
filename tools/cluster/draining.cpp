#include "cluster/draining.hpp"

#include "cluster/views.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <ostream>

#include <unistd.h>

namespace troupe::tools {

namespace {

using json = nlohmann::ordered_json;

/// "user 1000 on hall, process 1234".
[[nodiscard]] std::string this_person() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0)
    host[0] = '?';
  return fmt::format("user {} on {}, process {}", ::getuid(), host.data(), ::getpid());
}

/// How far a drain is.
struct drain_progress {
  bool is_gone = false; // The process has left.
  bool is_ordered = false;
  bool is_draining = false;
  member_work left;

  [[nodiscard]] bool is_over() const { return is_gone || (is_draining && left.is_none()); }
  friend bool operator==(const drain_progress&, const drain_progress&) = default;
};

[[nodiscard]] drain_progress progress_of(const cluster_snapshot& in, const cluster_member& member) {
  const auto found = std::ranges::find(in.members, member.name, &cluster_member::name);
  if (found == in.members.end() || found->incarnation != member.incarnation)
    return {.is_gone = true, .left = {}};
  return {.is_ordered = std::ranges::any_of(in.orders, [&](const auto& each) { return each.member == member.name; }),
          .is_draining = found->is_draining,
          .left = work_of(in, member.name)};
}

[[nodiscard]] std::string step_text(const drain_progress& progress, const std::string& member) {
  if (progress.is_gone)
    return member + " has left the cluster";
  if (progress.is_over())
    return member + " is drained";
  return member + (progress.is_draining ? " is draining: " : " has not obeyed yet: ") + text_of(progress.left)
         + " left";
}

/// Waits until the drain is over, and prints each step. Returns the last one.
[[nodiscard]] drain_progress follow(const cluster_observer& cluster, const cluster_member& member, double seconds,
                                    bool as_json, const cluster_answer& to) {
  const auto until = std::chrono::steady_clock::now()
                     + std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  std::optional<drain_progress> known;
  std::string shown;
  auto was_ordered = false;
  for (;;) {
    const auto now = progress_of(cluster.now(), member);
    known = now;
    if (const auto text = in_line(step_text(now, member.name)); text != shown && !as_json)
      to.out << (shown = text) << std::endl;
    was_ordered = was_ordered || now.is_ordered;
    if (now.is_over() || (was_ordered && !now.is_ordered))
      return now;
    if (!cluster.wait_until([&](const auto& in) { return known != progress_of(in, member); }, until))
      return now;
  }
}

void cancel(const directory_access& by, const std::string& member, bool as_json, const cluster_answer& to) {
  const auto where = open_directory_by(by);
  if (!where)
    return to.fail(by, where.error());
  const auto cancelled = cancel_drain(**where, member);
  if (!cancelled)
    return to.fail(cancelled.error().message());
  if (as_json)
    to.out << finished({{"member", member}, {"cancelled", *cancelled}});
  else
    to.out << in_line(*cancelled ? "the order to " + member + " is cancelled" : "there is no order to " + member)
           << '\n';
}

} // namespace

void drain_member(const directory_access& by, const drain_request& asked, bool as_json, const cluster_answer& to) {
  if (asked.is_cancelled)
    return cancel(by, asked.member, as_json, to);
  const auto cluster = observe(by);
  if (!cluster)
    return to.fail(by, cluster.error());
  const auto members = cluster->now().members;
  const auto member = std::ranges::find(members, asked.member, &cluster_member::name);
  if (member == members.end())
    return to.fail("the cluster has no member \"" + asked.member + "\"; `troupe cluster members` shows all");
  if (const auto ordered = order_drain(cluster->where(), *member, this_person()); !ordered)
    return to.fail(asked.member + " cannot be ordered to drain: " + ordered.error().message());
  const auto last = asked.wait_seconds > 0 ? follow(*cluster, *member, asked.wait_seconds, as_json, to)
                                           : progress_of(cluster->now(), *member);
  if (last.is_gone) // A process that was killed has not removed its order.
    static_cast<void>(cancel_drain(cluster->where(), asked.member));
  if (as_json)
    to.out << finished({{"member", asked.member},
                        {"drained", last.is_over()},
                        {"gone", last.is_gone},
                        {"left", document_of(last.left)}});
  if (asked.wait_seconds <= 0 || last.is_over())
    return;
  if (!last.is_ordered)
    return to.fail("the order to " + asked.member + " was cancelled");
  to.fail(fmt::format("{} is not drained after {} s: {} left; the order stays in force", asked.member,
                      asked.wait_seconds, text_of(last.left)));
}

} // namespace troupe::tools
