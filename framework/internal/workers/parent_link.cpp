#include <troupe/framework/internal/workers/parent_link.hpp>

#include <string>
#include <utility>

#include <unistd.h>

#include <troupe/framework/internal/node/handed_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

end_timer::~end_timer() {
  std::unique_lock guard{mutex_};
  is_off_ = true;
  guard.unlock();
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void end_timer::start() {
  std::lock_guard guard{mutex_};
  if (!is_off_ && !thread_.joinable())
    thread_ = std::thread{[this] { run(); }};
}

void end_timer::run() {
  std::unique_lock guard{mutex_};
  if (changed_.wait_for(guard, patience_, [this] { return is_off_; }))
    return;
  write_log(log_level::warning, "this worker still ran " + std::to_string(patience_.count())
                                    + " ms after its link had ended (end_timeout); it ends now");
  ::_exit(1);
}

std::expected<parent_link, node_error> link_with_parent(const std::shared_ptr<node_core>& node, int socket,
                                                        const link_options& options, std::function<void()> on_end) {
  auto to = destination::connected("the process that has started this worker", options, node->families());
  if (!to) {
    ::close(socket);
    return std::unexpected{std::move(to).error()};
  }
  const auto until = std::chrono::steady_clock::now() + *to->options().connect_timeout;
  const auto opened = std::make_shared<std::promise<connecting::result>>();
  const auto ended = std::make_shared<std::promise<void>>();
  parent_link made{.link = nullptr, .ended = ended->get_future().share()};
  const auto attempt = std::make_shared<handed_link>(
      node, *std::move(to), socket, link_side::dialer, until,
      connecting::events{.done = [opened](connecting::result what) { opened->set_value(std::move(what)); },
                         .ended =
                             [ended, on_end = std::move(on_end)](const node_error&) {
                               ended->set_value();
                               on_end();
                             }});
  if (auto kept = node->dials().keep(attempt); !kept)
    return std::unexpected{std::move(kept).error()};
  auto result = opened->get_future().get();
  if (!result)
    return std::unexpected{std::move(result).error()};
  made.link = *std::move(result);
  return made;
}

} // namespace troupe::internal
