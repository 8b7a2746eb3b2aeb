// A reference to an actor for code that carries it without knowing CAF.
#pragma once

#include <utility>

namespace troupe::internal {

/// A counted reference to an actor, or a null one. Only caf_port/actor_handles.hpp knows its type.
class actor_handle {
public:
  /// How references to actors are counted.
  struct counting {
    void (*add)(void* actor) noexcept;
    void (*release)(void* actor) noexcept;
  };

  actor_handle() = default;
  /// Takes over one reference. Requires: `by` lives as long as the process.
  actor_handle(void* actor, const counting& by) noexcept : actor_(actor), by_(&by) {}
  actor_handle(const actor_handle& other) noexcept : actor_(other.actor_), by_(other.by_) {
    if (actor_ != nullptr)
      by_->add(actor_);
  }
  actor_handle(actor_handle&& other) noexcept : actor_(other.release()), by_(other.by_) {}
  actor_handle& operator=(actor_handle other) noexcept {
    std::swap(actor_, other.actor_);
    std::swap(by_, other.by_);
    return *this;
  }
  ~actor_handle() {
    if (actor_ != nullptr)
      by_->release(actor_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return actor_ != nullptr; }
  [[nodiscard]] friend bool operator==(const actor_handle& left, const actor_handle& right) noexcept {
    return left.actor_ == right.actor_;
  }

  [[nodiscard]] void* get() const noexcept { return actor_; }
  /// Gives up the reference without releasing it. The caller then owns it.
  [[nodiscard]] void* release() noexcept { return std::exchange(actor_, nullptr); }

private:
  void* actor_ = nullptr;
  const counting* by_ = nullptr;
};

} // namespace troupe::internal
