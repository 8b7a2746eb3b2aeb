// An object that was put while an object that it refers to was on another host.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <troupe/framework/internal/objects/exchanged_object.hpp>

namespace troupe::internal {

/// This node's own object. Its bytes are in this process until all objects that it captures are on this host. From then
/// on they are in the store.
class unfinished_object final : public object_source, public std::enable_shared_from_this<unfinished_object> {
public:
  unfinished_object(std::shared_ptr<exchanged_object> counted, frame bytes)
      : counted_(std::move(counted)), size_bytes_(bytes.size_bytes()), bytes_(std::move(bytes)) {}
  ~unfinished_object() override;

  /// Fetches the captured objects, as long as this object lives. Called once.
  void finish();

  [[nodiscard]] const std::shared_ptr<exchanged_object>& counted() const noexcept { return counted_; }

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::unfinished; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
  [[nodiscard]] std::optional<frame> here() const override;
  [[nodiscard]] std::optional<frame> here_at_once() const override;
  [[nodiscard]] std::optional<node_error> why_lost() const override;
  fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) override;
  void cancel(fetch_id which) override { counted_->cancel(which); }
  [[nodiscard]] store::handle stored() const override { return counted_->stored(); }

private:
  [[nodiscard]] std::optional<frame> own_bytes() const;

  const std::shared_ptr<exchanged_object> counted_;
  const std::uint64_t size_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<frame> bytes_; // Until the object lies in the store.
  fetch_id finishing_ = 0;
};

} // namespace troupe::internal
