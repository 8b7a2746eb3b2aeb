#include "cluster/member_node.hpp"

#include "peers/small_messages.hpp"

#include <thread>
#include <utility>

#include <unistd.h>

namespace bench {

std::expected<void, std::string> wait_until(const std::function<bool()>& condition, const std::string& what,
                                            std::chrono::milliseconds patience) {
  const auto until = bench_clock::now() + patience;
  while (!condition()) {
    if (bench_clock::now() > until)
      return std::unexpected{what + ": not within " + std::to_string(patience.count()) + " ms"};
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return {};
}

std::expected<void, std::string> member_node::open(const std::string& name) {
  types_.add<small_message>("small");
  auto opened = troupe::node::open(system_, types_, families_,
                                   {.name = name,
                                    .listen = {"unix://@troupe-bench-" + std::to_string(::getpid()) + '-' + name},
                                    .store = std::nullopt});
  if (!opened)
    return std::unexpected{opened.error().message()};
  node_.emplace(*std::move(opened));
  return {};
}

std::expected<void, std::string> member_node::join(const std::string& directory, std::chrono::milliseconds lease) {
  auto joined = troupe::cluster::join(
      *node_, {.directory = directory, .roles = {"bench"}, .lease = lease, .join_timeout = std::chrono::minutes{1}});
  if (!joined)
    return std::unexpected{joined.error().message()};
  cluster_.emplace(*std::move(joined));
  return {};
}

std::expected<void, std::string> member_node::open_and_join(const std::string& name, const std::string& directory,
                                                            std::chrono::milliseconds lease) {
  if (auto opened = open(name); !opened)
    return opened;
  return join(directory, lease);
}

std::expected<void, std::string> member_node::wait_for_members(std::size_t count) {
  return wait_until([&] { return cluster_->members().size() >= count; },
                    "seeing " + std::to_string(count) + " members");
}

} // namespace bench
