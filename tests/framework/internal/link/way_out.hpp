// The parts of a link through which messages leave; the outbox is never written to a socket.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>
#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/link/draft_sender.hpp>
#include <troupe/framework/internal/link/header_definitions.hpp>
#include <troupe/framework/internal/link/message_encoder.hpp>
#include <troupe/framework/internal/link/message_sender.hpp>
#include <troupe/framework/internal/link/offloader.hpp>
#include <troupe/framework/internal/link/plain_sender.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/send_pump.hpp>
#include <troupe/framework/internal/net/io_batch.hpp>

#include "no_letters.hpp"
#include "../bytes.hpp"
#include "lone_link.hpp"

namespace troupe::internal {

/// Writes one line per call with the number of mentions.
class line_for_mentions final : public mention_describer {
public:
  void append_mentions(const link_held&, std::span<const outgoing_mention> mentions, outbox& out) override {
    out.append_packet(packet_kind::handles, 0,
                      troupe::tests::bytes_of("<mentions " + std::to_string(mentions.size()) + ">"));
  }
};

/// Puts objects in flight to a process. If there is a store, it does so in the store; otherwise the handles are empty.
class flights_to final : public flight_path<store::handle> {
public:
  std::expected<void, store::store_error> hand_over(const store::handle& object) override {
    return object.empty() ? std::expected<void, store::store_error>{} : object.hand_over(receiver, 1);
  }
  void take_back(const store::handle& object) override {
    ++landed;
    if (!object.empty())
      object.take_back(receiver, 1);
  }
  std::expected<store::handle, store::store_error> adopt(const store::object_id&) override {
    return std::unexpected{store::store_error{store::store_errc::not_found, "nothing comes"}};
  }
  std::expected<void, store::store_error> abandon() override { return {}; }
  void release(const link_held&, const store::object_id&, std::uint64_t) override {}

  store::process_id receiver;
  int landed = 0; // Objects taken back from their flight to the peer.
};

class way_out : public lone_link {
protected:
  static constexpr send_bounds bounds{.window = 1000, .actor_window = 400, .queue = 500, .actor_queue = 200};

  way_out() {
    replies.count_consumed([] {}, nullptr);
    replies.set_bounds({.all = 1000, .of_receiver = 1000});
    epochs.open(families, families);
    actors.open(account);
    way_out::agree(agreed_terms{terms_.now()});
    open();
  }

  /// Requires: no message has been sent.
  void agree(agreed_terms agreed) override {
    agreed.peer.message_bytes = UINT64_MAX;
    agreed.peer.header_bytes = agreed.peer.frames = 1000;
    agreed.peer.runner = 99;
    lone_link::agree(std::move(agreed));
    bound(bounds);
    const auto held = mutex_.lock();
    pump.open(held, *to);
    sending.open(held, *to);
    plain_sending.open(held, *to);
    headers.open(held, *to);
    leaving.open(held, beside, UINT64_MAX);
  }

  void bound(const send_bounds& now) {
    const auto held = mutex_.lock();
    gate.open(held, *to, now);
  }

  /// A message as it waits in the queue; its packet contains `text`.
  static packed_message packed(std::string_view text, std::uint64_t receiver = 3, std::uint64_t cost = 100) {
    const auto bytes = troupe::tests::bytes_of(text);
    packed_message message;
    message.receiver = receiver;
    message.sender = 7;
    message.cost = cost;
    message.body = {bytes.begin(), bytes.end()};
    return message;
  }

  /// Returns the appended text without bytes below a space.
  std::string appended() {
    const auto held = mutex_.lock();
    return text_of(*to->open_outbox(held));
  }
  std::uint64_t messages_appended() {
    const auto held = mutex_.lock();
    return to->open_outbox(held)->messages();
  }
  static std::string text_of(const outbox& out) {
    std::vector<bytes_view> pieces;
    out.gather(pieces);
    std::string text;
    for (const auto& each : pieces)
      for (const auto c : troupe::tests::text_of(each))
        if (c >= ' ')
          text += c;
    return text;
  }
  /// Returns true if `text` contains `parts` in this order.
  static bool in_order(const std::string& text, std::initializer_list<std::string_view> parts) {
    std::size_t at = 0;
    for (const auto part : parts) {
      at = text.find(part, at);
      if (at == std::string::npos)
        return false;
      at += part.size();
    }
    return true;
  }

  // Nothing is written to the socket while this batch is current.
  io_batch batch;
  io_batch::scope gathering{batch};
  asio::io_context io;
  const std::shared_ptr<link_mutex> mutex{std::shared_ptr<void>{}, &mutex_};
  const std::shared_ptr<connection> to = std::make_shared<connection>(io, nullptr, mutex);
  const std::shared_ptr<value_list> beside = std::make_shared<value_list>();

  link_options options;
  reply_room replies;
  pending_requests asked{replies};
  no_recognition nobody;
  actor_introductions introductions{common_, {1, std::string(40, 'c')}, nobody};
  receive_account account{{}, [] {}, nullptr};
  actor_names actors{common_, system_, introductions};
  flights_to flights;
  link_objects<store::handle> objects{mutex_, flights};
  const family_names families{{"typed"}, {"typed"}};
  struct : change_acknowledger {
    void acknowledge_if_due(const link_held&, outbox*) override {}
  } no_changes;
  negotiation epochs;
  claim_tables tables{.mutex = mutex_,
                      .actors = actors,
                      .objects = objects,
                      .requests = asked,
                      .epochs = epochs,
                      .changes = no_changes};
  encoding_lane<unencoded_message> encoding;
  std::atomic<std::uint64_t> dropped{0}, spilled{0}, fallbacks{0}, sent{0}, handle_bytes{0}, next_transfer{1};
  line_for_mentions mentions;
  departures leaving{mentions};
  no_letters closed_box;
  dead_letter_writer letters{common_, 1, closed_box};
  latency_meter waits;
  send_gate gate{{.link = common_,
                  .options = options,
                  .replies = replies,
                  .asked = asked,
                  .leaving = leaving,
                  .encoding = encoding,
                  .dropped = dropped,
                  .letters = letters,
                  .waits = &waits}};
  send_pump pump{gate, leaving};
  sent_dictionary words;
  header_definitions headers{common_, words, epochs};
  draft_sender sending{{.link = common_,
                        .actors = actors,
                        .gate = gate,
                        .leaving = leaving,
                        .words = words,
                        .lists = epochs,
                        .messages_sent = sent,
                        .handle_bytes_sent = handle_bytes}};
  plain_sender plain_sending{{.link = common_,
                              .actors = actors,
                              .gate = gate,
                              .leaving = leaving,
                              .asked = asked,
                              .words = words,
                              .lists = epochs,
                              .messages_sent = sent}};

  // The parts that messages are made from.
  std::optional<store::object_store> store;
  std::shared_ptr<handle_counter> exchange;
  // Threads cache links and terms by these numbers, so no two tests may share them.
  static inline std::uint64_t last_number = 0;
  const std::uint64_t serial = ++last_number;
  std::atomic<std::uint64_t> terms_number{++last_number};
  std::shared_ptr<const sending_terms> newest = std::make_shared<sending_terms>(sending_terms{.number = terms_number});
  const message_draft::parts drafts{.claims = tables,
                                    .mentions = {common_, actors, exchange, store},
                                    .frames = {common_, store, next_transfer, spilled, fallbacks}};
  const newest_terms terms{.mutex = mutex_, .link = serial, .number = terms_number, .terms = newest};
};

/// Adds the parts that encoding needs.
class encoding_way_out : public way_out {
protected:
  encoding_way_out() { renew(); }

  /// Sets the families that the peer accepts; this end sends by all of them.
  void renew(const std::vector<std::string>& accepted = {"typed"}) {
    auto next = std::make_shared<sending_terms>();
    next->number = ++last_number;
    next->peer_epoch = epochs.peer_epoch();
    next->serializers = accepted;
    next->peer_accepts = accepted;
    for (const auto& name : accepted)
      next->families.push_back(known_families.find(name));
    next->spill_bytes = 64 * 1024;
    next->context = {.limits = limits{}, .types = &types};
    next->context.families = next->families;
    newest = next;
    terms_number = next->number;
  }
  void change_peers_lists() {
    EXPECT_TRUE(epochs.change_peer(++change_, families));
    renew();
  }

  template <class... Ts>
  static caf::mailbox_element_ptr element(caf::strong_actor_ptr sender, caf::message_id id, Ts... values) {
    return caf::make_mailbox_element(std::move(sender), id, {}, std::move(values)...);
  }
  std::expected<void, unsent> encode(caf::mailbox_element_ptr what, message_draft& into, bool is_waited_for = false) {
    owner->element = std::move(what);
    into.begin(drafts, terms, is_waited_for);
    return encoder.encode(encodings, 3, owner, into);
  }
  template <class... Ts>
  std::expected<void, unsent> encode_values(message_draft& into, Ts... values) {
    return encode(element(nullptr, caf::make_message_id(), std::move(values)...), into);
  }

  type_registry types;
  link_traces traces{common_, std::make_shared<span_recorder>(), types, 1, false};
  const family_set known_families;
  traffic_table counts;
  const std::string own_name = "near";
  std::shared_ptr<encoding_cache> cache = std::make_shared<encoding_cache>(io);
  std::shared_ptr<value_lane> passing;
  message_encoder::parts encodings{.link = common_,
                                   .serial = serial,
                                   .own_name = own_name,
                                   .types = types,
                                   .encodings = *cache,
                                   .headers = headers,
                                   .counts = &counts,
                                   .values = passing};
  std::shared_ptr<message_owner> owner = std::make_shared<message_owner>();
  known_types known;
  message_encoder encoder{known};

private:
  std::uint64_t change_ = 0;
};

/// Adds the parts that offloading needs: actors that send, and the node's encoder, which a test can hold up.
class offloading_way_out : public encoding_way_out {
protected:
  offloading_way_out() {
    mark_threads(actor_config_);
    actor_system_.emplace(actor_config_);
    senders.emplace(*actor_system_);
    encoder_of_node.emplace(*actor_system_);
  }
  ~offloading_way_out() override { release(); }

  [[nodiscard]] offloader::parts offloading() {
    return {.link = common_,
            .options = options,
            .enough_bytes = enough_bytes,
            .types = encodings,
            .actors = actors,
            .waiting = encoding,
            .gate = gate,
            .pump = pump};
  }
  /// Runs `body` in an actor, whose messages may be offloaded.
  template <class Body>
  auto in_actor(Body body) {
    std::packaged_task<decltype(body())()> task{std::move(body)};
    auto result = task.get_future();
    senders->run_soon([&task] { task(); });
    return result.get();
  }
  /// Blocks the encoder until go_on().
  void hold_up() {
    is_held_up_.emplace();
    encoder_of_node->run_soon([over = is_held_up_->get_future().share()] { over.wait(); });
  }
  /// Releases the encoder and waits until it has no work left.
  void go_on() {
    release();
    do {
      std::promise<void> over;
      encoder_of_node->run_soon([&] { over.set_value(); });
      over.get_future().get();
    } while (!encoding.is_idle());
  }
  /// Makes messages of more than 1000 bytes large, and lets `bytes` bytes of large messages wait.
  void bound_waiting(std::uint64_t bytes) {
    auto agreed = terms_.now();
    agreed.windows.window = 1000;
    lone_link::agree(std::move(agreed));
    options.queue_bytes = bytes - 1000;
    options.unread_answer_bytes = bytes - 1000;
  }

  static inline const std::string large = std::string(5, 'L') + std::string(1800, 'x');
  std::atomic<std::size_t> enough_bytes{1000};

private:
  void release() {
    if (auto over = std::exchange(is_held_up_, std::nullopt))
      over->set_value();
  }

  caf::actor_system_config actor_config_;
  std::optional<caf::actor_system> actor_system_;
  std::optional<std::promise<void>> is_held_up_;

protected:
  std::optional<job_actor> senders;
  std::optional<job_actor> encoder_of_node;
};

/// The whole way out, from messages to the outbox.
class sending_way_out : public offloading_way_out, private unsent_counter {
protected:
  peer_delay delay;
  message_sender out{{.link = common_,
                      .system = system_,
                      .terms = terms,
                      .drafts = drafts,
                      .encoding = encodings,
                      .drafts_out = sending,
                      .plain_out = plain_sending,
                      .gate = gate,
                      .peer_delay = delay,
                      .traces = traces,
                      .encoder = *encoder_of_node,
                      .unsent = *this,
                      .letters = letters},
                     offloading()};
  std::vector<node_errc> not_sent; // In order.

private:
  void count_unsent(const node_error& why) override { not_sent.push_back(why.code()); }
};

} // namespace troupe::internal
