#include <troupe/framework/reconnect.hpp>

#include <utility>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/link_keeper.hpp>

namespace troupe {

kept_link::kept_link(std::shared_ptr<internal::link_keeper> keeper) : keeper_(std::move(keeper)) {}

kept_link::kept_link(kept_link&&) noexcept = default;

kept_link& kept_link::operator=(kept_link&& other) noexcept {
  std::swap(keeper_, other.keeper_);
  return *this;
}

kept_link::~kept_link() {
  stop();
}

std::optional<link> kept_link::current() const {
  if (auto open = keeper_ ? keeper_->current() : nullptr)
    return link{std::move(open)};
  return std::nullopt;
}

bool kept_link::is_kept() const {
  return keeper_ && !keeper_->is_over();
}

void kept_link::stop() {
  if (keeper_)
    keeper_->stop();
}

void kept_link::close() {
  if (keeper_)
    keeper_->close_with();
  stop();
  if (auto open = current())
    open->close();
}

} // namespace troupe
