// The handshake: who the peer is, what each end sends and accepts, whether a store is shared.
#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/link_core.hpp>
#include <troupe/framework/internal/log.hpp>
#include <troupe/framework/internal/node_core.hpp>
#include <troupe/framework/internal/send_admin.hpp>
#include <troupe/framework/internal/text.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string to_hex(const caf::node_id::default_data::host_id_type& bytes) {
  std::string text;
  for (auto byte : bytes) {
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 0xf];
  }
  return text;
}

/// An invalid node id when the text is none.
caf::node_id read_node_id(std::uint32_t process, std::string_view host) {
  caf::node_id::default_data::host_id_type bytes{};
  if (host.size() != 2 * bytes.size())
    return {};
  for (std::size_t i = 0; i < host.size(); ++i) {
    auto digit = hex_digits.find(host[i]);
    if (digit == std::string_view::npos)
      return {};
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] << 4 | digit);
  }
  if (!caf::node_id::default_data::valid(bytes))
    return {};
  return caf::node_id{caf::make_counted<caf::node_id::default_data>(process, bytes)};
}

bool share_any(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  return std::ranges::any_of(left, [&](const auto& name) { return std::ranges::find(right, name) != right.end(); });
}

std::uint64_t random_number() {
  std::random_device random;
  return static_cast<std::uint64_t>(random()) << 32 | random();
}

} // namespace

void link_core::start(std::shared_ptr<transport> bytes) {
  auto self = shared_from_this();
  if (state_.load(std::memory_order_relaxed) != link_state::greeting) {
    on_closed({node_errc::link_down, "the link was closed before it was connected"});
    return;
  }
  connection_ = std::make_shared<connection>(node_->io(), std::move(bytes), shared_mutex_);
  // The member owns it alone, so that dropping it cancels it.
  auto timer = std::make_shared<asio::steady_timer>(node_->io(), options_.connect_timeout);
  timer->async_wait([self = weak_from_this()](std::error_code error) {
    auto link = self.lock();
    if (!error && link && link->state_.load(std::memory_order_relaxed) == link_state::greeting)
      link->connection_->close(
          {node_errc::timed_out,
           "the handshake took longer than " + std::to_string(link->options_.connect_timeout.count()) + " ms"},
          std::chrono::milliseconds{0});
  });
  handshake_timer_ = std::move(timer);
  connection_->start(self);
  if (role_ == role::dialer) {
    channel_ = random_number() & ~std::uint64_t{1};
    send_hello(false);
  }
}

std::expected<void, node_error> link_core::wait_until_open() {
  // Bounded: start() arms a timer, and the end of the link settles it whatever happens.
  return opened_.get_future().get();
}

void link_core::settle_opening(std::expected<void, node_error> result) {
  if (!std::exchange(opened_settled_, true))
    opened_.set_value(std::move(result));
}

void link_core::send_hello(bool shares_store) {
  auto id = node_->system().node();
  const auto& data = static_cast<const caf::node_id::default_data&>(*id);
  hello mine{.version = protocol_version,
             .name = node_->options().name,
             .process = data.process_id(),
             .host = to_hex(data.host_id()),
             .serializers = serializers_.names,
             .deserializers = accepted_.names,
             .message_bytes = options_.message_bytes,
             .window_bytes = options_.window_bytes,
             .actor_window_bytes = options_.actor_window_bytes,
             .channel = channel_,
             .shares_store = shares_store};
  if (options_.share_store && node_->store()) {
    auto process = node_->store()->self();
    mine.store_number = node_->store()->number();
    mine.store_slot = process.slot;
    mine.store_nonce = process.nonce;
  }
  send_admin(admin_op::hello, mine);
}

std::expected<void, node_error> link_core::on_greeting(admin_op op, bytes_view body) {
  auto expected_op = role_ == role::acceptor && peer_node_ ? admin_op::ready : admin_op::hello;
  if (op == admin_op::refuse) {
    auto theirs = msgpack::decode_described<refuse>(body, options_.receive_limits);
    auto reason = theirs ? theirs->reason : theirs.error().message();
    auto code = theirs && theirs->code == static_cast<std::uint8_t>(node_errc::nothing_in_common)
                    ? node_errc::nothing_in_common
                    : node_errc::refused;
    return std::unexpected{node_error{code, "the peer refused: " + reason}};
  }
  if (op == admin_op::goodbye)
    return std::unexpected{node_error{node_errc::link_down, "the peer closed the link in the handshake"}};
  if (op != expected_op)
    return refuse_peer({node_errc::protocol_violation,
                        "admin message " + std::to_string(static_cast<int>(op)) + " is out of place in the handshake"});
  if (op == admin_op::hello) {
    auto theirs = msgpack::decode_described<hello>(body, options_.receive_limits);
    if (!theirs)
      return refuse_peer({node_errc::protocol_violation, "the hello cannot be read: " + theirs.error().message()});
    return on_hello(*theirs);
  }
  auto theirs = msgpack::decode_described<ready>(body, options_.receive_limits);
  if (!theirs)
    return refuse_peer({node_errc::protocol_violation, "the ready cannot be read: " + theirs.error().message()});
  shares_store_ = shares_store_ && theirs->shares_store;
  return become_open();
}

std::expected<void, node_error> link_core::on_hello(const hello& theirs) {
  peer_node_ = read_node_id(theirs.process, theirs.host);
  if (!peer_node_)
    return refuse_peer({node_errc::protocol_violation, "the hello holds no node id"});
  if (peer_node_ == node_->system().node())
    return refuse_peer({node_errc::refused, "the peer has this node's own id; a node does not link to itself"});
  if (theirs.name.size() > alias_bytes_max)
    return refuse_peer({node_errc::protocol_violation, "the peer's name is longer than 1,024 bytes"});
  peer_name_ = theirs.name;
  peer_message_bytes_ = theirs.message_bytes;
  if (theirs.window_bytes == 0 || theirs.actor_window_bytes == 0)
    return refuse_peer({node_errc::protocol_violation, "the peer takes no messages: its window is empty"});
  sending_.set_bounds({.window = theirs.window_bytes,
                       .actor_window = theirs.actor_window_bytes,
                       .queue = options_.queue_bytes,
                       .actor_queue = options_.actor_queue_bytes,
                       .replies = options_.window_bytes});
  peer_process_ = {theirs.store_slot, theirs.store_nonce};
  if (auto agreed = agree_on_families(theirs); !agreed)
    return refuse_peer(agreed.error());
  if (role_ == role::acceptor) {
    channel_ = theirs.channel & ~std::uint64_t{1};
    shares_store_ = agrees_on_store(theirs);
    send_hello(shares_store_);
    return {};
  }
  if (theirs.shares_store)
    shares_store_ = agrees_on_store(theirs);
  send_admin(admin_op::ready, ready{shares_store_});
  return become_open();
}

std::expected<void, node_error> link_core::agree_on_families(const hello& theirs) {
  if (theirs.serializers.size() > families_max || theirs.deserializers.size() > families_max)
    return std::unexpected{node_error{node_errc::protocol_violation, "the peer lists more than 64 families"}};
  if (!share_any(serializers_.names, theirs.deserializers) || !share_any(theirs.serializers, accepted_.names)) {
    const auto& me = node_->options().name;
    return std::unexpected{node_error{
        node_errc::nothing_in_common,
        "no family in common: " + theirs.name + " sends with " + bracketed(theirs.serializers) + ", " + me + " accepts "
            + bracketed(accepted_.names) + "; " + me + " sends with " + bracketed(serializers_.names) + ", "
            + theirs.name + " accepts " + bracketed(theirs.deserializers)}};
  }
  peer_accepts_ = theirs.deserializers;
  for (std::size_t i = 0; i < serializers_.names.size(); ++i) {
    if (std::ranges::find(theirs.deserializers, serializers_.names[i]) != theirs.deserializers.end())
      send_families_.push_back(serializers_.families[i]);
  }
  return {};
}

/// Both must have opened the same store: the peer's nonce stands in it at the peer's slot.
bool link_core::agrees_on_store(const hello& theirs) const {
  if (!options_.share_store || !node_->store() || theirs.store_nonce == 0)
    return false;
  const auto& store = *node_->store();
  return theirs.store_number == store.number() && store.shares_with({theirs.store_slot, theirs.store_nonce});
}

std::expected<void, node_error> link_core::become_open() {
  {
    std::lock_guard guard{mutex_};
    if (state_.load(std::memory_order_relaxed) != link_state::greeting)
      return std::unexpected{node_error{node_errc::link_down, "this end closed the link in the handshake"}};
    receiving_ = std::make_unique<receive_window>(receive_bounds{options_.window_bytes, options_.actor_window_bytes},
                                                  [weak = weak_from_this()] {
                                                    if (auto link = weak.lock())
                                                      asio::post(link->node_->io(), [weak] {
                                                        if (auto alive = weak.lock(); alive && alive->is_open())
                                                          alive->report_consumed();
                                                      });
                                                  });
    enter(link_state::open);
  }
  handshake_timer_.reset();
  start_heartbeat();
  connection_->admit_large_packets();
  log(log_level::info, "link to " + peer_name_ + " is open; sends " + bracketed(effective_serializers()) + ", accepts "
                           + bracketed(accepted_.names) + (shares_store_ ? ", shares the store" : ""));
  settle_opening({});
  return {};
}

std::unexpected<node_error> link_core::refuse_peer(node_error reason) {
  log(log_level::warning, "a peer was refused in the handshake: " + reason.message());
  send_admin(admin_op::refuse, refuse{static_cast<std::uint8_t>(reason.code()), cut(reason.message())});
  return std::unexpected{std::move(reason)};
}

} // namespace troupe::internal
