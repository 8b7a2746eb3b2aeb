// The terms with which a link's messages are encoded now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/negotiation.hpp>
#include <troupe/framework/internal/link/sending_terms.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// Holds the terms with which a link's messages are encoded now.
///
/// Threads: any.
class current_terms {
public:
  /// `types` and `families` must outlive this object. `own_name`: the name of this node.
  current_terms(const link_common& link, const type_registry& types, const family_set& families, std::string own_name,
                std::size_t offload_bytes)
      : link_(link),
        types_(types),
        families_(families),
        own_name_(std::move(own_name)),
        offload_bytes_(offload_bytes) {}

  /// Sets the first terms. The members that depend on `lists` are filled in. To be called before messages are encoded.
  void open(const link_held& held, sending_terms first, const negotiation& lists);

  /// sending_terms::number of the newest terms; 0 before there are any. A thread that sees a new number takes the lock
  /// to read the terms.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }
  /// Null before there are any.
  [[nodiscard]] const std::shared_ptr<const sending_terms>& now(const link_held&) const noexcept { return now_; }
  /// link_options::offload_bytes
  [[nodiscard]] std::size_t offload_bytes() const noexcept { return offload_bytes_.load(std::memory_order_relaxed); }
  /// The limit itself, for callers that read it later.
  [[nodiscard]] const std::atomic<std::size_t>& offload_limit() const noexcept { return offload_bytes_; }
  /// For threads that cache the terms of several links. `link`: link_core::serial.
  [[nodiscard]] newest_terms newest(std::uint64_t link) const noexcept {
    return {.mutex = link_.mutex, .link = link, .number = number_, .terms = now_};
  }
  void offload_from(std::size_t bytes) noexcept { offload_bytes_.store(bytes, std::memory_order_relaxed); }

  /// The families with which messages are sent, best first.
  [[nodiscard]] std::vector<std::string> families() const;
  /// A text that says with which families each end sends by these terms, and which it accepts.
  [[nodiscard]] std::string lists_text(const sending_terms& terms) const;

  /// Takes over the changed lists, then applies `change`. Requires: open() was called.
  void renew(const link_held& held, const negotiation& lists, const std::function<void(sending_terms&)>& change = {});

  /// From now on sending a value of the type fails, unless this end finds that the peer can read the type.
  void on_type_refused(const type_refused& what);

private:
  [[nodiscard]] std::string why_refused(const type_entry& type, const type_refused& what) const;
  void take(sending_terms renewed);

  const link_common& link_;
  const type_registry& types_;
  const family_set& families_;
  const std::string own_name_;
  std::atomic<std::size_t> offload_bytes_;
  std::atomic<std::uint64_t> number_{0};     // The number of now_; stored under the link's lock.
  std::shared_ptr<const sending_terms> now_; // Guarded by the link's lock.
};

} // namespace troupe::internal
