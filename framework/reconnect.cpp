#include <troupe/framework/reconnect.hpp>

#include <utility>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/link_keeper.hpp>

namespace troupe {

reconnecting_link::reconnecting_link(std::shared_ptr<internal::link_keeper> keeper) : keeper_(std::move(keeper)) {}

reconnecting_link::reconnecting_link(reconnecting_link&&) noexcept = default;

reconnecting_link& reconnecting_link::operator=(reconnecting_link&& other) noexcept {
  if (this != &other) {
    stop();
    keeper_ = std::move(other.keeper_);
  }
  return *this;
}

reconnecting_link::~reconnecting_link() {
  stop();
}

std::optional<link> reconnecting_link::current() const {
  if (auto open = keeper_ ? keeper_->current() : nullptr)
    return link{std::move(open)};
  return std::nullopt;
}

bool reconnecting_link::is_active() const {
  return keeper_ && !keeper_->is_over();
}

void reconnecting_link::stop() {
  if (keeper_)
    keeper_->stop();
}

void reconnecting_link::close() {
  if (keeper_)
    keeper_->close_with();
  stop();
  if (auto open = current())
    open->close();
}

} // namespace troupe
