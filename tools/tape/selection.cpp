#include "tape/selection.hpp"

#include <algorithm>

namespace troupe::tools {

namespace {

bool is(const tape_actor& actor, const std::string& wanted) {
  return actor.number != 0 && (actor.name == wanted || std::to_string(actor.number) == wanted);
}

bool is_type(const std::string& alias, const std::string& wanted) {
  return wanted.ends_with('*') ? alias.starts_with(wanted.substr(0, wanted.size() - 1)) : alias == wanted;
}

} // namespace

bool tape_selection::contains(const tape_message& message) const {
  const auto seconds = std::chrono::duration<double>(message.at).count();
  return (actor.empty() || is(message.from, actor) || is(message.to, actor))
         && (type.empty()
             || std::ranges::any_of(message.elements, [&](const auto& each) { return is_type(each.type, type); }))
         && (!link || message.link == *link) && (!since_seconds || seconds >= *since_seconds)
         && (!until_seconds || seconds <= *until_seconds);
}

} // namespace troupe::tools
