// The context of codecs of handles, while a message is encoded for a link or decoded from one.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include <troupe/framework/fwd.hpp>
#include <troupe/framework/internal/objects/actor_handle.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::internal {

/// How an actor is named on a link by the end that sends the name.
struct actor_name {
  enum class side : std::uint8_t { nobody = 0, mine = 1, yours = 2 };
  side whose = side::nobody;
  std::uint64_t number = 0;
};

/// The actors and objects that one message mentions, as codecs of handles see them.
class codec_mentions : public context_extension {
public:
  [[nodiscard]] extension_kind kind() const noexcept final { return extension_kind::link; }

  /// Encoding: counts one sending, which is undone if the message is not sent. Returns the actor's place, from 1, in
  /// the list of actors that the element mentions; 0 for null.
  [[nodiscard]] virtual std::expected<std::uint32_t, serialize_error> mention(const actor_handle& actor) = 0;
  /// Decoding: the actor in place `place`.
  [[nodiscard]] virtual std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) = 0;
  /// Encoding: counts one sending of a handle to the object, which is undone if the message is not sent. Returns the
  /// object's place, from 1, in the list of objects that the element mentions; 0 if its bytes must travel instead.
  [[nodiscard]] virtual std::expected<std::uint32_t, serialize_error> mention(const object_state& object) = 0;
  /// Decoding: the object in place `place`.
  [[nodiscard]] virtual std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) = 0;
  /// Decoding: what an object_ref that arrives here needs to be read later.
  [[nodiscard]] virtual std::shared_ptr<const object_environment> objects() const = 0;

  /// Whether payloads within this one may mention handles. Default: yes.
  [[nodiscard]] virtual bool reads_mentions_of_parts() const { return true; }

  // Payloads within payloads: nested_mentions.cpp.
  [[nodiscard]] std::unique_ptr<context_extension> for_part() final;
  [[nodiscard]] std::expected<std::vector<std::byte>, serialize_error> mention_all(const kept_mentions& what) final;
  [[nodiscard]] std::expected<std::shared_ptr<const kept_mentions>, serialize_error>
  find_all(std::span<const std::byte> note) final;
};

/// Null if the context has no extension, or one of another kind.
[[nodiscard]] inline codec_mentions* codec_mentions_of(const context& ctx) noexcept {
  const auto is_link = ctx.extension != nullptr && ctx.extension->kind() == extension_kind::link;
  return is_link ? static_cast<codec_mentions*>(ctx.extension) : nullptr;
}

/// The extension of a context. Fails with the error that a handle cannot travel outside a message.
[[nodiscard]] std::expected<codec_mentions*, serialize_error> required_mentions(const context& ctx,
                                                                                std::string_view what);

} // namespace troupe::internal
