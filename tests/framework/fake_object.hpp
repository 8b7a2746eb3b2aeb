// Objects whose bytes are remote until a test makes them arrive.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <troupe/framework/object_ref.hpp>

namespace troupe::tests {

/// Stands for an object on another host.
class fake_source final : public internal::object_source {
public:
  explicit fake_source(frame bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size_bytes() const override { return bytes_.size_bytes(); }

  std::optional<frame> here() const override {
    std::lock_guard guard{mutex_};
    if (asks_until_here_ && (*asks_until_here_)-- == 0) {
      asks_until_here_.reset();
      is_here_ = true;
    }
    return is_here_ ? std::optional{bytes_} : std::nullopt;
  }

  /// Makes the bytes arrive without an answer: `asks` more calls of here() find nothing, the next one finds the bytes.
  void arrive_after_asks(std::size_t asks) {
    std::lock_guard guard{mutex_};
    asks_until_here_ = asks;
  }

  fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) override {
    std::unique_lock guard{mutex_};
    ++fetches_;
    changed_.notify_all();
    if (is_here_ || failure_) {
      guard.unlock();
      then(outcome());
      return 0;
    }
    running_.emplace(++last_id_, std::pair{until, std::move(then)});
    return last_id_;
  }

  void cancel(fetch_id which) override {
    std::unique_lock guard{mutex_};
    auto found = running_.find(which);
    if (found == running_.end())
      return;
    ++cancelled_;
    auto then = std::move(found->second.second);
    running_.erase(found);
    changed_.notify_all();
    guard.unlock();
    then(std::unexpected{node_error{node_errc::fetch_timed_out, "cancelled"}});
  }

  /// Makes the bytes arrive and answers all fetches.
  void arrive() {
    {
      std::lock_guard guard{mutex_};
      is_here_ = true;
    }
    answer_all(bytes_);
  }
  /// Fails all fetches, running and future ones.
  void fail(node_error reason) {
    {
      std::lock_guard guard{mutex_};
      failure_ = reason;
    }
    answer_all(std::unexpected{std::move(reason)});
  }
  /// Answers all fetches that have a deadline with fetch_timed_out, as a real source does when the deadline expires.
  void run_out_of_time() {
    answer_all(std::unexpected{node_error{node_errc::fetch_timed_out, "still on its way"}}, true);
  }

  int fetches() const {
    std::lock_guard guard{mutex_};
    return fetches_;
  }
  int cancelled() const {
    std::lock_guard guard{mutex_};
    return cancelled_;
  }
  /// Returns false if the bytes have not been fetched `times` times within ten seconds.
  bool is_fetched(int times = 1) const {
    std::unique_lock guard{mutex_};
    return changed_.wait_for(guard, std::chrono::seconds(10), [&] { return fetches_ >= times; });
  }
  bool is_left_alone() const {
    std::unique_lock guard{mutex_};
    return changed_.wait_for(guard, std::chrono::seconds(10), [&] { return fetches_ > 0 && running_.empty(); });
  }

private:
  std::expected<frame, node_error> outcome() const {
    if (failure_)
      return std::unexpected{*failure_};
    return bytes_;
  }

  void answer_all(const std::expected<frame, node_error>& with, bool with_deadline_only = false) {
    std::vector<answer> calls;
    {
      std::lock_guard guard{mutex_};
      std::erase_if(running_, [&](auto& one) {
        if (with_deadline_only && one.second.first == std::chrono::steady_clock::time_point::max())
          return false;
        calls.push_back(std::move(one.second.second));
        return true;
      });
      changed_.notify_all();
    }
    for (auto& call : calls)
      call(with);
  }

  const frame bytes_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  mutable bool is_here_ = false;
  mutable std::optional<std::size_t> asks_until_here_;
  std::optional<node_error> failure_;
  std::map<fetch_id, std::pair<std::chrono::steady_clock::time_point, answer>> running_;
  fetch_id last_id_ = 0;
  int fetches_ = 0;
  int cancelled_ = 0;
};

/// A reference to the same value as `local` whose bytes come from a fake source.
template <class T>
struct far_object {
  explicit far_object(const object_ref<T>& local) : far_object(local, *internal::state_of(local)->source->here()) {}
  far_object(const object_ref<T>& local, frame bytes)
      : source(std::make_shared<fake_source>(std::move(bytes))),
        ref(internal::ref_to<T>(std::make_shared<internal::object_state>(internal::object_state{
            internal::state_of(local)->layout, source, internal::state_of(local)->environment}))) {}

  std::shared_ptr<fake_source> source;
  object_ref<T> ref;
};

} // namespace troupe::tests
