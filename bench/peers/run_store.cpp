#include "peers/run_store.hpp"

#include <unistd.h>

namespace bench {

namespace {

troupe::store::options store_of(pid_t measuring) {
  troupe::store::options settings;
  settings.name = "bench-run-" + std::to_string(measuring);
  return settings;
}

} // namespace

std::expected<troupe::store::object_store, std::string> make_store_of_this_run(std::size_t largest_bytes) {
  auto settings = store_of(::getpid());
  settings.capacity_bytes = 4 * largest_bytes + (16 << 20);
  auto opened = troupe::store::object_store::open(settings);
  if (!opened)
    return std::unexpected{opened.error().message()};
  return *std::move(opened);
}

troupe::store::options inherited_store() {
  auto settings = store_of(::getppid());
  settings.must_exist = true;
  return settings;
}

} // namespace bench
