#include <troupe/framework/internal/node/introductions.hpp>

#include <algorithm>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/link_keeper.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>

namespace troupe::internal {

namespace {

// Limits on the nodes whose addresses are remembered per link, and on the open links that result from all
// introductions.
constexpr std::size_t remembered_nodes_max = 256;
constexpr std::size_t introduced_links_max = 64;

/// Nodes that this node has not chosen itself get only the rights that every peer has.
link_options terms_of(const node_link& introducer) {
  auto terms = introducer.options();
  terms.peer_identity = std::string{}; // It names the introducer.
  terms.roles.clear();
  terms.allow_spawn = terms.allow_tasks = terms.allow_exit = terms.allow_memory_summary = terms.allow_report = false;
  terms.allow_recording = terms.allow_orders = false;
  return terms;
}

} // namespace

void introductions::learn(const std::shared_ptr<node_link>& from, const handles::node_name& who,
                          std::vector<std::string> addresses) {
  saying what{from, std::move(addresses), from->peer_handles() == who, from->place().is_within_host()};
  const auto link = from->number();
  std::lock_guard guard{mutex_};
  if (!known_.insert_or_assign({who, link}, std::move(what)).second)
    return;
  auto& said = said_by_[link];
  said.push_back(who);
  if (said.size() > remembered_nodes_max) {
    const auto oldest = said.front() == from->peer_handles() ? said.begin() + 1 : said.begin();
    known_.erase({*oldest, link});
    said.erase(oldest);
  }
}

void introductions::forget(std::uint64_t link) {
  std::lock_guard guard{mutex_};
  if (auto said = said_by_.extract(link))
    for (const auto& who : said.mapped())
      known_.erase({who, link});
}

std::optional<introductions::own_words> introductions::of(const handles::node_name& who) const {
  std::lock_guard guard{mutex_};
  for (auto each = known_.lower_bound({who, 0}); each != known_.end() && each->first.first == who; ++each)
    if (each->second.is_own)
      return own_words{each->second.addresses, each->second.is_within_host};
  return std::nullopt;
}

void introductions::seek(const handles::node_name& who) {
  const auto node = node_.lock();
  if (!node || is_ended_ || searches_.contains(who) || dials_.contains(who))
    return;
  std::erase_if(opened_, [](const auto& each) {
    const auto link = each.lock();
    return !link || !link->is_open();
  });
  if (opened_.size() + searches_.size() >= introduced_links_max) {
    node->lines().say(log_level::info, "a node that a peer introduced is not dialed: " + grouped(introduced_links_max)
                                           + " such links are open, which is the limit");
    return;
  }
  std::vector<std::pair<std::shared_ptr<node_link>, std::vector<std::string>>> sayings;
  {
    std::lock_guard guard{mutex_};
    for (auto each = known_.lower_bound({who, 0}); each != known_.end() && each->first.first == who; ++each)
      if (auto from = each->second.from.lock())
        sayings.emplace_back(std::move(from), each->second.addresses);
  }
  search made;
  for (const auto& [from, addresses] : sayings)
    if (from->options().dial_introduced)
      for (const auto& address : dialable(addresses, from->place()))
        made.left.emplace_back(address, terms_of(*from));
  searches_.emplace(who, std::move(made));
  try_next(who);
}

/// Tries one address after the other until one leads to the node.
void introductions::try_next(const handles::node_name& who) {
  const auto found = searches_.find(who);
  const auto node = node_.lock();
  if (found == searches_.end() || !node)
    return;
  auto& which = found->second;
  if (which.dial)
    std::exchange(which.dial, nullptr)->stop();
  while (!which.left.empty()) {
    auto [address, terms] = std::move(which.left.front());
    which.left.pop_front();
    const auto told = [weak = weak_from_this(), who, &io = node->io()](const link_event& event) {
      if (event.what != link_event::kind::connected && event.what != link_event::kind::given_up)
        return;
      post_to(io, [weak, who, connected = event.what == link_event::kind::connected] { // Later: the dial is telling.
        if (const auto self = weak.lock())
          connected ? self->on_connected(who) : self->on_given_up(who);
      });
    };
    auto dial = link_keeper::make(node, address, terms, {.kind = reconnect::none}, {.callback = told});
    if (!dial || !node->dials().keep(*dial)) {
      node->lines().say(log_level::debug, address + ", the address of a node that a peer introduced, is not dialed: "
                                              + (dial ? "the node is closing" : dial.error().message()));
      continue;
    }
    which.dial = *std::move(dial);
    return;
  }
  searches_.erase(found);
}

/// Another node may listen at that address now.
void introductions::on_connected(const handles::node_name& who) {
  const auto found = searches_.find(who);
  if (found == searches_.end() || !found->second.dial)
    return;
  const auto link = found->second.dial->current();
  if (!link || link->peer_handles() != who) {
    if (link)
      link->close("it is another node than the one that was named", std::chrono::milliseconds{0});
    try_next(who);
    return;
  }
  opened_.push_back(link);
  lost_.erase(who);
  dials_.insert_or_assign(who, std::move(found->second.dial));
  searches_.erase(found);
}

/// A dial has failed, or its link has been lost.
void introductions::on_given_up(const handles::node_name& who) {
  const auto lost = dials_.extract(who);
  if (!lost) {
    try_next(who);
    return;
  }
  lost.mapped()->stop();
  const auto node = node_.lock();
  if (!node || is_ended_)
    return;
  // Both ends keep the link's exports for this time.
  lost_.insert_or_assign(who, std::chrono::steady_clock::now() + *node->options().handle_grace);
  seek_again();
}

void introductions::seek_again() {
  constexpr std::chrono::milliseconds pause{500};
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(lost_, [&](const auto& each) { return each.second < now; });
  for (const auto& [who, until] : std::map{lost_}) // Copied, since seek() may change it.
    seek(who);
  const auto node = node_.lock();
  if (lost_.empty() || !node || is_ended_)
    return;
  timer_ = std::make_shared<io_timer>(node->io(), pause);
  timer_->async_wait([weak = weak_from_this()](std::error_code cancelled) {
    if (const auto self = weak.lock(); self && !cancelled)
      self->seek_again();
  });
}

void introductions::end() {
  is_ended_ = true;
  searches_.clear();
  dials_.clear();
  lost_.clear();
  timer_.reset();
}

} // namespace troupe::internal
