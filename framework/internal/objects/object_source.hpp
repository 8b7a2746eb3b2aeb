// Sources of an object's bytes.
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

/// The kind of an object_source. Each kind except `unknown` belongs to one class, to which the source may be cast.
enum class source_kind : std::uint8_t {
  unknown,    // In tests.
  local,      // Bytes that are here and stay (local_object).
  stored,     // In this host's store, or freed there: settled_objects.
  freed,      // Like `stored`, known by name only.
  lost,       // Lost before its handle came here (lost_object).
  exchanged,  // Counted between nodes, wherever its bytes are (exchanged_object).
  unfinished, // Put on this node, and waiting for the objects it captures (unfinished_object).
};

/// Whether the object never has to be fetched from another host.
[[nodiscard]] constexpr bool is_settled(source_kind what) noexcept {
  return what == source_kind::stored || what == source_kind::freed;
}

/// The bytes of one object, here or on another host. They are kept while the source lives.
///
/// Threads: all members from any thread.
class object_source {
public:
  using answer = std::function<void(std::expected<frame, node_error>)>;
  /// Names one fetch of this object. 0: it was answered at once.
  using fetch_id = std::uint64_t;

  object_source() = default;
  object_source(const object_source&) = delete;
  object_source& operator=(const object_source&) = delete;
  virtual ~object_source() = default;

  [[nodiscard]] virtual source_kind kind() const noexcept { return source_kind::unknown; }
  [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;

  /// The bytes, if they are on this host. If they are on disk, restores them, which may wait for room in the store.
  [[nodiscard]] virtual std::optional<frame> here() const = 0;
  /// Like here(), without waiting for room.
  [[nodiscard]] virtual std::optional<frame> here_at_once() const { return here(); }

  /// Why the bytes will never come, if that is known without asking a peer and without waiting.
  [[nodiscard]] virtual std::optional<node_error> why_lost() const { return std::nullopt; }

  /// Brings the bytes here. Calls `then` exactly once, at `until` at the latest, on any thread, possibly before this
  /// call returns. `then` must not wait. Fails with `fetch_timed_out`, `object_lost` or `store_full`.
  virtual fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) = 0;

  /// The caller of that fetch no longer needs the bytes. Its answer comes now, with `fetch_timed_out` at worst. Does
  /// nothing if the answer has come.
  virtual void cancel(fetch_id which) = 0;

  /// The object of this host's store that has the bytes, in memory or on disk; empty if none has.
  [[nodiscard]] virtual store::handle stored() const { return {}; }
  [[nodiscard]] std::optional<store::object_id> place() const {
    auto object = stored();
    return object.empty() ? std::nullopt : std::optional{object.id()};
  }
};

using object_source_ptr = std::shared_ptr<object_source>;

/// Bytes that are on this host: in the store, or in this process's memory.
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
