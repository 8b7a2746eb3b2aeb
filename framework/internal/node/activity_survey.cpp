#include <troupe/framework/internal/node/activity_survey.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_class.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/link/link_actors.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/watch/supervisor_book.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t actors_max = 1'000;
constexpr std::size_t links_of_actor_max = 64;
constexpr std::size_t supervisors_max = 1'000;
constexpr std::size_t children_max = 4'000;

/// Joins what is known of the node's actors from their names and from the links.
///
/// Lifetime: keeps the actors alive.
class actor_survey {
public:
  explicit actor_survey(node_core& node) : node_(node) {}

  /// To be called first, by alphabet.
  void add_published(const std::string& name, const caf::strong_actor_ptr& actor) {
    const auto [row, is_new] = rows_.try_emplace(actor);
    if (!is_new)
      return;
    row->second.name = watched_text(name);
    published_.push_back(actor);
  }

  void add_link(const node_link& link) {
    const auto known = link.own_actors(published_);
    for (const auto& each : known.actors) {
      if (node_.helpers().has(each.actor))
        continue;
      auto& row = rows_[each.actor];
      row.waiting_messages += each.waiting_messages;
      row.waiting_bytes += each.waiting_bytes;
      if (row.links.size() < links_of_actor_max)
        row.links.push_back(link.number());
      else
        ++row.links_omitted;
    }
    omitted_.insert(omitted_.end(), known.omitted.begin(), known.omitted.end());
  }

  /// Gives the rows to `result`; to be called last.
  void finish(node_activity& result) {
    std::vector<std::pair<const caf::strong_actor_ptr*, actor_activity*>> all;
    for (auto& [actor, row] : rows_) {
      row.actor = actor->id();
      all.emplace_back(&actor, &row);
    }
    const auto order = [](const auto& each) {
      const auto& row = *each.second;
      return std::tuple{UINT64_MAX - row.waiting_bytes, UINT64_MAX - row.waiting_messages, row.actor};
    };
    const auto kept = std::min(all.size(), actors_max);
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(kept), {}, order);
    for (std::size_t i = 0; i < kept; ++i) {
      all[i].second->kind = watched_text(class_of(*all[i].first));
      result.actors.push_back(std::move(*all[i].second));
    }
    result.actors_omitted = all.size() - kept + further();
  }

private:
  /// The number of actors that have no row. Several links may have omitted the same one, or one that has a row.
  std::uint64_t further() {
    auto counted = node_.helpers().ids();
    for (const auto& [actor, row] : rows_)
      if (actor->node() == node_.system().node())
        counted.push_back(actor->id());
    std::ranges::sort(counted);
    std::ranges::sort(omitted_);
    const auto again = std::ranges::unique(omitted_);
    omitted_.erase(again.begin(), again.end());
    return static_cast<std::uint64_t>(
        std::ranges::count_if(omitted_, [&](auto id) { return !std::ranges::binary_search(counted, id); }));
  }

  node_core& node_;
  std::map<caf::strong_actor_ptr, actor_activity> rows_;
  std::vector<caf::strong_actor_ptr> published_;
  std::vector<std::uint64_t> omitted_;
};

void add_actors(node_core& node, node_activity& result) {
  actor_survey survey{node};
  for (const auto& [name, actor] : node.names().all())
    survey.add_published(name, actor);
  for (const auto& link : node.links().open())
    survey.add_link(*link);
  survey.finish(result);
}

void add_supervisors(node_core& node, node_activity& result) {
  auto* const book = supervisors_of(node.system());
  if (book == nullptr)
    return;
  const auto all = book->all();
  auto children_left = children_max;
  for (const auto& each : all) {
    if (result.supervisors.size() == supervisors_max)
      break;
    auto& row = result.supervisors.emplace_back(each->now());
    const auto kept = std::min(row.children.size(), children_left);
    row.children_omitted = row.children.size() - kept;
    row.children.resize(kept);
    children_left -= kept;
  }
  result.supervisors_omitted = all.size() - result.supervisors.size();
}

} // namespace

node_activity activity_of(node_core& node, const activity_query& query) {
  node_activity result;
  result.name = watched_text(*node.options().name);
  result.process = static_cast<std::uint32_t>(::getpid());
  if (query.actors)
    add_actors(node, result);
  if (query.supervisors)
    add_supervisors(node, result);
  if (query.letters) {
    auto part = node.letter_watch().ask(query.letters_after);
    result.letters = std::move(part.values);
    result.letters_lost = part.lost;
  }
  if (query.spans) {
    auto part = node.span_watch().ask(query.spans_after);
    result.spans = std::move(part.values);
    result.spans_lost = part.lost;
  }
  result.lost_links = node.lost().all();
  return result;
}

} // namespace troupe::internal
