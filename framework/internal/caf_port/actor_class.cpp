#include <troupe/framework/internal/caf_port/actor_class.hpp>

#include <string_view>
#include <typeinfo>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>

#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::internal {

namespace {

/// The first argument of a template, whose text begins behind the '<'.
std::string_view first_argument(std::string_view arguments) {
  int depth = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (depth == 0 && (arguments[i] == ',' || arguments[i] == '>'))
      return arguments.substr(0, i);
    depth += arguments[i] == '<' ? 1 : arguments[i] == '>' ? -1 : 0;
  }
  return arguments;
}

} // namespace

std::string class_of(const caf::strong_actor_ptr& actor) {
  if (!actor || as_proxy(actor) != nullptr)
    return {};
  constexpr std::string_view stateful = "caf::stateful_actor<";
  const auto& itself = *caf::actor_cast<caf::abstract_actor*>(actor);
  const auto text = detail::type_text(typeid(itself));
  if (text.starts_with(stateful))
    return std::string{first_argument(std::string_view{text}.substr(stateful.size()))};
  return text.starts_with("caf::") ? text.substr(0, text.find('<')) : text;
}

} // namespace troupe::internal
