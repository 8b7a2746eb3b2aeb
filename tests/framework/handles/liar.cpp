#include "liar.hpp"

#include <random>

namespace troupe::simulation {

namespace {

using namespace handles;

class forger {
public:
  forger(world& in, link_index over, int end, std::uint32_t seed)
      : in_(in), end_(in.links[over].liars[end]), over_(over), self_(in.links[over].ends[end]), random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

  object_id invented() { return {invented_store, static_cast<std::uint32_t>(1 + below(12)), 1}; }

  object_id name() {
    if (in_.names_seen.empty() || below(3) == 0)
      return invented();
    auto made = in_.names_seen[below(in_.names_seen.size())];
    switch (below(8)) {
    case 0:
      ++made.generation;
      break;
    case 1:
      --made.generation;
      break;
    case 2:
      ++made.index;
      break;
    default:
      break;
    }
    return made;
  }

  std::uint64_t token() {
    return in_.tokens_seen.empty() || below(4) == 0 ? below(100) : in_.tokens_seen[below(in_.tokens_seen.size())];
  }

  node_name node() {
    auto made = in_.nodes[below(in_.nodes.size())].name;
    made.incarnation += below(4) == 0;
    return made;
  }

  /// Makes a handle to an object in the store that both ends share. Usually hands the object over first, sometimes not.
  handle_descriptor shared_handle() {
    auto living = in_.store_of(self_).living();
    auto made = living[below(living.size())];
    if (below(8) != 0)
      (void)in_.nodes[self_].objects->hand_over(made, in_.links[over_].number);
    return {made, handle_mode::shared, in_.store_of(self_).size_of(made) + (below(16) == 0), {}};
  }

  /// Returns a home name that the liar was sent, or of an object in its host's store, or an invented one.
  home_name home() {
    const auto& known = in_.homes_of_liars;
    const auto& store = in_.store_of(self_);
    if (auto living = store.living(); !living.empty() && below(4) == 0) {
      auto own = living[below(living.size())];
      return {own, store.proof_of(own)};
    }
    return known.empty() || below(4) == 0 ? home_name{name(), below(100)} : known[below(known.size())];
  }

  handle_descriptor handle() {
    auto made = handle_without_home();
    if (below(2) == 0)
      made.home = home();
    if (made.home && below(2) == 0) // Otherwise the size usually does not match.
      for (const auto& store : in_.stores)
        if (store.lives(made.home->name))
          made.size_bytes = store.size_of(made.home->name);
    return made;
  }

  handle_descriptor handle_without_home() {
    if (in_.links[over_].shares_store && below(2) == 0 && !in_.store_of(self_).living().empty())
      return shared_handle();
    if (below(2) == 0) {
      auto made = invented();
      return {made, handle_mode::mine, invented_size(made), {}};
    }
    handle_descriptor made{name(), static_cast<handle_mode>(1 + below(4)), 1 + below(12), {}};
    if (made.name.store == invented_store && below(8) != 0)
      made.size_bytes = invented_size(made.name);
    if (made.mode == handle_mode::behind && below(2) == 0)
      made.offer = adoption_offer{node(), name(), token()};
    if (made.mode == handle_mode::behind && below(2) == 0) {
      const auto& known = in_.marks_of_liars; // A sent mark may lead to its object; others cannot be guessed.
      made.mark = known.empty() || below(4) == 0 ? below(100) : known[below(known.size())];
      made.hops = static_cast<std::uint32_t>(below(2) == 0 ? below(16) : ~std::uint32_t{0});
    }
    return made;
  }

  std::vector<handle_descriptor> some_handles() {
    std::vector<handle_descriptor> made;
    for (auto left = below(5); left > 0; --left)
      made.push_back(handle());
    return made;
  }

  /// Returns a number for a question of the liar's.
  request_number number() {
    auto made = below(4) != 0 ? end_.fresh_number() : below(8) == 0 ? below(1000) : below(8);
    end_.used(made);
    return made;
  }

  /// Picks a question to answer, usually one that the peer has asked.
  liar_end::question question() {
    auto& known = end_.questions();
    if (known.empty() || below(8) == 0)
      return {below(4) == 0 ? below(~std::uint64_t{0}) : below(8), name(), 0};
    auto found = known[below(known.size())];
    found.request += below(16) == 0;
    return found;
  }

  pull_chunk honest_looking_bytes() {
    auto& known = end_.questions();
    auto asked = question();
    auto size_bytes =
        std::min(world::chunk_bytes, invented_size(asked.name) - std::min(invented_size(asked.name), asked.sent_bytes));
    for (auto& each : known)
      if (each.request == asked.request)
        each.sent_bytes += size_bytes;
    return {asked.request, asked.sent_bytes, size_bytes};
  }

  packet_content answer() {
    auto asked = question();
    switch (below(11)) {
    case 0:
      return adopted{asked.request, handle()};
    case 1:
      return reclaimed{asked.request, below(2) == 0 ? asked.name : name()};
    case 2:
    case 3:
    case 4:
      return pull_head{asked.request, below(8) == 0 ? below(12) : invented_size(asked.name), some_handles()};
    case 5:
      return pull_chunk{asked.request, below(3) * world::chunk_bytes, below(6)};
    case 6:
      return pull_here{asked.request, handle()};
    case 7:
      return refused{asked.request, static_cast<handle_errc>(below(16) == 0 ? below(256) : below(13))};
    default:
      return honest_looking_bytes();
    }
  }

  /// Returns names of objects in the store that both ends share, handed over or not.
  std::vector<object_id> some_stored() {
    std::vector<object_id> made;
    if (below(3) == 0)
      return made;
    for (auto left = below(3); left > 0; --left)
      if (in_.links[over_].shares_store && !in_.store_of(self_).living().empty() && below(8) != 0)
        made.push_back(shared_handle().name);
      else
        made.push_back(name());
    return made;
  }

  message question_or_more() {
    switch (below(9)) {
    case 0:
      return release{name(), 1 + below(3)};
    case 1:
    case 2:
      return vouch{name(), node(), token()};
    case 3:
      return adopt{number(), name(), token()};
    case 4:
      return reclaim{number(), name(), 1 + below(in_.links.size())};
    case 5:
    case 6:
      return pull{number(), name()};
    case 7:
      return cancel{below(8)};
    default:
      return lost{name()};
    }
  }

  packet anything() {
    switch (below(6)) {
    case 0:
      return {0, parcel{some_handles(), {}, below(2) == 0}, 0};
    case 5: // Releases and stored objects come mostly over links that share a store.
      if (!in_.links[over_].shares_store && below(8) != 0)
        return {0, answer(), 0};
      if (below(2) == 0)
        return {0, shared_release{name(), 1 + below(3)}, 0};
      return {0, parcel{{}, {}, below(2) == 0, some_stored()}, 0};
    case 1:
    case 2:
      return {0, question_or_more(), 0};
    default:
      return {0, answer(), 0};
    }
  }

private:
  world& in_;
  liar_end& end_;
  link_index over_;
  node_index self_;
  std::mt19937 random_;
};

/// Picks a link of a running liar that has not been cut.
[[nodiscard]] std::optional<std::pair<link_index, int>> liars_link(const world& in, std::uint32_t which) {
  std::vector<std::pair<link_index, int>> found;
  for (link_index at = 0; at < in.links.size(); ++at)
    for (int end = 0; end < 2; ++end)
      if (in.nodes[in.links[at].ends[end]].liar && in.active(in.links[at].ends[end]) && !in.links[at].is_cut)
        found.emplace_back(at, end);
  if (found.empty())
    return std::nullopt;
  return found[which % found.size()];
}

} // namespace

void forge(world& in, std::uint32_t how, std::uint32_t seed) {
  if (auto where = liars_link(in, how))
    in.forge(where->first, where->second, forger{in, where->first, where->second, seed}.anything());
}

void tamper(world& in, std::uint32_t how, std::uint32_t seed) {
  auto where = liars_link(in, how);
  if (!where)
    return;
  auto& queue = in.links[where->first].queues[1 - where->second];
  if (queue.empty())
    return;
  forger tools{in, where->first, where->second, seed};
  auto at = tools.below(queue.size());
  auto& victim = queue[at];
  switch (tools.below(5)) {
  case 0:
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  case 1:
    queue.push_back(packet{victim});
    return;
  case 2:
    std::swap(victim, queue.back());
    return;
  default:
    break;
  }
  if (auto* carried = std::get_if<parcel>(&victim.what); carried != nullptr && !carried->handles.empty()) {
    carried->handles[tools.below(carried->handles.size())] = tools.handle();
  } else if (auto* bytes = std::get_if<pull_chunk>(&victim.what)) {
    ++bytes->offset;
  } else if (auto* heard = std::get_if<message>(&victim.what)) {
    if (auto* head = std::get_if<pull_head>(heard))
      head->captured = tools.some_handles();
  }
}

} // namespace troupe::simulation
