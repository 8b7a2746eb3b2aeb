#include <troupe/framework/internal/node/entrances.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/net/host_lookup.hpp>
#include <troupe/framework/internal/net/io_loop.hpp>
#include <troupe/framework/internal/net/local_query_name.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// Limit on inspecting links. Each may have `unread_answer_bytes` unread.
constexpr std::size_t query_links_max = 64;

/// An unpredictable number below `count`.
std::size_t random_below(std::size_t count) {
  return random_number() % count; // The bias is negligible for small counts.
}

link_options query_terms(bool allow_orders) {
  return {.serializers = {"msgpack"},
          .share_store = false,
          .allow_memory_summary = true,
          .allow_report = true,
          .allow_orders = allow_orders,
          .message_bytes = 64_KiB,
          .window_bytes = 1_MiB,
          .actor_window_bytes = 1_MiB,
          .unread_answer_bytes = 8_MiB};
}

} // namespace

entrances::entrances(asio::io_context& io, const node_options& options, const family_set& families,
                     std::weak_ptr<entrance_owner> owner)
    : io_(io),
      options_(options),
      families_(families),
      owner_(std::move(owner)),
      unproven_(options.unproven_peers_max, random_below) {}

std::expected<void, node_error> entrances::listen(std::span<const std::string> addresses) {
  if (!io_loop::may_wait())
    return fail(node_errc::unsupported, "listen may wait for a host name lookup and would block a node's I/O thread: "
                                        "call it on another thread, for example in an actor");
  open_doors doors;
  auto result = open_all(addresses, doors);
  if (result)
    result = announce(doors.addresses);
  // Peers may already be connecting, so the listeners belong to the I/O thread.
  post_to(io_, [self = shared_from_this(), doors = std::move(doors), stays = result.has_value()]() mutable {
    if (stays && !self->is_closed_)
      self->keep(std::move(doors));
  });
  return result;
}

std::expected<void, node_error> entrances::open_first() {
  open_doors doors;
  auto result = open_all(*options_.listen, doors);
  if (result)
    result = announce(doors.addresses);
  if (!result)
    return result;
  keep(std::move(doors));
  open_query_socket();
  return {};
}

std::vector<std::string> entrances::addresses() const {
  std::lock_guard guard{mutex_};
  return addresses_;
}

void entrances::unproven_peer_is_gone(node_link* link) {
  unproven_.leave(link);
}

bool entrances::displace_unproven_peer() {
  const auto link = unproven_.displace();
  if (link)
    link->displace();
  return link != nullptr;
}

void entrances::stop_accepting() {
  end();
  post_to(io_, [self = shared_from_this()] { self->close(); });
}

void entrances::end() {
  std::lock_guard guard{mutex_};
  has_ended_ = true;
}

void entrances::close() {
  end();
  is_closed_ = true;
  listeners_.clear();
  inproc_listeners_.clear();
}

std::expected<void, node_error> entrances::open_all(std::span<const std::string> addresses, open_doors& doors) {
  for (const auto& text : addresses)
    if (auto opened = open_at(text, doors); !opened)
      return opened;
  return {};
}

std::expected<void, node_error> entrances::announce(std::span<const std::string> more) {
  std::lock_guard guard{mutex_};
  if (has_ended_)
    return fail(node_errc::link_down, "the node is closing");
  addresses_.insert(addresses_.end(), more.begin(), more.end());
  return {};
}

std::expected<void, node_error> entrances::open_at(const std::string& text, open_doors& doors) {
  auto at = parse_address(text);
  if (!at)
    return std::unexpected{std::move(at).error()};
  if (at->kind == transport_kind::inproc)
    return open_in_process(*at, doors);
  auto endpoints = resolve(*at, options_.accepted_links.connect_timeout);
  if (!endpoints)
    return std::unexpected{std::move(endpoints).error()};
  auto security = security_for_listening(*at, *endpoints, options_.accepted_links);
  if (!security)
    return std::unexpected{std::move(security).error()};
  if (!security->caution.empty())
    log(log_level::warning, security->caution);
  const terms on{options_.accepted_links, *std::move(security)};
  auto opened = listen_at_all(*at, *endpoints, [&](const address& one, const stream_endpoint& endpoint) {
    return open_socket(one, endpoint, on);
  });
  if (!opened)
    return std::unexpected{std::move(opened).error()};
  doors.addresses.push_back(opened->front()->text());
  std::ranges::move(*opened, std::back_inserter(doors.listeners));
  return {};
}

std::expected<void, node_error> entrances::open_in_process(const address& at, open_doors& doors) {
  const auto& options = options_.accepted_links;
  if (auto good = check_listening(options); !good)
    return good;
  auto security = std::make_shared<const link_security>(link_security{.kind = at.kind, .tls = {}, .tls_server = {}});
  auto opened = inproc_listener::open(io_, at.path, [owner = owner_, security, options](inproc_listener::guest guest) {
    const auto node = owner.lock();
    if (!node)
      return;
    auto seat = node->seat_for_link();
    guest.move_to(seat.io());
    if (const auto link = node->make_link(options, security, std::move(seat)))
      link->start(std::move(guest.bytes), options.connect_timeout, nullptr);
  });
  if (!opened)
    return std::unexpected{std::move(opened).error()};
  doors.addresses.push_back(at.text);
  doors.inproc_listeners.push_back(*std::move(opened));
  return {};
}

std::expected<std::shared_ptr<listener>, node_error> entrances::open_socket(const address& at,
                                                                            const stream_endpoint& endpoint, terms on) {
  auto shared = std::make_shared<const terms>(std::move(on));
  const std::shared_ptr<const link_security> security{shared, &shared->security};
  return listener::open(
      io_, at, endpoint,
      [weak = weak_from_this(), shared, security](stream_socket socket, const std::shared_ptr<refusal_log>& refusals) {
        if (auto self = weak.lock())
          self->on_accept(std::move(socket), *shared, security, refusals);
      },
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        return self && self->displace_unproven_peer();
      },
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        return !self || self->unproven_.has_room();
      });
}

/// If such queries are not possible, the node opens without it.
void entrances::open_query_socket() {
  if (!options_.local_queries)
    return;
  if (auto opened = made_query_socket())
    listeners_.push_back(*std::move(opened));
  else
    log(log_level::info, "`troupe memory` cannot ask node " + *options_.name + ": " + opened.error().message());
}

std::expected<std::shared_ptr<listener>, node_error> entrances::made_query_socket() {
  auto options = query_terms(*options_.local_orders);
  if (auto good = node_link::check(options, families_); !good)
    return std::unexpected{std::move(good).error()};
  const auto at = parse_address(fresh_local_query_address());
  if (!at)
    return std::unexpected{at.error()};
  const auto endpoints = resolve(*at, options.connect_timeout);
  if (!endpoints)
    return std::unexpected{endpoints.error()};
  auto security = security_for_listening(*at, *endpoints, options);
  if (!security)
    return std::unexpected{std::move(security).error()};
  return open_socket(*at, endpoints->front(), {std::move(options), *std::move(security), true});
}

void entrances::keep(open_doors doors) {
  std::ranges::move(doors.listeners, std::back_inserter(listeners_));
  std::ranges::move(doors.inproc_listeners, std::back_inserter(inproc_listeners_));
  if (const auto node = owner_.lock())
    node->has_more_addresses();
}

void entrances::on_accept(stream_socket socket, const terms& on, const std::shared_ptr<const link_security>& security,
                          const std::shared_ptr<refusal_log>& refusals) {
  const auto node = owner_.lock();
  if (!node)
    return;
  auto source = source_of(socket);
  auto seat = node->seat_for_link();
  auto moved = moved_to(seat.io(), std::move(socket));
  auto bytes = moved ? make_transport(*std::move(moved), *security, turns_on(seat.io()))
                     : std::unexpected{std::move(moved).error()};
  if (!bytes) {
    refusals->note(log_level::warning, "a connection was refused: " + bytes.error().message());
    return;
  }
  if (on.hides_names && !has_room_for_query()) {
    refusals->note(log_level::info, "a connection was refused: " + grouped(query_links_max)
                                        + " inspecting links are open, which is the limit");
    return;
  }
  const auto link = node->make_link(on.options, security, std::move(seat));
  if (!link)
    return;
  if (on.hides_names) {
    link->hide_names();
    query_links_.push_back(link);
  }
  if (const auto displaced = unproven_.enter(link, std::move(source))) {
    refusals->note(log_level::info,
                   "a peer that has not proven who it is was disconnected: unproven_peers_max is reached");
    displaced->displace();
  }
  link->start(*std::move(bytes), on.options.connect_timeout, refusals);
}

/// A handshake takes time on the thread that serves its link, so each loop has its own turns.
const std::shared_ptr<handshake_turns>& entrances::turns_on(asio::io_context& io) {
  auto& turns = handshake_turns_[&io];
  if (!turns)
    turns = std::make_shared<handshake_turns>(io);
  return turns;
}

bool entrances::has_room_for_query() {
  std::erase_if(query_links_, [](const auto& each) { return each.expired(); });
  return query_links_.size() < query_links_max;
}

} // namespace troupe::internal
