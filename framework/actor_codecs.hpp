// Codecs of CAF's own types: actor handles, atoms, errors, exit messages and unit. A value of such a type may be an
// element of a message, or lie anywhere inside a described type. Every family carries it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/atom.hpp>
#include <caf/error.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_actor.hpp>
#include <caf/unit.hpp>

#include <troupe/base/export.hpp>
#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

namespace internal {

/// An actor handle inside a payload: the actor's position, counted from 1, in the list of actors that this message
/// element mentions; 0 means no actor. A payload names no link, so it can be forwarded to another link unchanged.
struct actor_form {
  std::uint32_t mention = 0;
};
TROUPE_DESCRIBE(actor_form, mention)

/// An error: its code and category as in CAF, and the elements of its context as texts.
struct error_form {
  std::uint8_t code = 0;
  std::string category;
  std::vector<std::string> context;
};
TROUPE_DESCRIBE(error_form, code, category, context)

[[nodiscard]] TROUPE_EXPORT std::expected<actor_form, serialize_error> reduce_actor(const caf::strong_actor_ptr& actor,
                                                                                    const context& ctx);
[[nodiscard]] TROUPE_EXPORT std::expected<caf::strong_actor_ptr, serialize_error> rebuild_actor(const actor_form& from,
                                                                                                const context& ctx);
[[nodiscard]] TROUPE_EXPORT error_form reduce_error(const caf::error& error);
[[nodiscard]] TROUPE_EXPORT caf::error rebuild_error(error_form&& from);

/// The codec of every kind of actor handle. Links count handles, so handles travel in messages only. Elsewhere encoding
/// and decoding fail with serialize_errc::out_of_band_handle.
template <class Handle>
struct handle_codec {
  using form = actor_form;

  static std::expected<form, serialize_error> reduce(const Handle& actor, const context& ctx) {
    return reduce_actor(caf::actor_cast<caf::strong_actor_ptr>(actor), ctx);
  }

  static std::expected<Handle, serialize_error> rebuild(form&& from, const context& ctx) {
    auto actor = rebuild_actor(from, ctx);
    if (!actor)
      return std::unexpected{std::move(actor).error()};
    return caf::actor_cast<Handle>(*std::move(actor));
  }
};

} // namespace internal

template <>
struct codec<caf::actor> : internal::handle_codec<caf::actor> {};
template <>
struct codec<caf::actor_addr> : internal::handle_codec<caf::actor_addr> {};
template <>
struct codec<caf::strong_actor_ptr> : internal::handle_codec<caf::strong_actor_ptr> {};
template <class... Signatures>
struct codec<caf::typed_actor<Signatures...>> : internal::handle_codec<caf::typed_actor<Signatures...>> {};

/// An atom travels as its text. Decoding a text of more than 10 characters fails with serialize_errc::malformed.
template <>
struct codec<caf::atom_value> {
  using form = std::string;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const caf::atom_value& atom, const context&) {
    return caf::to_string(atom);
  }
  static std::expected<caf::atom_value, serialize_error> rebuild(form&& text, const context&) {
    constexpr std::size_t characters_max = 10;
    if (text.size() > characters_max)
      return std::unexpected{serialize_error{serialize_errc::malformed, "an atom has at most 10 characters, this one "
                                                                            + std::to_string(text.size())}};
    return caf::atom_from_string(text);
  }
};

template <>
/// The elements of an error's context arrive as texts.
struct codec<caf::error> {
  using form = internal::error_form;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const caf::error& error, const context&) {
    return internal::reduce_error(error);
  }
  static std::expected<caf::error, serialize_error> rebuild(form&& from, const context&) {
    return internal::rebuild_error(std::move(from));
  }
};

namespace internal {

/// An exit message: its source and its reason. The source is the actor that ended or that sent the message.
struct exit_form {
  caf::strong_actor_ptr source;
  caf::error reason;
};
TROUPE_DESCRIBE(exit_form, source, reason)

} // namespace internal

/// As the only element of a message, an exit message ends the receiving actor, if the options of the link allow that
/// (link_options::allow_exit).
template <>
struct codec<caf::exit_msg> {
  using form = internal::exit_form;
  static std::expected<form, serialize_error> reduce(const caf::exit_msg& exit, const context&) {
    return form{caf::actor_cast<caf::strong_actor_ptr>(exit.source), exit.reason};
  }
  static std::expected<caf::exit_msg, serialize_error> rebuild(form&& from, const context&) {
    return caf::exit_msg{caf::actor_cast<caf::actor_addr>(from.source), std::move(from.reason)};
  }
};

template <>
struct codec<caf::unit_t> {
  using form = bool;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const caf::unit_t&, const context&) { return true; }
  static std::expected<caf::unit_t, serialize_error> rebuild(form&&, const context&) { return caf::unit; }
};

} // namespace troupe
