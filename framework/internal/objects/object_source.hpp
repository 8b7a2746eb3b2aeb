// Where the bytes of an object are had from.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/store/handle.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// What an object_source is. Each but `unknown` belongs to one class, which may be cast to.
enum class source_kind : std::uint8_t {
  unknown,    // A test's.
  local,      // Bytes that are here for good (local_object).
  stored,     // Of this host's store, or freed there: settled_objects.
  freed,      // The same, known by name only.
  lost,       // Before its handle came here (lost_object).
  exchanged,  // Counted between nodes, wherever its bytes are (exchanged_object).
  unfinished, // Put here, and waiting for what it captures (unfinished_object).
};

/// Whether it need not be brought here from anywhere.
[[nodiscard]] constexpr bool is_settled(source_kind what) noexcept {
  return what == source_kind::stored || what == source_kind::freed;
}

/// The bytes of one object, here or elsewhere; while it lives they are kept, wherever they are.
///
/// Threads: all members from any thread.
class object_source {
public:
  using answer = std::function<void(std::expected<frame, node_error>)>;
  /// Names one fetch of this object; 0: it was answered at once.
  using fetch_id = std::uint64_t;

  object_source() = default;
  object_source(const object_source&) = delete;
  object_source& operator=(const object_source&) = delete;
  virtual ~object_source() = default;

  [[nodiscard]] virtual source_kind kind() const noexcept { return source_kind::unknown; }
  [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;

  /// The bytes, where they are on this host. What lies on disk is brought back, which may wait for room in the store.
  [[nodiscard]] virtual std::optional<frame> here() const = 0;
  /// The same, and does not wait for room.
  [[nodiscard]] virtual std::optional<frame> here_at_once() const { return here(); }

  /// Why the bytes that are not here will never come, where that is known without asking anybody, and without waiting.
  [[nodiscard]] virtual std::optional<node_error> why_lost() const { return std::nullopt; }

  /// Has them brought here. `then` is called exactly once, at `until` at the latest, on any thread, also before this
  /// returns; it must not wait. Fails with `fetch_timed_out`, `object_lost` or `store_full`.
  virtual fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) = 0;

  /// Whoever asked does not need the bytes any more: the answer comes now, `fetch_timed_out` at the worst. Nothing
  /// happens when it has come.
  virtual void cancel(fetch_id which) = 0;

  /// The object of this host's store that has the bytes, on disk or not; empty when none does.
  [[nodiscard]] virtual store::handle stored() const { return {}; }
  [[nodiscard]] std::optional<store::object_id> place() const {
    auto object = stored();
    return object.empty() ? std::nullopt : std::optional{object.id()};
  }
};

using object_source_ptr = std::shared_ptr<object_source>;

/// Bytes that are here: in the store, or in this process's own memory.
class TROUPE_EXPORT local_object final : public object_source {
public:
  explicit local_object(frame bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] source_kind kind() const noexcept override { return source_kind::local; }
  [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size_bytes(); }
  [[nodiscard]] std::optional<frame> here() const override { return bytes_; }
  fetch_id fetch(std::chrono::steady_clock::time_point, answer then) override {
    then(bytes_);
    return 0;
  }
  void cancel(fetch_id) override {}
  [[nodiscard]] store::handle stored() const override;

private:
  const frame bytes_;
};

} // namespace troupe::internal
