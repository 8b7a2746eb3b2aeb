#include <troupe/framework/gateway/internal/messages/actor_shelf.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace troupe::web {

namespace {

std::string list_of(const std::vector<std::string>& aliases) {
  std::string text = "(";
  for (const auto& alias : aliases)
    text += (text.size() > 1 ? ", " : "") + alias;
  return text + ")";
}

/// Whether the value is of that type, or is that atom.
bool is_of(const json_value& value, const std::string& alias) {
  if (!alias.starts_with('\''))
    return value.alias == alias;
  return value.alias == "caf.atom" && value.text == json_text(alias.substr(1, alias.size() - 2));
}

} // namespace

std::expected<void, refusal> exposed_actor::check(const std::vector<json_value>& message) const {
  if (how.messages.empty())
    return {};
  const auto fits = [&](const exposed_message& known) { return std::ranges::equal(message, known.takes, is_of); };
  if (std::ranges::any_of(how.messages, fits))
    return {};
  std::vector<std::string> aliases;
  for (const auto& value : message)
    aliases.push_back(value.alias == "caf.atom" ? shortened(value.text) : shortened(value.alias));
  std::string text = "the actor does not take " + list_of(aliases) + "; it takes ";
  for (const auto& known : how.messages)
    text += (&known == &how.messages.front() ? "" : ", ") + list_of(known.takes);
  return std::unexpected{refusal{.status = 422, .code = "interface_mismatch", .text = std::move(text)}};
}

void actor_shelf::expose(const std::string& name, std::shared_ptr<const exposed_actor> actor) {
  const std::unique_lock guard{mutex_};
  actors_[name].swap(actor); // The old one is released without the lock.
}

bool actor_shelf::withdraw(std::string_view name) {
  std::shared_ptr<const exposed_actor> old; // Released without the lock.
  const std::unique_lock guard{mutex_};
  const auto found = actors_.find(name);
  if (found == actors_.end())
    return false;
  old = std::move(found->second);
  actors_.erase(found);
  return true;
}

std::expected<std::shared_ptr<const exposed_actor>, refusal> actor_shelf::find(std::string_view name) const {
  const std::shared_lock guard{mutex_};
  const auto found = actors_.find(name);
  if (found != actors_.end())
    return found->second;
  return std::unexpected{
      refusal{.status = 404, .code = "not_found", .text = "no actor is exposed as \"" + std::string(name) + "\""}};
}

actor_shelf::all_actors actor_shelf::all() const {
  const std::shared_lock guard{mutex_};
  return actors_;
}

} // namespace troupe::web
