#include "liar.hpp"

#include <random>

namespace troupe::simulation {

namespace {

class forger {
public:
  forger(world& in, std::uint32_t seed) : in_(in), random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

  object_id name() {
    if (in_.names_seen.empty())
      return {1, 0, 1};
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

  handles::node_name node() {
    auto made = in_.nodes[below(in_.nodes.size())].name;
    made.incarnation += below(4) == 0;
    return made;
  }

  handles::handle_descriptor handle() {
    handles::handle_descriptor made{name(), static_cast<handles::handle_mode>(1 + below(4)), 1 + below(12), {}};
    if (made.mode == handles::handle_mode::behind && below(2) == 0)
      made.offer = handles::adoption_offer{node(), name(), token()};
    return made;
  }

  std::vector<handles::handle_descriptor> some_handles() {
    std::vector<handles::handle_descriptor> made;
    for (auto left = below(3); left > 0; --left)
      made.push_back(handle());
    return made;
  }

  packet anything() {
    auto request = 1 + below(6);
    switch (below(15)) {
    case 0:
      return {0, handles::release{name(), 1 + below(3)}, 0};
    case 1:
      return {0, handles::vouch{name(), node(), token()}, 0};
    case 2:
      return {0, handles::adopt{request, name(), token()}, 0};
    case 3:
      return {0, handles::reclaim{request, name(), 1 + below(in_.links.size())}, 0};
    case 4:
    case 5:
      return {0, handles::pull{request, name()}, 0};
    case 6:
      return {0, handles::cancel{request}, 0};
    case 7:
      return {0, handles::adopted{request, handle()}, 0};
    case 8:
      return {0, handles::reclaimed{request}, 0};
    case 9:
      return {0, handles::pull_head{request, 1 + below(12), some_handles()}, 0};
    case 10:
      return {0, handles::pull_chunk{request, below(3) * world::chunk_bytes, 1 + below(5)}, 0};
    case 11:
      return {0, handles::pull_here{request, handle()}, 0};
    case 12:
      return {0, handles::refused{request, static_cast<handles::handle_errc>(below(256))}, 0};
    case 13:
      return {0, handles::lost{name()}, 0};
    default:
      return {0, parcel{some_handles(), {}, below(2) == 0}, 0};
    }
  }

private:
  world& in_;
  std::mt19937 random_;
};

/// A link of a living liar that is up at its end.
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
    in.forge(where->first, where->second, forger{in, seed}.anything());
}

void tamper(world& in, std::uint32_t how, std::uint32_t seed) {
  auto where = liars_link(in, how);
  if (!where)
    return;
  auto& queue = in.links[where->first].queues[1 - where->second];
  if (queue.empty())
    return;
  forger tools{in, seed};
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
  } else if (auto* message = std::get_if<handles::message>(&victim.what)) {
    if (auto* head = std::get_if<handles::pull_head>(message))
      head->captured = tools.some_handles();
    else if (auto* bytes = std::get_if<handles::pull_chunk>(message))
      ++bytes->offset;
  }
}

} // namespace troupe::simulation
