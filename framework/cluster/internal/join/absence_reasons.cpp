#include <troupe/framework/cluster/internal/join/absence_reasons.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

namespace troupe::membership {

namespace {

struct words_for_errors {
  std::string_view kind;     // "service"
  std::string_view provides; // "member publishes"
  std::string_view provide;  // "members publish"
};

words_for_errors words_of(const sought& what) {
  switch (what.what) {
  case sought::kind::singleton:
    return {"singleton", "owns", "own"};
  case sought::kind::entities:
    return {"entities", "hosts", "host"};
  case sought::kind::service:
    break;
  }
  return {"service", "publishes", "publish"};
}

} // namespace

std::string sought::published_name() const {
  switch (what) {
  case kind::singleton:
    return published_singleton(name);
  case kind::entities:
    return region_name(name);
  case kind::service:
    break;
  }
  return name;
}

std::string absence_reasons::title_of(const sought& what) {
  return std::string{words_of(what).kind} + ' ' + what.name;
}

std::string absence_reasons::of(const sought& what, const view_follower& seen) const {
  constexpr std::size_t named_most = 8;
  constexpr std::size_t name_bytes_max = 256;
  const auto words = words_of(what);
  const auto published = what.published_name();
  const auto has_names = of_.where.is_writable();
  std::size_t shards = 0;
  auto providers = seen.with_view([&](const cluster_view& view) {
    if (what.what == sought::kind::entities)
      shards = static_cast<std::size_t>(std::ranges::count_if(view.shard_owners(what.name), &std::string::empty));
    if (what.what == sought::kind::singleton) {
      const auto owner = view.owner(what.name);
      return owner ? std::vector{*owner} : std::vector<cluster_member>{};
    }
    return has_names ? view.providers(published) : view.members();
  });
  std::vector<std::pair<std::string, std::string>> reasons; // Members, and why they cannot be used.
  if (const auto own = of_.own.find(published)) {
    std::erase_if(providers, [this](const auto& one) { return one.name == of_.self; });
    auto why = against_own(*own, what);
    reasons.emplace_back("this process", why.empty() ? "it drains" : std::move(why));
  }
  for (const auto& one : providers)
    reasons.emplace_back(one_line(one.name, name_bytes_max), against(one, what));
  auto text = reasons.empty() ? "no member " + std::string{words.provides} + " it"
                              : grouped(reasons.size()) + (reasons.size() == 1 ? " member " : " members ")
                                    + std::string{reasons.size() == 1 ? words.provides : words.provide} + " it: ";
  if (!has_names)
    text = reasons.empty()
               ? "the directory names no member"
               : grouped(reasons.size()) + (reasons.size() == 1 ? " member was" : " members were") + " asked for it: ";
  for (std::size_t i = 0; i < std::min(reasons.size(), named_most); ++i)
    text += (i == 0 ? "" : ", ") + reasons[i].first + " (" + reasons[i].second + ')';
  if (reasons.size() > named_most)
    text += " and " + grouped(reasons.size() - named_most) + " more";
  if (shards > 0)
    text += "; " + grouped(shards) + (shards == 1 ? " shard has" : " shards have") + " no owner";
  if (const auto trouble = seen.trouble())
    text += "; the directory does not answer: " + trouble->message();
  else if (const auto of_list = of_.where.trouble())
    text += "; " + of_list->message();
  return text;
}

std::string absence_reasons::against(const cluster_member& provider, const sought& what) const {
  if (const auto why = of_.handles.problem(provider.name, what.published_name()); why.code() != node_errc::none)
    return why.message();
  if (provider.name == of_.self) // Its actor has ended, or its entry is about to go.
    return "this process has withdrawn it";
  return of_.problems.find("member " + provider.name).value_or("not connected yet");
}

std::string absence_reasons::against_own(const caf::actor& own, const sought& what) const {
  if (what.interface.empty()) // Accepts any actor, although by CAF's rule a typed actor does not match.
    return {};
  const auto offered = caf::actor_cast<caf::abstract_actor*>(own)->message_types();
  if (of_.system.assignable(offered, what.interface))
    return {};
  return "\"" + what.name + "\" in this process does not have the requested interface: it has "
         + grouped(offered.size()) + " kinds of messages, the request has " + grouped(what.interface.size());
}

} // namespace troupe::membership
