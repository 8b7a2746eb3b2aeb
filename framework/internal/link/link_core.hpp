// One link: its handshake, what it has sent and received and not yet released, and the two paths of a message. Its
// parts are separate classes, in the order of their members below. The files beside it are link_core.cpp (life and
// end), link_opening.cpp (from its start until it is open), link_flow.cpp (back-pressure), link_stats.cpp and
// link_memory.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/caf_port/actors/finder.hpp>
#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/flow/encoding_lane.hpp>
#include <troupe/framework/internal/flow/peer_delay.hpp>
#include <troupe/framework/internal/flow/receive_account.hpp>
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/link/acceptance.hpp>
#include <troupe/framework/internal/link/actor_introductions.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/admin_output.hpp>
#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/link/chunk_turns.hpp>
#include <troupe/framework/internal/link/current_terms.hpp>
#include <troupe/framework/internal/link/dead_letter_writer.hpp>
#include <troupe/framework/internal/link/delivery.hpp>
#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/draft_sender.hpp>
#include <troupe/framework/internal/link/family_changes.hpp>
#include <troupe/framework/internal/link/family_lists.hpp>
#include <troupe/framework/internal/link/farewell.hpp>
#include <troupe/framework/internal/link/greeting.hpp>
#include <troupe/framework/internal/link/header_definitions.hpp>
#include <troupe/framework/internal/link/incoming_message.hpp>
#include <troupe/framework/internal/link/life_cycle.hpp>
#include <troupe/framework/internal/link/link_actors.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/link_memory.hpp>
#include <troupe/framework/internal/link/link_meters.hpp>
#include <troupe/framework/internal/link/link_traces.hpp>
#include <troupe/framework/internal/link/lookups.hpp>
#include <troupe/framework/internal/link/message_addresses.hpp>
#include <troupe/framework/internal/link/message_claims.hpp>
#include <troupe/framework/internal/link/message_encoder.hpp>
#include <troupe/framework/internal/link/message_receiver.hpp>
#include <troupe/framework/internal/link/message_sender.hpp>
#include <troupe/framework/internal/link/monitors.hpp>
#include <troupe/framework/internal/link/name_answers.hpp>
#include <troupe/framework/internal/link/name_questions.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/link/passed_traffic.hpp>
#include <troupe/framework/internal/link/peer_helpers.hpp>
#include <troupe/framework/internal/link/peer_watch.hpp>
#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/link/plain_sender.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/link/recent_sender.hpp>
#include <troupe/framework/internal/link/ring_move.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/send_pump.hpp>
#include <troupe/framework/internal/link/send_upkeep.hpp>
#include <troupe/framework/internal/link/sending_terms.hpp>
#include <troupe/framework/internal/link/sent_dictionary.hpp>
#include <troupe/framework/internal/link/shared_store_objects.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/link/unencoded_message.hpp>
#include <troupe/framework/internal/link/value_decoder.hpp>
#include <troupe/framework/internal/link/whereabouts_teller.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/net/link_security.hpp>
#include <troupe/framework/internal/net/wait_wishes.hpp>
#include <troupe/framework/internal/net/whereabouts.hpp>
#include <troupe/framework/internal/objects/pending_objects.hpp>
#include <troupe/framework/internal/tape/link_recording.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/node_report.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

class link_flights;
class link_host;
class link_in_exchange;
class mention_describer;
class mention_finder;
class refusal_log;

/// Connects this node to one peer.
///
/// Threads: any for `start`, `displace`, `send`, `watch`, `proxy_gone`, `find`, `close`, `flush_batch` and the readers;
/// the I/O thread of the link's seat for the rest, and for all members whose names start with `on_`.
/// Locks: see link_mutex. Under it only these locks may be taken: that of the I/O context's queue, that of a value
/// lane, and that of the node's exchange.
class link_core final : public node_link,
                        public connection_events,
                        public proxy_link,
                        public std::enable_shared_from_this<link_core> {
public:
  using role = link_side;

  /// Fails as `check` does.
  [[nodiscard]] static std::expected<std::shared_ptr<link_core>, node_error>
  make(std::shared_ptr<link_host> node, const link_options& options, role side,
       std::shared_ptr<const link_security> security, loop_seat seat);

  ~link_core() override;

  // -- life

  void start(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
             std::shared_ptr<refusal_log> refusals) override;
  void tell(life_events whom) override { life_.tell(std::move(whom)); }
  void hide_names() override { answers_.hide_all(); }
  void displace() override;
  void close(const std::string& reason, std::chrono::milliseconds patience) override;
  [[nodiscard]] bool is_unused() const override;
  [[nodiscard]] bool close_if_unused(const std::string& reason, std::chrono::milliseconds patience) override;
  [[nodiscard]] bool is_open() const noexcept override { return life_.now() == link_state::open; }
  [[nodiscard]] bool is_closed() const noexcept { return life_.now() == link_state::closed; }

  // -- for proxies and frames

  void send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context) override {
    sender_.send(receiver, std::move(what), context);
  }
  [[nodiscard]] bool is_down() const noexcept override { return !is_open(); }
  [[nodiscard]] bool send_unless_down(std::uint64_t receiver, caf::mailbox_element_ptr& what,
                                      caf::execution_unit* context) override {
    return sender_.send_unless_down(receiver, what, context);
  }
  void watch(std::uint64_t number, caf::strong_actor_ptr proxy) override { monitors_.watch(number, std::move(proxy)); }
  void unwatch(std::uint64_t number) override { monitors_.unwatch(number); }
  void proxy_gone(std::uint64_t number, const caf::actor_control_block* control) override;
  [[nodiscard]] bool is_ready(std::uint64_t receiver) override { return gate_.is_ready(receiver); }
  void notify_when_ready(std::uint64_t receiver, const caf::strong_actor_ptr& proxy,
                         const caf::strong_actor_ptr& who) override {
    gate_.notify_when_ready(receiver, {.who = who, .receiver = proxy});
  }
  [[nodiscard]] bool forward(std::uint64_t receiver, const forwarded_message& what, const caf::strong_actor_ptr& sender,
                             caf::message_id id, receipt& owed) override {
    return sender_.forward(receiver, what, sender, id, owed);
  }
  void forward_decoded(std::uint64_t receiver, caf::mailbox_element_ptr what, receipt owed,
                       bytes_view extensions) override {
    sender_.forward_decoded(receiver, std::move(what), std::move(owed), extensions);
  }
  void note_handled(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept override {
    meters_.handlers().add(took, stands_for);
  }
  void flush_batch() override;
  void record_to(const recording_target& target) override;

  [[nodiscard]] std::string peer_text() const override;
  [[nodiscard]] introduce introduction_of(std::uint64_t number) const override {
    return introductions_.of_peers_actor(number);
  }

  // -- for the node, and the public link

  [[nodiscard]] caf::strong_actor_ptr recognize(const introduce& what) const override {
    return actors_.recognize(what);
  }
  [[nodiscard]] lookups& names_there() noexcept override { return lookups_; }
  [[nodiscard]] const peer_helpers& helpers_there() const noexcept override { return helpers_; }
  [[nodiscard]] family_changes& changes() noexcept override { return changes_; }
  [[nodiscard]] link_host& node() const noexcept override { return *node_; }
  [[nodiscard]] std::uint64_t number() const noexcept override { return number_; }
  [[nodiscard]] const link_options& options() const noexcept override { return options_; }
  /// The result of the handshake. Before the handshake is over, nothing is known of the peer.
  [[nodiscard]] const agreed_terms& agreed() const noexcept { return agreement_.now(); }
  [[nodiscard]] const std::string& peer_name() const noexcept override { return agreed().peer.name; }
  [[nodiscard]] const handles::node_name& peer_handles() const noexcept override { return agreed().peer.handles; }
  void say_whereabouts() override {
    if (!answers_.hides_all())
      whereabouts_.say_own();
  }
  void tell_name_change(const std::string& name) override;
  [[nodiscard]] link_place place() const override { return {security_->kind, near_host_}; }
  [[nodiscard]] const std::string& peer_address() const noexcept override { return addresses_.far; }
  [[nodiscard]] const node_version& peer_version() const noexcept override { return agreed().peer.version; }
  [[nodiscard]] const std::string& peer_role() const noexcept override { return agreed().role; }
  [[nodiscard]] bool secret_is_refused() const noexcept override { return secret_is_refused_; }
  [[nodiscard]] byte_vector memory_of_requests(const caf::node_id& process) const override {
    return agreed().features.has(feature::repeats) && agreed().peer.node == process ? agreed().peer.token
                                                                                    : byte_vector{};
  }
  [[nodiscard]] std::vector<link_feature> peer_features() const override;
  [[nodiscard]] troupe::compression compression_in_force() const override;
  [[nodiscard]] std::vector<std::string> effective_serializers() const override { return terms_.families(); }
  [[nodiscard]] bool shares_store() const noexcept override { return agreed().shares_store; }
  [[nodiscard]] bool uses_rings() const noexcept override { return ring_move_.is_complete(); }
  [[nodiscard]] link_stats stats() const override;
  [[nodiscard]] std::uint64_t unanswered_requests() const noexcept override { return unanswered(); }
  [[nodiscard]] link_memory memory(std::span<const store::object_id> of) const override;
  [[nodiscard]] link_actors own_actors(std::span<const caf::strong_actor_ptr> first) const override;
  [[nodiscard]] link_report report() const override;
  [[nodiscard]] link_stats final_stats() override;

private:
  void add_idle(const std::unordered_set<std::uint64_t>& listed, link_actors& to) const;
  link_core(std::shared_ptr<link_host> node, const link_options& options, role side,
            std::shared_ptr<const link_security> security, loop_seat seat);

  [[nodiscard]] message_encoder::parts encoding_parts();
  void close_now(const std::string& reason, std::chrono::milliseconds patience);
  void drain_soon(const std::string& reason, std::chrono::milliseconds patience);
  [[nodiscard]] bool is_unused(const link_held& held) const;
  void await_encoding(const std::string& reason, std::chrono::steady_clock::time_point until);
  void begin_to_drain(const std::string& reason, std::chrono::milliseconds patience);
  [[nodiscard]] bool anything_waits() const;
  void say_goodbye(const std::string& reason, std::chrono::milliseconds left);

  // -- link_opening.cpp
  void begin(std::shared_ptr<transport> bytes, std::chrono::milliseconds patience,
             std::shared_ptr<refusal_log> refusals);
  std::expected<void, node_error> on_greeting(const packet_head& head, bytes_view body);
  std::expected<void, node_error> become_open(agreed_terms terms);
  [[nodiscard]] recording_target recording_of_options() const;
  void begin_to_record(const link_held& held);
  void add_recording(const link_held& held, const recording_target& target, const known_words& known, bool is_late);
  void stop_recording();
  void end_greeting(const node_error& reason);

  // -- link_core.cpp
  std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body) override;
  std::expected<handled_packets, node_error> on_run(bytes_view bytes, int packets_max) override;
  std::expected<chunk_place, node_error> on_chunk_begin(const packet_head& head, bytes_view begin) override;
  void on_bad_packet(const node_error& reason) override;
  void on_all_handled() override;
  void take_leave(const node_error& reason);
  void note_lost(const node_error& reason) const;
  bool refill(const link_held& held, outbox& out) override; // link_flow.cpp
  void on_closed(const node_error& reason, std::uint64_t unwritten) override;
  std::expected<void, node_error> on_admin(admin_op op, bytes_view body);
  std::expected<void, node_error> on_signature(bytes_view body);
  std::expected<void, node_error> on_header(bytes_view body);
  void log_received(std::string_view what, std::uint64_t number, std::string_view meaning);
  std::expected<void, node_error> on_name_changed(const name_changed& what);
  std::expected<void, node_error> on_goodbye(const goodbye& what);
  /// `unwritten`: how many messages the connection had accepted but not written.
  void fail_everything(const node_error& reason, std::uint64_t unwritten);

  // -- link_flow.cpp
  static void pump_soon(const std::weak_ptr<link_core>& of);
  std::expected<void, node_error> on_credit(const credit& what);
  void report_consumed();

  // -- link_stats.cpp
  [[nodiscard]] link_stats stats_locked(const link_held& held) const;

  // Set by make(), never changed.
  const std::uint64_t number_;
  const std::shared_ptr<link_host> node_;
  loop_seat seat_; // Left when the link ends.
  const link_options options_;
  const role role_;
  const std::shared_ptr<const link_security> security_;
  family_names names_; // The lists of the hello; changes_ has later ones.

  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  const std::shared_ptr<pending_objects> pending_objects_;
  end_addresses addresses_;                   // Set by start(), as is near_host_.
  std::string near_host_;                     // As the transport names it.
  agreement agreement_;                       // Reached when the link opens.
  std::shared_ptr<value_lane> values_;        // Null if only bytes pass between the ends.
  std::shared_ptr<tape_queue> recorder_;      // Null if nothing is recorded.
  std::unique_ptr<link_recording> recording_; // Likewise, and until the link is open.

  std::shared_ptr<connection> connection_; // Set by start().
  life_cycle life_;
  std::atomic<bool> secret_is_refused_{false};
  limited_log warnings_;
  std::atomic<std::uint64_t> next_transfer_{1};

  encoding_lane<unencoded_message> encoding_; // Has its own lock, under which nothing is called.

  const std::shared_ptr<link_mutex> shared_mutex_ = std::make_shared<link_mutex>(); // Shared with the connection.
  link_mutex& mutex_ = *shared_mutex_;
  connection_admin_output admin_{mutex_, connection_};
  const link_common common_{mutex_, life_, agreement_, admin_, warnings_};
  peer_delay peer_delay_;
  const dead_letter_writer letters_;
  const link_traces traces_;
  actor_introductions introductions_;
  actor_names actors_;
  monitors monitors_;
  name_questions questions_;
  name_answers answers_;
  lookups lookups_;
  peer_helpers helpers_;
  whereabouts_teller whereabouts_;
  link_meters meters_;
  counted_in_link& counters_ = meters_.counts();
  current_terms terms_;
  acceptance accepted_;                // I/O thread only.
  received_dictionary received_words_; // I/O thread only.
  family_changes changes_;
  // Guarded by mutex_.
  reply_room replies_;
  pending_requests pending_{replies_};
  const std::unique_ptr<link_flights> flights_;
  shared_store_objects stored_;
  const std::unique_ptr<link_in_exchange> in_exchange_;
  const std::unique_ptr<mention_describer> describer_;
  claim_tables claim_tables_; // Refers to the tables above; messages claim from them.
  departures departures_{*describer_};
  chunk_turns chunks_{departures_, *in_exchange_};
  send_gate gate_;
  send_pump pump_{gate_, departures_};
  send_upkeep upkeep_{mutex_, gate_, pump_};
  sent_dictionary sent_words_;
  header_definitions headers_{common_, sent_words_, changes_.lists()};
  draft_sender draft_sender_;
  plain_sender plain_sender_;
  message_sender sender_;

  // I/O thread only.
  passed_traffic passed_counts_; // Counts the values that pass beside the bytes.
  const std::unique_ptr<mention_finder> finder_;
  frame_claims incoming_frames_;
  incoming_message incoming_;
  value_decoder decoder_;
  std::unique_ptr<receive_account> receiving_; // Set when the link opens.
  known_peer known_peer_;
  std::unique_ptr<greeting> greeting_; // From start() until the link is open.
  peer_watch peer_watch_;
  farewell farewell_;
  ring_move ring_move_;
  wait_wish wait_wish_;

  message_addresses addresses_of_messages_;
  route_finder routes_;
  recent_sender recent_sender_;
  delivery delivery_;
  message_receiver receiver_;
};

} // namespace troupe::internal
