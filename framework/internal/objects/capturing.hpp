// References inside a value that is itself an object. The outer object captures the inner ones, and the value names
// each by its place in the list of captured objects.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// The most objects that one object can refer to; also the store's limit.
inline constexpr std::size_t captured_max = 1024;

/// The context while a value is encoded into an object. It lists the objects to which the value refers.
class capture_list final : public codec_mentions {
public:
  /// Encodes for an object in the store `into`; without a store, for an object in this process's memory. `exchange`
  /// belongs to the store's node; null if there is none.
  capture_list(std::optional<store::object_store> into, std::shared_ptr<handle_counter> exchange,
               std::shared_ptr<const object_environment> environment)
      : store_(std::move(into)), exchange_(std::move(exchange)), environment_(std::move(environment)) {}

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle& actor) override;
  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) override;
  std::expected<std::uint32_t, serialize_error> mention(const object_state& object) override;
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override;
  [[nodiscard]] std::shared_ptr<const object_environment> objects() const override { return environment_; }

  /// The captured objects' places in the store, in the order in which the value names them. Returns nullopt while any
  /// of them is outside this store, and default ids if there is no store.
  [[nodiscard]] std::optional<std::vector<store::object_id>> ids() const;
  [[nodiscard]] std::vector<object_source_ptr> sources() const;
  /// Requires: ids() has returned nullopt.
  [[nodiscard]] std::vector<std::shared_ptr<exchanged_object>> counted() const;
  /// Why an object could not be captured; nullopt if none was refused.
  [[nodiscard]] const std::optional<node_error>& why_not() const noexcept { return failure_; }

private:
  struct captured {
    object_source_ptr as_named; // As the value names it.
    object_source_ptr source;   // Kept: `as_named`, or a copy if this store's objects cannot keep that.
  };
  [[nodiscard]] object_source_ptr keepable(const object_source_ptr& source);
  [[nodiscard]] object_source_ptr copy_of(const object_source& source);

  std::optional<store::object_store> store_;
  const std::shared_ptr<handle_counter> exchange_;
  const std::shared_ptr<const object_environment> environment_;
  std::vector<captured> captured_;
  std::optional<node_error> failure_;
};

} // namespace troupe::internal
