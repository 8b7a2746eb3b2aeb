#include "cluster/process_tellers.hpp"

#include "peers/small_messages.hpp"

#include <unistd.h>

#include <caf/all.hpp>

#include <troupe/framework/node_error.hpp>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto unchanged_for = 500ms; // Shards that are to move do so one after the other, much faster than this.

} // namespace

caf::behavior telling_its_process() {
  return {[](int) { return static_cast<int>(::getpid()); }};
}

std::expected<int, std::string> process_of(member_node& by, const caf::actor& teller) {
  std::expected<int, std::string> process;
  caf::scoped_actor self{by.system()};
  self->request(teller, 1min, 0)
      .receive([&](int number) { process = number; },
               [&](const caf::error& why) { process = std::unexpected{troupe::text_of(why)}; });
  return process;
}

std::expected<void, std::string> host_tellers(member_node& in) {
  const troupe::entity_options options{.idle_after = 0ms}; // They stay.
  const auto hosted = in.cluster().host_entities(
      tellers_kind,
      [](caf::actor_system& system, const troupe::entity_context&) { return system.spawn(telling_its_process); },
      options);
  if (!hosted)
    return std::unexpected{hosted.error().message()};
  std::size_t owned = 0;
  auto since = bench_clock::now();
  const auto has_settled = [&] {
    const auto now = in.cluster().stats();
    if (now.shards != options.shards || now.shards_owned != owned) {
      owned = now.shards_owned;
      since = bench_clock::now();
    }
    return owned > 0 && bench_clock::now() - since > unchanged_for;
  };
  return wait_until(has_settled, "an owner of each shard");
}

} // namespace bench
