// A request of this end that is being answered.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// A request that was taken out of the pending ones. Unless answered() is called, the destructor makes it pending
/// again, so that the end of the link answers it.
///
/// Lifetime: must not be destroyed under the link's lock.
class taken_question {
public:
  taken_question() noexcept {} // If defaulted, GCC would fill all of it with zeros for each message.
  taken_question(const taken_question&) = delete;
  taken_question& operator=(const taken_question&) = delete;
  ~taken_question() {
    if (!taken_) // Most messages answer nothing.
      return;
    const auto held = taken_->mutex.lock();
    taken_->from.add(taken_->key, taken_->receiver, std::move(taken_->asker));
  }

  /// To be called once. `from` and `mutex` must outlive this object.
  void take(pending_requests& from, link_mutex& mutex, const question_key& key, std::uint64_t receiver,
            waiting_asker asker) noexcept {
    taken_.emplace(from, mutex, key, receiver, std::move(asker));
  }
  /// The requester has its answer, or an error in its place.
  void answered() noexcept { taken_.reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return taken_.has_value(); }
  /// Requires: a request is taken.
  [[nodiscard]] const waiting_asker& asker() const noexcept { return taken_->asker; }

private:
  struct taken {
    pending_requests& from;
    link_mutex& mutex;
    question_key key;
    std::uint64_t receiver;
    waiting_asker asker;
  };
  std::optional<taken> taken_;
};

} // namespace troupe::internal
