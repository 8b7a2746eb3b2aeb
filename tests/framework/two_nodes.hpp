// Two nodes in one process, linked over a real unix socket: the fixture of framework/'s tests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <caf/all.hpp>
#include <gtest/gtest.h>

#include "../eventually.hpp"

#include <troupe/framework/node.hpp>
#include <troupe/serializers/cereal/cereal_family.hpp>

namespace troupe::tests {

using namespace std::chrono_literals;

struct reading {
  std::string sensor;
  double celsius = 0;
  std::vector<double> samples;
  friend bool operator==(const reading&, const reading&) = default;
};
TROUPE_DESCRIBE(reading, sensor, celsius, samples)

/// Contains actor handles.
struct guest_list {
  std::string host;
  std::vector<caf::actor> guests;
};
TROUPE_DESCRIBE(guest_list, host, guests)

/// Registered at one end only.
struct secret {
  int value = 0;
};
TROUPE_DESCRIBE(secret, value)

/// Returns a name for stores and sockets that no other test in any process uses.
inline std::string unique_name(std::string_view prefix) {
  static std::atomic<int> counter{0};
  return std::string{prefix} + '-' + std::to_string(::getpid()) + '-' + std::to_string(counter++);
}

/// TROUPE_IO_THREADS=<n> sets the number of I/O threads of every node whose test leaves it at the default of 1.
inline node_options with_io_threads(node_options options) {
  if (const auto* given = std::getenv("TROUPE_IO_THREADS"); given != nullptr && options.io_threads == 1)
    options.io_threads = std::strtoul(given, nullptr, 10);
  return options;
}

/// An actor system with its node, and everything else that a program's main would own.
struct side {
  explicit side(node_options options, const std::function<void(type_registry&)>& add_types = {},
                const std::function<void(family_set&)>& add_families = {},
                const std::function<void(caf::actor_system_config&)>& configure = {})
      : config(configured(configure)) {
    families.add(std::make_unique<cereal_family>()); // For links that list it.
    if (add_families)
      add_families(families);
    types.add<reading>("test.reading");
    types.add<guest_list>("test.guests");
    types.add<std::map<std::string, int>>("test.map");
    types.add<object_ref<array<double>>>("test.ref_array");
    types.add<object_ref<reading>>("test.ref_reading");
    if (add_types)
      add_types(types);
    auto opened = node::open(system, types, families, with_io_threads(std::move(options)));
    if (!opened)
      throw std::runtime_error(opened.error().message());
    home.emplace(*std::move(opened));
  }

  static std::unique_ptr<system_config> configured(const std::function<void(caf::actor_system_config&)>& configure) {
    auto made = std::make_unique<system_config>();
    if (configure)
      configure(*made);
    return made;
  }

  type_registry types;
  family_set families;
  const std::unique_ptr<system_config> config;
  caf::actor_system system{*config};
  std::optional<node> home;
};

class two_nodes : public testing::Test {
protected:
  two_nodes() = default;

  /// The listening end.
  side& far() {
    if (!far_) {
      far_ = std::make_unique<side>(far_options_, far_types_, more_families_, far_config_);
      address_ = far_->home->addresses().front();
    }
    return *far_;
  }

  /// The dialing end.
  side& near() {
    if (!near_)
      near_ = std::make_unique<side>(near_options_, near_types_, more_families_, near_config_);
    return *near_;
  }

  link& connect(const link_options& options = {}) {
    far();
    auto connected = near().home->connect(address_, options);
    if (!connected)
      throw std::runtime_error(connected.error().message());
    link_.emplace(*std::move(connected));
    return *link_;
  }

  caf::actor publish(const std::string& name, caf::actor actor) {
    auto published = far().home->publish(name, actor);
    EXPECT_TRUE(published) << published.error().message();
    return actor;
  }

  caf::actor find(const std::string& name) {
    auto found = link_->find(name);
    if (!found)
      throw std::runtime_error(found.error().message());
    return *found;
  }

  /// Waits until all messages in flight have arrived and the store that both ends share has no objects left.
  bool store_empties() {
    return eventually([this] {
      auto summary = store::object_store{*near().home->store()}.summary();
      return summary && summary->objects == 0;
    });
  }

  std::string store_ = unique_name("two-nodes");
  /// The address at which the far end listens. Once it listens, this holds the port that the system chose.
  std::string address_ = "unix://@" + unique_name("troupe-test");
  std::function<void(type_registry&)> far_types_;
  std::function<void(type_registry&)> near_types_;
  std::function<void(family_set&)> more_families_; // At both ends.
  std::function<void(caf::actor_system_config&)> far_config_;
  std::function<void(caf::actor_system_config&)> near_config_;
  node_options far_options_{
      .name = "far", .listen = {address_}, .store = store::options{.name = store_, .capacity_bytes = 64_MiB}};
  node_options near_options_{.name = "near", .store = store::options{.name = store_, .capacity_bytes = 64_MiB}};
  std::unique_ptr<side> far_;
  std::unique_ptr<side> near_;
  std::optional<link> link_;
};

/// Sends a request from outside any actor. Returns the value or the error.
template <class Result, class... Arguments>
std::expected<Result, caf::error> ask(caf::actor_system& system, const caf::actor& whom, Arguments&&... arguments) {
  caf::scoped_actor self{system};
  std::expected<Result, caf::error> result = std::unexpected{caf::error{}};
  self->request(whom, 10s, std::forward<Arguments>(arguments)...)
      .receive([&](Result& value) { result = std::move(value); },
               [&](caf::error& error) { result = std::unexpected{std::move(error)}; });
  return result;
}

template <class Result>
std::string text_of(const std::expected<Result, caf::error>& result) {
  return result ? "a value" : troupe::text_of(result.error());
}

} // namespace troupe::tests
