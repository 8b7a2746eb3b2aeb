#include <troupe/framework/cluster/internal/host/host_watches.hpp>

#include <troupe/framework/cluster/internal/host/host_errors.hpp>

namespace troupe::cluster_directories {

std::expected<std::unique_ptr<directory_watch>, directory_error>
host_watches::add(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) {
  std::uint64_t compacted = 0;
  auto& database = loop_->database();
  const call_deadline deadline{database.settings().timeout};
  if (auto done = database.read(deadline, [&](records& rows) { compacted = rows.head().compacted; }); !done)
    return std::unexpected{std::move(done).error()};
  if (first_revision <= compacted)
    return std::unexpected{compacted_error(first_revision)};
  if (!loop_->can_wake())
    return std::unexpected{directory_error{directory_errc::system_failure,
                                           "no eventfd for watches: the process has too many descriptors open"}};
  if (auto started = thread_.start([loop = loop_] { loop->run(); }); !started)
    return std::unexpected{std::move(started).error()};
  auto what = std::make_shared<watched>(prefix, first_revision, std::move(handlers));
  if (!loop_->watches()->add(what))
    return std::unexpected{closed_error(database.path())};
  loop_->wake();
  return listed_watch(loop_->watches(), std::move(what));
}

void host_watches::close() {
  loop_->close();
  thread_.join();
}

} // namespace troupe::cluster_directories
