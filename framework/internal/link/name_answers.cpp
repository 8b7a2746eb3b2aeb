#include <troupe/framework/internal/link/name_answers.hpp>

#include <functional>
#include <string>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// At this number of names the peer is told of changes of all names instead.
constexpr std::size_t found_max = 16'384;

} // namespace

void name_answers::on_find(const find_query& query) {
  found answer{.query = query.query, .actor = 0, .interface = {}};
  // The empty name is that of no actor: the peer asks for it to measure the round trip.
  const auto is_refused = !hides_all_ && !query.name.empty() && !may_find(link_.agreed().rights, query.name);
  if (is_refused)
    answer.refusal = refusal();
  auto actor = hides_all_ || is_refused ? nullptr : book_.find(query.name);
  if (actor && !actors_.can_name(itself(actor))) {
    link_.log.warn([&] {
      return "\"" + cut(query.name) + "\" is not shown to " + link_.peer_name() + ": " + actor_names::why_not_named();
    });
    actor = nullptr;
  }
  if (actor) {
    const auto interface = caf::actor_cast<caf::abstract_actor*>(actor)->message_types();
    answer.interface.assign(interface.begin(), interface.end());
    const auto name = actors_.name(itself(actor));
    answer.actor = name.number;
    answer.readers = name.whose == actor_name::side::yours;
    if (found_.size() < found_max)
      found_.insert(std::hash<std::string>{}(query.name));
  }
  link_.log.say(log_level::debug, [&] {
    return link_.peer_name() + " asks for \"" + cut(query.name) + "\": "
           + (is_refused          ? "it may not find that name"
              : answer.actor == 0 ? "nothing of that name"
                                  : "actor " + grouped(answer.actor));
  });
  link_.admin.send(admin_op::found, answer);
}

/// The same whether or not the name is published.
std::string name_answers::refusal() const {
  const auto& role = link_.agreed().role;
  return role.empty() ? "its end of the link must have allow_find for this name"
                      : "its accepted_links.roles must give allow_find for this name to the role \"" + role
                            + "\", which this end has there";
}

void name_answers::tell_change(const std::string& name) {
  if (hides_all_ || !may_find(link_.agreed().rights, name) || !link_.agreed().features.has(feature::name_news))
    return;
  if (found_.size() >= found_max || found_.contains(std::hash<std::string>{}(name)))
    link_.admin.send(admin_op::name_changed, name_changed{name});
}

} // namespace troupe::internal
