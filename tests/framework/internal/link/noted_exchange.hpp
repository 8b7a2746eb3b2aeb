// A node's exchange of objects that only records calls, and a link in it without a peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_in_exchange.hpp>
#include <troupe/framework/internal/link/whereabouts_teller.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/io_batch.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/internal/objects/lost_object.hpp>

#include "../bytes.hpp"
#include "lone_link.hpp"

namespace troupe::internal {

/// Records what a link tells it, and answers what the test has set.
class noted_exchange final : public handle_counter {
public:
  handles::node_name self() const noexcept override { return {1, 10}; }
  std::shared_ptr<exchanged_object> object_of(const object_source_ptr&) override { return nullptr; }

  bool link_up(const std::shared_ptr<counted_link>& link, handles::link_number number, handles::node_name peer,
               bytes_view, const std::optional<exchange_channel>& shared) override {
    if (refuses)
      return false;
    up = link;
    up_as = number;
    up_to = peer;
    up_shared = shared;
    return true;
  }
  void link_down(handles::link_number number, std::string why) override {
    downs.push_back(std::to_string(number) + ": " + why);
  }

  std::expected<void, node_error> on_message(handles::link_number, const handles::message& what) override {
    heard.push_back(what);
    return {};
  }
  std::expected<void, node_error> on_chunk(handles::link_number, const object_chunk_head& head,
                                           bytes_view bytes) override {
    chunks.emplace_back(head.what.offset, troupe::tests::text_of(bytes));
    return {};
  }
  /// Returns an object of its own for each counted mention, null for the others.
  std::expected<std::vector<object_source_ptr>, node_error> receive(handles::link_number,
                                                                    std::span<const object_mention> mentions) override {
    std::vector<object_source_ptr> result(mentions.size());
    for (std::size_t i = 0; i < mentions.size(); ++i)
      if (mentions[i].what == object_mention::kind::counted)
        result[i] = std::make_shared<lost_object>(mentions[i].handle.size_bytes);
    return result;
  }
  std::vector<object_mention> count_out(handles::link_number,
                                        std::span<const std::shared_ptr<exchanged_object>> objects) override {
    std::vector<object_mention> result;
    for (std::size_t i = 0; i < objects.size(); ++i)
      result.push_back(
          {object_mention::kind::counted, {.name = {1, static_cast<std::uint32_t>(++counted), 1}, .size_bytes = 500}});
    return result;
  }

  std::vector<handles::message> take_messages(handles::link_number) override { return std::exchange(says, {}); }
  std::optional<object_piece> next_piece(handles::link_number) override {
    if (pieces.empty())
      return std::nullopt;
    const auto text = pieces.front();
    pieces.erase(pieces.begin());
    return object_piece{{}, frame::copy_of(troupe::tests::bytes_of(text))};
  }
  bool is_used(handles::link_number) const override { return has_uses; }
  bool has_piece(handles::link_number) const override { return !pieces.empty(); }

  // Recorded from the link.
  std::shared_ptr<counted_link> up; // Kept alive until the test resets it.
  handles::link_number up_as = 0;
  handles::node_name up_to;
  std::optional<exchange_channel> up_shared;
  std::vector<std::string> downs;
  std::vector<handles::message> heard;
  std::vector<std::pair<std::uint64_t, std::string>> chunks; // Offset and bytes.
  std::uint64_t counted = 0;
  // Set by the test.
  bool refuses = false;
  bool has_uses = false;
  std::vector<handles::message> says;
  std::vector<std::string> pieces;
};

/// Stands for a counted reference in tests that never dereference it.
inline std::shared_ptr<exchanged_object> some_reference() {
  alignas(exchanged_object) static std::byte place[sizeof(exchanged_object)];
  return {std::shared_ptr<void>{}, reinterpret_cast<exchanged_object*>(place)};
}

/// A link that takes part in the exchange; its outbox is never written to a socket.
class lone_exchange_link : public lone_named_link {
protected:
  class no_entrances final : public entrance_book {
  public:
    std::vector<std::string> addresses() const override { return {}; }
    void unproven_peer_is_gone(node_link*) override {}
  };

  static constexpr handles::link_number number = 5;

  lone_exchange_link() {
    auto agreed = terms_.now();
    agreed.channel = number;
    agreed.counts_handles = true;
    agreed.peer.handles = {2, 20};
    agree(std::move(agreed));
  }
  bool join() { return in_exchange_.join(owner_, *to_).has_value(); }
  void join_and_open() {
    EXPECT_TRUE(join());
    open();
  }

  std::vector<packet_said> written() {
    const auto held = mutex_.lock();
    return packets_in(*to_->open_outbox(held));
  }

  io_batch batch_; // Nothing is written to the socket while this batch is current.
  io_batch::scope gathering_{batch_};
  asio::io_context io_;
  const std::shared_ptr<connection> to_ =
      std::make_shared<connection>(io_, nullptr, std::shared_ptr<link_mutex>{std::shared_ptr<void>{}, &mutex_});
  const std::shared_ptr<int> owner_ = std::make_shared<int>();
  const std::shared_ptr<noted_exchange> noted_ = std::make_shared<noted_exchange>();
  const std::shared_ptr<handle_counter> exchange_ = noted_;
  no_entrances entrances_;
  whereabouts_teller whereabouts_{common_, {.entrances = entrances_}};
  const limits bounds_{.object_bytes = 1000};
  std::atomic<std::uint64_t> sent_{0}, received_{0}, handle_bytes_{0};
  link_in_exchange in_exchange_{{.link = common_,
                                 .exchange = exchange_,
                                 .whereabouts = whereabouts_,
                                 .bounds = bounds_,
                                 .bytes_sent = sent_,
                                 .bytes_received = received_}};
};

} // namespace troupe::internal
