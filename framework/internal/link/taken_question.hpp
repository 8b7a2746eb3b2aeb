// A request of this end whose answer has come.
#pragma once

#include <cstdint>
#include <utility>

#include <troupe/framework/internal/link/pending_requests.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// A request that was taken from those pending. Pending again when this ends, so that the link's end answers it, unless
/// its answer was delivered.
///
/// Lifetime: is not destroyed under the link's lock.
class taken_question {
public:
  taken_question() = default;
  taken_question(const taken_question&) = delete;
  taken_question& operator=(const taken_question&) = delete;
  ~taken_question() {
    if (from_ == nullptr)
      return;
    const auto held = mutex_->lock();
    from_->add(key_, receiver_, std::move(asker_));
  }

  /// Once. Both outlive this.
  void take(pending_requests& from, link_mutex& mutex, const question_key& key, std::uint64_t receiver,
            waiting_asker asker) noexcept {
    from_ = &from;
    mutex_ = &mutex;
    key_ = key;
    receiver_ = receiver;
    asker_ = std::move(asker);
  }
  /// Whatever has become of the answer, the asker waits for it no more.
  void answered() noexcept { from_ = nullptr; }

  [[nodiscard]] explicit operator bool() const noexcept { return from_ != nullptr; }
  [[nodiscard]] const waiting_asker& asker() const noexcept { return asker_; }

private:
  pending_requests* from_ = nullptr; // Null: nothing was taken, or all is over.
  link_mutex* mutex_ = nullptr;
  question_key key_;
  std::uint64_t receiver_ = 0;
  waiting_asker asker_;
};

} // namespace troupe::internal
