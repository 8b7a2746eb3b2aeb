// References inside a value that is an object itself: the outer object captures the inner ones, and the value names
// each by its place in the list of them.
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

/// So many objects can one refer to; a store allows no more.
inline constexpr std::size_t captured_max = 1024;

/// Encoding one value into an object: lists the objects that it refers to.
class capture_list final : public codec_mentions {
public:
  /// For an object in that store, or without one in this process's memory. `exchange` is that of the store's node, if
  /// there is one.
  capture_list(std::optional<store::object_store> into, std::shared_ptr<handle_counter> exchange,
               std::shared_ptr<const object_environment> environment)
      : store_(std::move(into)), exchange_(std::move(exchange)), environment_(std::move(environment)) {}

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle& actor) override;
  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) override;
  std::expected<std::uint32_t, serialize_error> mention(const object_state& object) override;
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override;
  [[nodiscard]] std::shared_ptr<const object_environment> objects() const override { return environment_; }

  /// In the order in which the value names them. Where they lie in the store: nothing while one of them is elsewhere,
  /// none without a store.
  [[nodiscard]] std::optional<std::vector<store::object_id>> ids() const;
  [[nodiscard]] std::vector<object_source_ptr> sources() const;
  /// Requires: ids() has given nothing.
  [[nodiscard]] std::vector<std::shared_ptr<exchanged_object>> counted() const;
  /// Of an object that could not be captured: why.
  [[nodiscard]] const std::optional<node_error>& why_not() const noexcept { return failure_; }

private:
  struct captured {
    object_source_ptr as_named; // By the value.
    object_source_ptr source;   // What is kept: a copy, where that lies in no place that this store's objects can keep.
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
