#include <troupe/framework/internal/workers/parent_link.hpp>

#include <utility>

#include <unistd.h>

#include <troupe/framework/internal/node/handed_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

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
