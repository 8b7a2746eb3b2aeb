#include <troupe/framework/actor_codecs.hpp>

#include <caf/message.hpp>
#include <caf/message_builder.hpp>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>

namespace troupe::internal {

std::expected<actor_form, serialize_error> reduce_actor(const caf::strong_actor_ptr& actor, const context& ctx) {
  auto extension = required_mentions(ctx, "an actor handle");
  if (!extension)
    return std::unexpected{std::move(extension).error()};
  auto mention = (*extension)->mention(to_handle(actor));
  if (!mention)
    return std::unexpected{std::move(mention).error()};
  return actor_form{*mention};
}

std::expected<caf::strong_actor_ptr, serialize_error> rebuild_actor(const actor_form& from, const context& ctx) {
  auto extension = required_mentions(ctx, "an actor handle");
  if (!extension)
    return std::unexpected{std::move(extension).error()};
  auto mentioned = (*extension)->mentioned(from.mention);
  if (!mentioned)
    return std::unexpected{std::move(mentioned).error()};
  return to_actor(*std::move(mentioned));
}

error_form reduce_error(const caf::error& error) {
  if (!error)
    return {};
  error_form form{.code = error.code(), .category = caf::to_string(error.category()), .context = {}};
  const auto& context = error.context();
  for (std::size_t i = 0; i < context.size(); ++i)
    form.context.push_back(context.match_element<std::string>(i) ? context.get_as<std::string>(i)
                                                                 : context.stringify(i));
  return form;
}

caf::error rebuild_error(error_form&& from) {
  if (from.code == 0)
    return {};
  caf::message_builder context;
  for (auto& text : from.context)
    context.append(std::move(text));
  return caf::error{from.code, caf::atom_from_string(from.category), context.move_to_message()};
}

} // namespace troupe::internal
