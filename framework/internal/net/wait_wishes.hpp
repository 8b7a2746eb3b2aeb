// How the links of an I/O context want its thread to wait.
#pragma once

#include <cstddef>
#include <utility>

#include <asio/execution_context.hpp>
#include <asio/io_context.hpp>

#include <troupe/framework/link_options.hpp>

namespace troupe::internal {

/// Counts the open links of an I/O context by their wait_mode. Threads: the I/O thread.
class wait_wishes final : public asio::execution_context::service {
public:
  using key_type = wait_wishes;

  [[nodiscard]] static wait_wishes& of(asio::io_context& io) {
    return asio::use_service<wait_wishes>(static_cast<asio::execution_context&>(io));
  }
  explicit wait_wishes(asio::execution_context& io) : asio::execution_context::service(io) {}

  void add(wait_mode wish) noexcept { ++count_of(wish); }
  void remove(wait_mode wish) noexcept { --count_of(wish); }

  /// Whether the thread never sleeps.
  [[nodiscard]] bool polls() const noexcept { return polling_ > 0; }
  /// Whether the thread looks for a moment before it sleeps.
  [[nodiscard]] bool spins() const noexcept { return adaptive_ > 0; }

private:
  void shutdown() noexcept override {}
  std::size_t& count_of(wait_mode wish) noexcept {
    return wish == wait_mode::poll ? polling_ : wish == wait_mode::adaptive ? adaptive_ : sleeping_;
  }

  std::size_t polling_ = 0;
  std::size_t adaptive_ = 0;
  std::size_t sleeping_ = 0;
};

/// The wish of one link, from its opening until its end.
class wait_wish {
public:
  wait_wish() = default;
  wait_wish(const wait_wish&) = delete;
  wait_wish& operator=(const wait_wish&) = delete;

  void begin(asio::io_context& io, wait_mode wish) {
    all_ = &wait_wishes::of(io);
    wish_ = wish;
    all_->add(wish_);
  }
  /// Does nothing if begin() was not called.
  void end() noexcept {
    if (auto* const all = std::exchange(all_, nullptr))
      all->remove(wish_);
  }

private:
  wait_wishes* all_ = nullptr;
  wait_mode wish_ = wait_mode::adaptive;
};

} // namespace troupe::internal
