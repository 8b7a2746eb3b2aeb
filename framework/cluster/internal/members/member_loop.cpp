#include <troupe/framework/cluster/internal/members/member_loop.hpp>

#include <array>
#include <utility>

#include <poll.h>

namespace troupe::cluster_directories {

using std::chrono::steady_clock;

std::expected<void, directory_error> member_loop::begin() {
  if (!wakes_.is_open() || !stops_.is_open())
    return std::unexpected{directory_error{directory_errc::system_failure,
                                           "no eventfd for a directory: the process has too many descriptors open"}};
  const auto found = source_->look(stops_.number());
  if (!found.members)
    return std::unexpected{found.trouble.value_or(closed_error())};
  first_pause_ = found.pause;
  history_.update(*found.members);
  return {};
}

void member_loop::run() {
  auto next_look = steady_clock::now() + first_pause_;
  while (!watches_->is_closed()) {
    for (const auto& each : watches_->all())
      deliver(each);
    if (wait(next_look))
      next_look = steady_clock::now() + look();
  }
  for (const auto& each : watches_->all())
    watches_->end(each, closed_error());
}

std::optional<directory_error> member_loop::trouble() const {
  const std::lock_guard guard{mutex_};
  return trouble_;
}

std::expected<directory_listing, directory_error> member_loop::list(std::string_view prefix) const {
  if (watches_->is_closed())
    return std::unexpected{closed_error()};
  const std::lock_guard guard{mutex_};
  return history_.list(prefix);
}

std::expected<std::unique_ptr<directory_watch>, directory_error>
member_loop::watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) {
  {
    const std::lock_guard guard{mutex_};
    if (auto kept = history_.changes(prefix, first_revision); !kept)
      return std::unexpected{std::move(kept).error()};
  }
  auto what = std::make_shared<watched>(prefix, first_revision, std::move(handlers));
  if (!watches_->add(what))
    return std::unexpected{closed_error()};
  wakes_.wake();
  return listed_watch(watches_, std::move(what));
}

void member_loop::close() {
  watches_->close();
  stops_.wake();
}

directory_error member_loop::closed_error() const {
  return {directory_errc::closed, "the directory \"" + settings_.shown_address + "\" was closed"};
}

void member_loop::deliver(const std::shared_ptr<watched>& watch) {
  std::unique_lock guard{mutex_};
  const auto changes = history_.changes(watch->prefix, watch->next);
  guard.unlock();
  if (!changes) {
    watches_->end(watch, changes.error());
  } else if (!changes->empty()) {
    const auto revision = changes->back().entry.changed_revision;
    watch->next = revision + 1;
    watch->calls.changes(*changes, revision);
  }
}

/// Returns whether it is time to look.
bool member_loop::wait(steady_clock::time_point next_look) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_look - steady_clock::now());
  if (left.count() <= 0)
    return true;
  std::array<pollfd, 3> sources{{{.fd = stops_.number(), .events = POLLIN, .revents = 0},
                                 {.fd = wakes_.number(), .events = POLLIN, .revents = 0},
                                 {.fd = source_->readable(), .events = POLLIN, .revents = 0}}};
  const auto count = ::poll(sources.data(), sources.size(), static_cast<int>(left.count()));
  wakes_.clear();
  return count == 0 || sources[2].revents != 0;
}

/// Returns the pause until the next look.
std::chrono::milliseconds member_loop::look() {
  const auto found = source_->look(stops_.number());
  if (watches_->is_closed())
    return found.pause;
  if (found.members) {
    const std::lock_guard guard{mutex_};
    history_.update(*found.members);
  }
  tell(found.trouble);
  return found.pause;
}

/// Tells a trouble once, until it is over or becomes another one.
void member_loop::tell(const std::optional<directory_error>& trouble) {
  {
    const std::lock_guard guard{mutex_};
    if (trouble.has_value() == trouble_.has_value() && (!trouble || trouble->message() == trouble_->message()))
      return;
    trouble_ = trouble;
  }
  if (trouble && settings_.on_trouble)
    settings_.on_trouble(*trouble);
}

} // namespace troupe::cluster_directories
