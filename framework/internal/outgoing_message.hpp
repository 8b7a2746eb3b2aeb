// One message on its way out: encoded on the sender's thread, then written whole or taken back whole.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <caf/mailbox_element.hpp>
#include <caf/rtti_pair.hpp>

#include <troupe/framework/internal/encoding_cache.hpp>
#include <troupe/framework/internal/link_core.hpp>
#include <troupe/framework/internal/link_extension.hpp>
#include <troupe/framework/internal/message_owner.hpp>
#include <troupe/serializers/encode_output.hpp>

namespace troupe::internal {

/// Threads: one. A thread keeps one and uses it again, so that small messages allocate nothing.
class outgoing_message final : public link_extension {
public:
  outgoing_message() = default;
  ~outgoing_message() override;

  /// Encodes the content of `message`, whose values may leave without a copy and are then kept by the frames.
  /// What encoding has exported and handed over is taken back by `clear`, unless `commit` came first. Keeps `message`
  /// until it is given another. Requires: cleared.
  std::expected<void, node_error> encode(link_core& link, const std::shared_ptr<message_owner>& message);

  /// What the values of a message take, as far as that says how long encoding them takes; 0 where it is handed over as
  /// it is. Stops counting beyond `enough`. Requires: cleared.
  [[nodiscard]] std::uint64_t weigh(link_core& link, const caf::type_erased_tuple& content, std::uint64_t enough);

  /// Writes the message, with the signature and the chunks that it needs, or lets it wait for the peer's credit. May
  /// block where the link's policy allows it. Fails with `link_down` or `link_busy`.
  std::expected<void, node_error> commit(std::uint64_t receiver, const caf::mailbox_element& element);

  /// Ready for the next message; takes back what was not committed.
  void clear();

  /// The last message's values are kept by its frames alone from now on.
  void let_go_of_values() noexcept { context_.value_owner.reset(); }

  [[nodiscard]] bool in_use() const noexcept { return link_ != nullptr; }

  std::expected<actor_name, serialize_error> name_of(const caf::strong_actor_ptr& actor) override;
  std::expected<caf::strong_actor_ptr, serialize_error> actor_of(const actor_name& name) override;
  std::shared_ptr<const object_environment> objects() const override;

private:
  static constexpr std::uint64_t unknown_signature = UINT64_MAX;

  /// What one link knows of one type, so that neither the registry nor the link's tables are asked for each message.
  struct known_type {
    std::uint64_t link = 0; // link_core::serial; 0: nothing is known here.
    caf::rtti_pair rtti = {};
    const type_entry* type = nullptr;
    const family* by = nullptr;                  // Whose header it is.
    std::uint64_t header = 0;                    // 0: not known yet.
    std::uint64_t signature = unknown_signature; // Of a message of one element of this type.
  };

  [[nodiscard]] known_type* known(const caf::rtti_pair& rtti);
  std::expected<void, node_error> encode_element(known_type& type, const void* value, const encoded_element* known);
  [[nodiscard]] std::optional<encoded_element> take_encoded(const family* by, const type_entry& type);
  [[nodiscard]] frame put_once(bytes_view bytes, const frame* as);
  [[nodiscard]] std::uint64_t signature_number(outbox& out);
  /// What it takes at the other end, but for its head.
  [[nodiscard]] std::uint64_t cost_without_head() const noexcept {
    return elements_.size() + transfer_bytes_ + value_bytes_ + decompressed_bytes_ + message_cost_bytes;
  }
  std::expected<frame_descriptor, node_error> place(bytes_view bytes, const frame* shared);
  std::expected<std::optional<frame_descriptor>, node_error> place_in_store(bytes_view bytes, const frame* shared);
  [[nodiscard]] bool passes(const caf::type_erased_tuple& content);
  void write_or_pack(message_head& head, send_window::admission admitted, const pending_requests::key& question);
  [[nodiscard]] node_error describe(const serialize_error& error) const;

  std::array<known_type, 64> known_types_; // By a hash; the last one to come stays.
  context context_;                        // As context_link_ has it, with the last message as owner of the values.
  std::uint64_t context_link_ = 0;         // link_core::serial
  link_core* link_ = nullptr;
  bool committed_ = false;
  std::vector<const type_entry*> types_;
  known_type* last_known_ = nullptr; // Of the last element.
  encode_output output_;
  std::shared_ptr<encoded_message> kept_; // What is encoded now, for other links; null where nobody sends it again.
  element_descriptor descriptor_;
  frame header_;
  byte_vector elements_;              // Descriptors and inline bytes of all elements, as they go into the packet.
  byte_vector start_;                 // The message's head.
  std::optional<caf::message> value_; // Goes beside the bytes; then elements_ says only how large it is.
  std::vector<outgoing_transfer> transfers_;   // Go ahead in chunks.
  std::vector<store::handle> objects_;         // Handed over, one count each.
  std::vector<std::uint64_t> actors_;          // Exported, one count each.
  std::vector<caf::strong_actor_ptr> proxies_; // The peer's actors that the message mentions.
  std::uint64_t socket_bytes_ = 0;
  bool is_bare_error_ = false;
  std::uint64_t inline_bytes_ = 0;
  std::uint64_t transfer_bytes_ = 0;
  std::uint64_t value_bytes_ = 0;
  std::uint64_t decompressed_bytes_ = 0; // What compressed frames become at the other end.
  std::uint64_t handle_bytes_ = 0;
};

} // namespace troupe::internal
