// One message on its way out: encoded on the sender's thread, then written whole or taken back whole.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/encoding_cache.hpp>
#include <troupe/framework/internal/caf_port/message_owner.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/forwarded_message.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/objects/link_extension.hpp>
#include <troupe/serializers/encode_output.hpp>

namespace troupe::internal {

/// Threads: one. A thread keeps one and uses it again, so that small messages allocate nothing.
class outgoing_message final : public link_extension {
public:
  outgoing_message() = default;
  ~outgoing_message() override;

  /// Encodes the content of `message`, whose values may leave without a copy and are then kept by the frames.
  /// What encoding has exported and handed over is taken back by `clear`, unless `commit` came first. Keeps `message`
  /// until it is given another. Where it `is_counted` the peer waits for it with its acknowledgement when it changes
  /// its lists meanwhile; else encode and commit may fail as outdated, which costs most messages nothing. Requires:
  /// cleared.
  std::expected<void, node_error> encode(link_core& link, std::uint64_t receiver,
                                         const std::shared_ptr<message_owner>& message, bool is_counted = false);

  /// The last call has failed because the peer has changed what it accepts meanwhile: to be cleared and encoded anew.
  [[nodiscard]] bool is_outdated() const noexcept { return is_outdated_; }

  /// Whether the peer accepts all families of a message that came over another link. Then `take` may follow, which
  /// makes it ready as `encode` does. Requires: cleared.
  [[nodiscard]] bool accepts(link_core& link, const forwarded_message& message);
  std::expected<void, node_error> take(const forwarded_message& message, receipt owed);

  /// What the values of a message take, as far as that says how long encoding them takes; 0 where it is handed over as
  /// it is. Stops counting beyond `enough`. Requires: cleared.
  [[nodiscard]] std::uint64_t weigh(link_core& link, const caf::type_erased_tuple& content, std::uint64_t enough);

  /// Writes the message, with the signature and the chunks that it needs, or lets it wait for the peer's credit. May
  /// block where the link's policy allows it. Fails with `link_down` or `link_busy`.
  std::expected<void, node_error> commit(std::uint64_t receiver, const caf::strong_actor_ptr& sender,
                                         caf::message_id id);

  /// Ready for the next message; takes back what was not committed.
  void clear();

  /// The last message's values are kept by its frames alone from now on.
  void let_go_of_values() noexcept { context_.value_owner.reset(); }

  /// After encode(): another link's sender bounds the message, which waits for room as long as need be.
  void owe(receipt owed) {
    claims_.owe(std::move(owed));
    if (urgency_ == link_core::urgency::ordinary)
      urgency_ = link_core::urgency::always_waits;
  }
  [[nodiscard]] receipt take_owed() noexcept { return claims_.take_owed(); }

  /// After encode() or take(): the message carries this extension map, where the peer takes one; empty: none.
  void extend(bytes_view extensions);

  [[nodiscard]] bool in_use() const noexcept { return link_ != nullptr; }

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle& handle) override;
  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) override;
  std::expected<std::uint32_t, serialize_error> mention(const object_state& object) override;
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override;
  std::expected<std::uint32_t, serialize_error> mention(const object_source_ptr& object);
  [[nodiscard]] bool reads_mentions_of_parts() const override;
  std::shared_ptr<const object_environment> objects() const override;

private:
  static constexpr std::uint64_t unknown_signature = UINT64_MAX;

  /// What one link knows of one type, so that neither the registry nor the link's tables are asked for each message.
  struct known_type {
    std::uint64_t link = 0; // link_core::serial; 0: nothing is known here.
    caf::rtti_pair rtti = {};
    const type_entry* type = nullptr;
    const family* by = nullptr;                  // Who encoded it last, and whose header it is.
    std::uint64_t header = 0;                    // 0: not known yet.
    traffic* counted_as = nullptr;               // By that family; null: not known yet, or nothing is counted.
    std::uint64_t signature = unknown_signature; // Of a message of one element of this type.
  };

  void take_terms(bool is_counted);
  [[nodiscard]] std::unexpected<node_error> outdated();
  [[nodiscard]] known_type* known(const caf::rtti_pair& rtti);
  std::expected<void, node_error> encode_element(known_type& type, const void* value, const encoded_element* known);
  [[nodiscard]] std::optional<encoded_element> take_encoded(const family* by, const type_entry& type);
  [[nodiscard]] frame put_once(bytes_view bytes, const frame* as);
  [[nodiscard]] std::uint64_t signature_number(const link_held& held, outbox& out);
  void log_new_signature() const;
  /// What it takes at the other end, but for its head.
  [[nodiscard]] std::uint64_t cost_without_head() const noexcept {
    return elements_.size() + transfer_bytes_ + value_bytes_ + decompressed_bytes_ + message_cost_bytes
           + (claims_.actors() + cargo_.mentions.size()) * mention_cost_bytes;
  }
  std::expected<void, node_error> append_frames(bytes_view body, const frame* shared_body,
                                                std::span<const frame> attached);
  [[nodiscard]] std::expected<void, node_error> check_size() const;
  std::expected<frame_descriptor, node_error> place(bytes_view bytes, const frame* shared);
  std::expected<std::optional<frame_descriptor>, node_error> place_in_store(bytes_view bytes, const frame* shared);
  void carries(known_type& type, const family* by, std::uint64_t size_bytes);
  [[nodiscard]] bool passes(const caf::type_erased_tuple& content);
  void name_sender(const link_held& held, message_head& head, const caf::strong_actor_ptr& sender, caf::message_id id,
                   admission admitted);
  void write_or_pack(const link_held& held, message_head& head, admission admitted);
  [[nodiscard]] node_error describe(const serialize_error& error) const;

  std::array<known_type, 64> known_types_;                           // By a hash; the last one to come stays.
  std::array<std::shared_ptr<const sending_terms>, 16> known_terms_; // By link; the last one to come stays.
  const sending_terms* terms_ = nullptr;                             // Of the last message.
  context context_;                 // Theirs, with the last message as owner of the values.
  std::uint64_t context_terms_ = 0; // sending_terms::number
  bool is_outdated_ = false;
  link_core* link_ = nullptr;
  message_claims claims_;
  std::vector<const type_entry*> types_;
  known_type* last_known_ = nullptr; // Of the last element.
  encode_output output_;
  std::shared_ptr<encoded_message> kept_; // What is encoded now, for other links; null where nobody sends it again.
  element_descriptor descriptor_;
  frame header_;
  byte_vector elements_;   // Descriptors and inline bytes of all elements, as they go into the packet.
  byte_vector start_;      // The message's head.
  byte_vector extensions_; // Goes with it.
  message_cargo cargo_;
  std::vector<std::pair<traffic*, std::uint64_t>> carried_; // What is counted when it is sent: payloads, their bytes.
  std::optional<std::uint64_t> new_signature_;              // The peer has just been told of it.
  std::uint64_t socket_bytes_ = 0;
  link_core::urgency urgency_ = link_core::urgency::ordinary;
  const signature* forwarded_types_ = nullptr; // Of a message that is passed on.
  std::uint64_t inline_bytes_ = 0;
  std::uint64_t transfer_bytes_ = 0;
  std::uint64_t value_bytes_ = 0;
  std::uint64_t decompressed_bytes_ = 0; // What compressed frames become at the other end.
  std::uint64_t handle_bytes_ = 0;
  std::uint64_t owned_bytes_ = 0;  // What the values take once they are decoded, as far as that is known.
  std::uint64_t stated_bytes_ = 0; // The same, as the peer is told.
};

} // namespace troupe::internal
