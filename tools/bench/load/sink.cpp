#include "bench/load/sink.hpp"

#include "bench/ends.hpp"
#include "bench/families.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::tools {

namespace {

/// A peer that opens ever more actors would fill the memory.
constexpr std::size_t sink_actors_most = 10'000;

caf::behavior sink_opener(caf::event_based_actor* self, const std::vector<std::string>& families,
                          const std::shared_ptr<sink_account>& account) {
  return {[=](open_atom, const std::string& family, bool is_answered) -> caf::result<caf::actor> {
    if (std::ranges::find(families, family) == families.end())
      return to_caf_error({node_errc::refused_family,
                           fmt::format("the sink does not serve {0}, only {1}; start it with --families {2},{0}",
                                       family, fmt::join(families, ", "), fmt::join(families, ","))});
    if (account->actors >= sink_actors_most)
      return to_caf_error(
          {node_errc::not_allowed, fmt::format("the sink has {} connections already", grouped(sink_actors_most))});
    const auto& kind = ends_for(family);
    return is_answered ? kind.spawn_load_echoer(self->system(), account)
                       : kind.spawn_load_consumer(self->system(), account);
  }};
}

} // namespace

load_sink::load_sink(const sink_options& options) : account_(std::make_shared<sink_account>(options.stalls)) {
  std::vector<std::string> aliases;
  for (const auto& each : options.families) {
    const auto& kind = ends_for(each);
    if (std::ranges::find(aliases, kind.alias()) != aliases.end())
      continue;
    kind.add_type(types_);
    aliases.emplace_back(kind.alias());
  }
  add_families(families_);
}

std::expected<std::unique_ptr<load_sink>, node_error> load_sink::open(const sink_options& options) {
  std::unique_ptr<load_sink> made{new load_sink{options}};
  const auto opener = made->system_.spawn(sink_opener, options.families, made->account_);
  auto accepted = link_options_of(options.access, options.families);
  accepted.credentials.tls.require_client_certificate = !accepted.credentials.tls.authority_file.empty();
  auto opened = node::open(made->system_, made->types_, made->families_,
                           {.name = "troupe bench sink",
                            .listen = options.addresses,
                            .publish = std::vector<publication>{{opener_name, opener}},
                            .accepted_links = std::move(accepted),
                            .store = std::nullopt,
                            .io_threads = options.access.io_threads});
  if (!opened)
    return std::unexpected{opened.error()};
  made->node_.emplace(*std::move(opened));
  return made;
}

} // namespace troupe::tools
