// Registers a link with the exchange of its node.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Keeps a link registered with the exchange until leave() or the destructor removes it.
///
/// Threads: the I/O thread.
class exchange_membership {
public:
  exchange_membership() = default;
  exchange_membership(exchange_membership&& other) noexcept
      : of_(std::move(other.of_)), number_(std::exchange(other.number_, 0)) {}
  exchange_membership& operator=(exchange_membership&& other) noexcept {
    leave(default_reason);
    of_ = std::move(other.of_);
    number_ = std::exchange(other.number_, 0);
    return *this;
  }
  ~exchange_membership() { leave(default_reason); }

  /// Joins as by handle_counter::link_up(). Returns an empty membership if the exchange refuses the number.
  [[nodiscard]] static exchange_membership join(std::shared_ptr<handle_counter> exchange,
                                                const std::shared_ptr<counted_link>& link, handles::link_number number,
                                                handles::node_name peer, bytes_view token,
                                                const std::optional<exchange_channel>& shared) {
    exchange_membership result;
    if (exchange->link_up(link, number, peer, token, shared)) {
      result.of_ = std::move(exchange);
      result.number_ = number;
    }
    return result;
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }

  /// `why` is used in the errors of what is lost with the link. A second call does nothing.
  void leave(std::string why) {
    if (const auto of = std::exchange(of_, nullptr))
      of->link_down(number_, std::move(why));
  }

private:
  static constexpr const char* default_reason = "the link has ended";

  std::shared_ptr<handle_counter> of_;
  handles::link_number number_ = 0;
};

} // namespace troupe::internal
