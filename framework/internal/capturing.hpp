// References inside a value that is an object itself: the outer object captures the inner ones, and the value names
// each by its place in the list of them.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <vector>

#include <troupe/framework/internal/link_extension.hpp>
#include <troupe/framework/internal/object_environment.hpp>
#include <troupe/framework/object_ref.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// So many objects can one refer to; a store allows no more.
inline constexpr std::size_t captured_max = 1024;

/// Encoding one value into an object: lists the objects that it refers to.
class capture_list final : public link_extension {
public:
  /// For an object in that store, or without one in this process's memory.
  capture_list(const std::optional<store::object_store>& into, std::shared_ptr<const object_environment> environment)
      : store_(into ? into->number() : 0), environment_(std::move(environment)) {}

  std::expected<std::uint32_t, serialize_error> mention(const caf::strong_actor_ptr& actor) override;
  std::expected<caf::strong_actor_ptr, serialize_error> mentioned(std::uint32_t place) override;
  std::expected<std::uint32_t, serialize_error> mention(const object_state& object) override;
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override;
  [[nodiscard]] std::shared_ptr<const object_environment> objects() const override { return environment_; }

  /// In the order in which the value names them. The first is empty without a store.
  [[nodiscard]] const std::vector<store::object_id>& ids() const noexcept { return ids_; }
  [[nodiscard]] const std::vector<object_source_ptr>& sources() const noexcept { return sources_; }
  /// Of an object that was refused since it is lost.
  [[nodiscard]] const std::optional<node_error>& loss() const noexcept { return loss_; }

private:
  const std::uint64_t store_; // 0: none.
  const std::shared_ptr<const object_environment> environment_;
  std::vector<store::object_id> ids_;
  std::vector<object_source_ptr> sources_;
  std::optional<node_error> loss_;
};

} // namespace troupe::internal
