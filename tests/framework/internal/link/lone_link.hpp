// The state that the parts of a link share, without a link.
#pragma once

#include <any>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <caf/all.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Set in the numbers of actors of third nodes.
inline constexpr std::uint64_t foreign_bit = std::uint64_t{1} << 63;

struct packet_said {
  packet_head head;
  byte_vector body;
};

/// Returns the packets in the order in which they were appended.
inline std::vector<packet_said> packets_in(const outbox& out) {
  std::vector<bytes_view> pieces;
  out.gather(pieces);
  byte_vector bytes;
  for (const auto& each : pieces)
    bytes.insert(bytes.end(), each.begin(), each.end());
  std::vector<packet_said> packets;
  for (bytes_view rest = bytes; !rest.empty();) {
    const auto head = read_packet_head(rest.first<packet_head_bytes>());
    const auto body = rest.subspan(packet_head_bytes, head.body_bytes);
    packets.push_back({head, {body.begin(), body.end()}});
    rest = rest.subspan(packet_head_bytes + body.size());
  }
  return packets;
}

/// Records what is said to the peer.
class heard_admin_output final : public admin_output {
public:
  using admin_output::admin_output;

  /// Removes and returns the oldest packet that has not been heard. Returns nullopt if there is none, or if it has
  /// another operation or cannot be decoded.
  template <class Admin>
  std::optional<Admin> hear(admin_op op) {
    read();
    if (said_.empty() || said_.front().head.detail != static_cast<std::uint8_t>(op))
      return std::nullopt;
    const auto first = std::move(said_.front());
    said_.erase(said_.begin());
    auto what = decode_admin<Admin>(first.body, limits{});
    return what ? std::optional{*std::move(what)} : std::nullopt;
  }
  bool is_silent() {
    read();
    return said_.empty();
  }

  bool takes_more = true;

protected:
  outbox* open_outbox(const link_held&) override { return takes_more ? &out_ : nullptr; }
  void flush_soon(const link_held&) override {}
  void flush(link_held& held) override { held.unlock(); }

private:
  void read() {
    for (auto& each : packets_in(out_))
      said_.push_back(std::move(each));
    out_.clear();
  }

  outbox out_;
  std::vector<packet_said> said_;
};

/// A node that recognizes no actor.
class no_recognition final : public actor_recognition {
public:
  caf::strong_actor_ptr recognize(const introduce&) const override { return nullptr; }
};

/// Holds values that travel beside the bytes.
class value_list final : public value_lane {
public:
  void push(std::any& value) override { values.push_back(std::move(value)); }
  std::any pop() override { return values.empty() ? std::any{} : std::exchange(values.front(), {}); }

  std::vector<std::any> values;
};

/// A link that does nothing for its proxies.
class idle_proxy_link : public proxy_link {
public:
  bool is_down() const noexcept override { return false; }
  bool send_unless_down(std::uint64_t receiver, caf::mailbox_element_ptr& what, caf::execution_unit* context) override {
    send(receiver, std::move(what), context);
    return true;
  }
  void send(std::uint64_t, caf::mailbox_element_ptr, caf::execution_unit*) override {}
  void watch(std::uint64_t, caf::strong_actor_ptr) override {}
  void unwatch(std::uint64_t) override {}
  void proxy_gone(std::uint64_t, const caf::actor_control_block*) override {}
  bool forward(std::uint64_t, const forwarded_message&, const caf::strong_actor_ptr&, caf::message_id,
               receipt&) override {
    return false;
  }
  void forward_decoded(std::uint64_t, caf::mailbox_element_ptr, receipt, std::span<const std::byte>) override {}
  introduce introduction_of(std::uint64_t number) const override {
    return {.number = 0,
            .hops = 1,
            .process = 7,
            .host = std::string(40, 'a'),
            .link = 3,
            .actor = number,
            .proof = byte_vector(sizeof(digest))};
  }
  bool is_ready(std::uint64_t) override { return true; }
  void notify_when_ready(std::uint64_t, const caf::strong_actor_ptr&, const caf::strong_actor_ptr&) override {}
  void note_handled(std::chrono::nanoseconds, std::uint64_t) noexcept override {}
};

/// Fixture to test one part of a link alone.
class lone_link : public testing::Test {
protected:
  lone_link() {
    agreed_terms agreed;
    agreed.peer.node = read_node_id(8, std::string(40, 'b'));
    agreed.peer.name = "far";
    agreed.peer.link = 5;
    agreed.peer.introduction_key = byte_vector(sizeof(digest), std::byte{1});
    agree(agreed);
  }

  /// Requires: no part has read the terms yet. The last call wins.
  virtual void agree(agreed_terms agreed) { terms_.reach(std::move(agreed)); }

  void open() { enter(link_state::open); }
  void enter(link_state state) {
    const auto held = mutex_.lock();
    life_.enter(held, state);
  }
  /// Returns an actor of this node that lives as long as the test.
  caf::strong_actor_ptr actor() {
    return caf::actor_cast<caf::strong_actor_ptr>(
        system_.spawn<caf::lazy_init>([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; }));
  }
  /// An actor of a third node.
  caf::strong_actor_ptr foreign_actor(std::uint64_t number, std::shared_ptr<const introduce> introduction = nullptr) {
    return make_proxy(system_, read_node_id(7, std::string(40, 'a')), number, std::make_shared<idle_proxy_link>(),
                      std::move(introduction));
  }

  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  link_mutex mutex_;
  life_cycle life_;
  agreement terms_;
  heard_admin_output admin_{mutex_};
  limited_log log_;
  const link_common common_{mutex_, life_, terms_, admin_, log_};
};

/// Fixture for parts that name actors.
class lone_named_link : public lone_link {
protected:
  lone_named_link() {
    names_.belong_to(link_);
    names_.open(account_);
  }

  const std::shared_ptr<idle_proxy_link> link_ = std::make_shared<idle_proxy_link>();
  const no_recognition none_;
  actor_introductions introductions_{common_, {1, std::string(40, 'c')}, none_};
  receive_account account_{{}, [] {}, nullptr};
  actor_names names_{common_, system_, introductions_};
};

} // namespace troupe::internal
