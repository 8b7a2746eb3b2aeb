#include "handles/hosts.hpp"

#include <chrono>
#include <cstring>
#include <utility>

#include <unistd.h>

namespace bench {

namespace {

troupe::store::options host(pid_t measuring, std::size_t number) {
  troupe::store::options settings;
  settings.name = "bench-handles-" + std::to_string(measuring) + '-' + std::to_string(number);
  return settings;
}

} // namespace

std::expected<std::vector<troupe::store::object_store>, std::string>
make_hosts_of_this_run(std::size_t count, std::size_t capacity_bytes) {
  std::vector<troupe::store::object_store> made;
  while (made.size() < count) {
    auto settings = host(::getpid(), made.size());
    settings.capacity_bytes = capacity_bytes;
    auto opened = troupe::store::object_store::open(settings);
    if (!opened)
      return std::unexpected{opened.error().message()};
    made.push_back(*std::move(opened));
  }
  return made;
}

troupe::store::options inherited_host(std::size_t number) {
  auto settings = host(::getppid(), number);
  settings.must_exist = true;
  return settings;
}

void use_all_memory(troupe::store::object_store store) {
  std::vector<troupe::store::builder> rooms;
  for (const std::size_t size_bytes : {std::size_t{16} << 20, std::size_t{64} << 10})
    while (auto made = store.create(size_bytes, {}, {}, std::chrono::milliseconds::zero())) {
      std::memset(made->bytes().data(), 0, made->bytes().size());
      rooms.push_back(*std::move(made));
    }
}

} // namespace bench
