#include <troupe/framework/worker_main.hpp>

#include <cstdlib>
#include <iostream>

#include <unistd.h>

#include <troupe/base/text.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/workers/end_guard.hpp>
#include <troupe/framework/internal/workers/parent_link.hpp>
#include <troupe/framework/internal/workers/worker_variables.hpp>
#include <troupe/framework/node.hpp>

namespace troupe {

namespace {

constexpr int status_failed = 1;
constexpr int status_no_worker = 2;

/// Runs the worker. Returns its exit status, or fails if it could not begin.
std::expected<int, node_error> run_worker(worker_setup& with, int socket, internal::end_guard& limit) {
  caf::actor_system system{with.config};
  auto opened = node::open(system, with.types, with.families, with.node);
  if (!opened) {
    ::close(socket);
    return std::unexpected{std::move(opened).error()};
  }
  with.node.publish = {}; // The node keeps these actors now, and no longer than its link.
  auto made = internal::link_with_parent(opened->core(), socket, with.link, [&limit] { limit.start(); });
  if (!made)
    return std::unexpected{std::move(made).error()};
  link parent{std::move(made->link)};
  if (with.run)
    return with.run(system, *opened, parent);
  made->ended.wait();
  return EXIT_SUCCESS;
}

} // namespace

int worker_main(int argument_count, char** arguments, const std::function<void(worker_setup&)>& setup) {
  const std::string program = argument_count > 0 ? arguments[0] : "worker";
  const auto failed = [&](std::string_view why, int status) {
    std::cerr << program + ": " + std::string{why} + '\n';
    return status;
  };
  const auto place = internal::take_worker_place();
  if (!place)
    return failed(place.error().message(),
                  place.error().code() == node_errc::not_found ? status_no_worker : status_failed);
  try {
    worker_setup with;
    with.arguments.assign(arguments + (argument_count > 0 ? 1 : 0), arguments + argument_count);
    with.node.name = place->name;
    with.node.store = place->store;
    setup(with);
    const auto limit = internal::end_guard::make(with.end_timeout); // Ends after the actor system.
    if (!limit)
      return failed(limit.error().message(), status_failed);
    const auto status = run_worker(with, place->socket, **limit);
    return status ? *status : failed(status.error().message(), status_failed);
  } catch (const std::exception& error) {
    return failed(error.what(), status_failed);
  }
}

bool is_worker() {
  return std::getenv(internal::worker_variable) != nullptr;
}

} // namespace troupe
