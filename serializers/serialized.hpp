// Payloads inside messages: kept encoded, forwarded unchanged, decoded on request.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/internal/shape/type_answers.hpp>
#include <troupe/serializers/serialize_calls.hpp>

namespace troupe {

/// A separately encoded value inside a message, or a whole message. It arrives encoded and stays encoded. If it is sent
/// on, over any link, the same bytes leave from the same memory, and nothing is decoded on the way. The receiver
/// decodes the value with get().
///
/// Handles of actors and objects in the payload are counted with the surrounding message, and again with each message
/// that forwards it; the payload holds them while it lives. Only get() can read such a payload; deserialize() of
/// encoded() cannot.
///
/// If to_serialize() made the object, it holds a value, which the link's families encode when it is sent. A link
/// refuses an arriving payload of a family that it does not accept.
///
/// Threads: different threads may use copies at once.
/// Lifetime: copies share the payload and the value. Neither ever changes.
class TROUPE_EXPORT serialized {
public:
  serialized() = default;
  explicit serialized(payload kept) : payload_(std::move(kept)) {}

  [[nodiscard]] bool empty() const { return !held_ && payload_.header.size_bytes() == 0; }
  /// Whether there is a payload. If not, the object is empty or holds a value that is not encoded yet.
  [[nodiscard]] bool is_encoded() const { return payload_.header.size_bytes() > 0; }
  /// The payload; empty unless is_encoded().
  [[nodiscard]] const payload& encoded() const { return payload_; }
  /// The header of the payload, with its family and alias. Valid while a copy of this object lives. Fails with
  /// `malformed` if there is no payload.
  [[nodiscard]] std::expected<header_fields, serialize_error> header() const;

  /// The value: a copy of the held value, or the decoded payload. Families that the link did not accept are refused,
  /// even if `options` lists them. Fails with `type_mismatch` if the held value is no T or cannot be copied, with
  /// `malformed` if the object is empty, and as deserialize() does.
  template <std::move_constructible T>
  [[nodiscard]] std::expected<T, serialize_error> get(const deserialize_options& options, const type_registry& types,
                                                      const family_set& families) const;

private:
  struct held : frame_owner {
    explicit held(const std::type_info& of) : type(of) {}
    const std::type_info& type;
    [[nodiscard]] virtual const void* value() const = 0;
  };
  template <class T>
  struct held_value final : held {
    explicit held_value(T&& from) : held(typeid(T)), content(std::move(from)) {}
    [[nodiscard]] const void* value() const override { return &content; }
    T content;
  };

  template <class T>
  friend serialized to_serialize(T value);
  friend struct codec<serialized>;

  /// The options without the families that the link did not accept.
  [[nodiscard]] std::expected<deserialize_options, serialize_error>
  accepted_options(const deserialize_options& options) const;
  [[nodiscard]] serialize_error holds_another(const std::type_info& wanted) const;

  payload payload_;
  std::shared_ptr<const held> held_;
  std::shared_ptr<const std::vector<std::string>> accepted_; // By the link it arrived on; null: it arrived on none.
  std::shared_ptr<const kept_mentions> mentions_;            // Null: the payload mentions nothing.
};

/// Makes a part of a message a payload of its own. The value is encoded when the message leaves this process, by the
/// first of the link's families that carries it. A receiver in this process gets the value itself. T must be registered
/// with an alias; otherwise sending fails with `unknown_type`.
template <class T>
[[nodiscard]] serialized to_serialize(T value) {
  serialized made;
  made.held_ = std::make_shared<const serialized::held_value<T>>(std::move(value));
  return made;
}

struct serialized_form {
  frame header;
  std::vector<frame> frames;
};
TROUPE_DESCRIBE(serialized_form, header, frames)

template <>
struct TROUPE_EXPORT codec<serialized> {
  using form = serialized_form;
  static std::expected<form, serialize_error> reduce(const serialized& value, const context& ctx);
  static std::expected<serialized, serialize_error> rebuild(form&& from, const context& ctx);
  /// The cost of reading the header and the mentions that it lists.
  static std::size_t rebuilt_bytes(const serialized_form& form);
};

template <std::move_constructible T>
std::expected<T, serialize_error> serialized::get(const deserialize_options& options, const type_registry& types,
                                                  const family_set& families) const {
  if (held_) {
    if constexpr (detail::copyable<T>())
      if (held_->type == typeid(T))
        return *static_cast<const T*>(held_->value());
    return std::unexpected(holds_another(typeid(T)));
  }
  auto accepted = accepted_options(options);
  if (!accepted)
    return std::unexpected(accepted.error());
  const auto reading = mentions_ ? mentions_->reading() : nullptr;
  if (reading)
    accepted->context.extension = reading.get();
  return deserialize<T>(payload_, *accepted, types, families);
}

} // namespace troupe
