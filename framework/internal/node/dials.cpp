#include <troupe/framework/internal/node/dials.hpp>

#include <utility>

#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<void, node_error> dials::keep(std::shared_ptr<dial> each) {
  std::lock_guard guard{mutex_};
  if (has_ended_)
    return fail(node_errc::link_down, "the node is closing");
  kept_.push_back(each);
  each->begin();
  return {};
}

void dials::let_go(const std::shared_ptr<dial>& each) {
  std::lock_guard guard{mutex_};
  if (std::erase(kept_, each) > 0)
    clean_up_soon(each);
}

void dials::end() {
  std::unique_lock guard{mutex_};
  has_ended_ = true;
  const auto kept = std::exchange(kept_, {});
  guard.unlock();
  for (const auto& each : kept) {
    each->stop();
    clean_up_soon(each);
  }
}

void dials::clean_up_soon(std::shared_ptr<dial> each) {
  post_to(io_, [each = std::move(each)] { each->clean_up(); });
}

} // namespace troupe::internal
