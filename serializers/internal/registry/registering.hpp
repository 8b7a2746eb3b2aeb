// The templates of type_entry and type_registry: everything that is made for a type, and the conversion of users'
// codecs into the form that entries keep.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <troupe/serializers/internal/coding/part_access.hpp>
#include <troupe/serializers/internal/payload/generic.hpp>
#include <troupe/serializers/internal/shape/self_contained.hpp>
#include <troupe/serializers/internal/typed/schema.hpp>
#include <troupe/serializers/internal/typed/typed_walk.hpp>
#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::detail {

/// The result type of a user's codec, whether plain or `expected`.
template <class Result>
struct codec_result {
  using value = Result;
};
template <class Value>
struct codec_result<std::expected<Value, serialize_error>> {
  using value = Value;
};

/// The type that a user's codec makes, whether it makes a value or a pointer.
template <class Value>
struct made_value {
  using type = Value;
  static constexpr bool is_pointer = false;
};
template <class T>
struct made_value<std::unique_ptr<T>> {
  using type = T;
  static constexpr bool is_pointer = true;
};

/// Calls the codec with the context if the codec takes one, else without.
template <class Codec, class Argument>
decltype(auto) call_codec(const Codec& codec, Argument&& argument, const context& ctx) {
  if constexpr (std::invocable<const Codec&, Argument, const context&>)
    return codec(std::forward<Argument>(argument), ctx);
  else
    return codec(std::forward<Argument>(argument));
}

template <class Codec, class Argument>
using called = typename codec_result<std::remove_cvref_t<decltype(call_codec(
    std::declval<const Codec&>(), std::declval<Argument>(), std::declval<const context&>()))>>::value;

/// Puts the result of a codec into its place.
template <class T, class Made>
std::expected<void, serialize_error> put_made(placing how, void* place, Made&& made) {
  using value = std::remove_cvref_t<Made>;
  if constexpr (made_value<value>::is_pointer) {
    if (how == placing::make) {
      if (!made)
        return failure(serialize_errc::codec_failed, "its codec made a null pointer");
      *static_cast<void**>(place) = made.release();
      return {};
    }
    return failure(serialize_errc::not_supported,
                   type_text(typeid(T)) + " has a codec for pointers to it, and is none here");
  } else {
    if (how == placing::make)
      *static_cast<void**>(place) = new T(std::move(made));
    else if (how == placing::construct)
      ::new (place) T(std::move(made));
    else
      return put_value(*static_cast<T*>(place), T(std::move(made)));
    return {};
  }
}

template <class T, class To, class From>
std::shared_ptr<stand_in> make_stand_in(To to, From from, std::shared_ptr<const type_entry> form_entry) {
  using form = called<To, const T&>;
  using made = called<From, form&&>;
  auto codec = std::make_shared<stand_in>();
  codec->form = std::move(form_entry);
  codec->makes_pointers = made_value<made>::is_pointer;
  codec->reduce = [to = std::move(to)](const void* value,
                                       const context& ctx) -> std::expected<std::shared_ptr<void>, serialize_error> {
    std::expected<form, serialize_error> reduced = call_codec(to, *static_cast<const T*>(value), ctx);
    if (!reduced)
      return std::unexpected(std::move(reduced.error()));
    return std::make_shared<form>(std::move(*reduced));
  };
  codec->rebuild = [from = std::move(from)](placing how, void* place, void* reduced,
                                            const context& ctx) -> std::expected<void, serialize_error> {
    std::expected<made, serialize_error> rebuilt = call_codec(from, std::move(*static_cast<form*>(reduced)), ctx);
    if (!rebuilt)
      return std::unexpected(std::move(rebuilt.error()));
    return put_made<T>(how, place, std::move(*rebuilt));
  };
  return codec;
}

} // namespace troupe::detail

namespace troupe {

template <class T>
type_entry::type_entry(std::in_place_type_t<T>, std::string alias, std::optional<own_codec> own)
    : alias_(std::move(alias)),
      info_(typeid(T)),
      type_(typeid(T)),
      size_bytes_(sizeof(T)),
      alignment_bytes_(alignof(T)),
      value_bytes_(&detail::new_value_bytes<T>),
      own_(std::move(own)) {
  life_.allocate = &detail::new_memory<T>::allocate;
  life_.release = &detail::new_memory<T>::release;
  if constexpr (std::is_default_constructible_v<T>)
    life_.construct = [](void* at) { ::new (at) T(); };
  if constexpr (std::is_default_constructible_v<T> && std::is_move_assignable_v<T>)
    life_.reset = [](void* at) { *static_cast<T*>(at) = T(); };
  else if constexpr (std::is_nothrow_default_constructible_v<T>)
    life_.reset = [](void* at) { std::destroy_at(static_cast<T*>(at)), ::new (at) T(); };
  else
    life_.reset = [](void*) {};
  if constexpr (std::is_class_v<T> && (std::has_virtual_destructor_v<T> || !std::is_abstract_v<T>))
    life_.share = [](void* made) -> std::shared_ptr<void> { return std::shared_ptr<void>(static_cast<T*>(made)); };
  if constexpr (described<T>)
    detail::each_base<T>([this]<class Base>(const Base*) {
      bases_.push_back({.type = typeid(Base),
                        .of = [](void* derived) -> void* { return static_cast<Base*>(static_cast<T*>(derived)); }});
    });
  life_.destroy = [](void* at) { static_cast<T*>(at)->~T(); };
  if constexpr (detail::copyable<T>())
    life_.copy = [](void* at, const void* source) { ::new (at) T(*static_cast<const T*>(source)); };
  if constexpr (std::move_constructible<T>)
    life_.move = [](void* at, void* source) { ::new (at) T(std::move(*static_cast<T*>(source))); };
  codecs_.consists_of = &detail::node_of<T>;
  if constexpr (detail::self_contained<T>())
    if (!own_) {
      held_bytes_ = [](const void* value) {
        return detail::held_bytes<detail::held::all>(*static_cast<const T*>(value));
      };
      owned_bytes_ = [](const void* value) {
        return detail::held_bytes<detail::held::owned>(*static_cast<const T*>(value));
      };
    }
  parts_ = detail::part_access_of<T>();
  auto layout = detail::layout_of(detail::node_of<T>);
  unsupported_ = std::move(layout.unsupported);
  foreign_ = std::move(layout.foreign);
  schema_ = std::move(layout.bytes);
  fingerprint_ = detail::fingerprint_of(schema_);
  codecs_.typed_write = [](detail::typed_writer& to, const void* value) {
    return detail::typed_write(to, *static_cast<const T*>(value));
  };
  codecs_.typed_read = [](detail::typed_reader& from, void* target) {
    return detail::read_into<T>(from, target, detail::reading_into<detail::typed_source>(from));
  };
  codecs_.visit_write = [](value_writer& to, const void* value) {
    return detail::visit_write(to, *static_cast<const T*>(value));
  };
  codecs_.visit_read = [](value_reader& from, void* target) {
    return detail::read_into<T>(from, target, detail::reading_into<detail::visit_source>(from));
  };
}

template <class Part>
std::shared_ptr<const type_entry> detail::part_entry() {
  return std::make_shared<type_entry>(std::in_place_type<Part>, label_of<Part>(), std::nullopt);
}

template <class T>
void type_registry::set_stand_in(std::shared_ptr<detail::stand_in> made, bool registered) {
  if (registered)
    stand_ins_->put(typeid(T), std::move(made));
  else
    stand_ins_->add(typeid(T), std::move(made));
}

template <class T, class ToFrames, class FromFrames>
type_registry& type_registry::add(std::string alias, ToFrames to_frames, FromFrames from_frames, std::string family) {
  const auto from_form = [from_frames](own_form&& form, const context& ctx) {
    return from_frames(std::span<const std::byte>(form.header), std::span<const frame>(form.frames), ctx);
  };
  using made = detail::called<decltype(from_form), own_form&&>;
  own_codec alone;
  alone.family = std::move(family);
  alone.makes_pointers = detail::made_value<made>::is_pointer;
  alone.to_frames = [to_frames](const void* value, const context& ctx) -> std::expected<own_form, serialize_error> {
    return to_frames(*static_cast<const T*>(value), ctx);
  };
  alone.from_frames = [from_frames](void* target, std::span<const std::byte> header, std::span<const frame> frames,
                                    const context& ctx) -> std::expected<void, serialize_error> {
    std::expected<made, serialize_error> value = from_frames(header, frames, ctx);
    if (!value)
      return std::unexpected(std::move(value.error()));
    constexpr auto how = std::is_default_constructible_v<T> ? detail::placing::assign : detail::placing::construct;
    return detail::put_made<T>(how, target, std::move(*value));
  };
  const bool is_known = find<T>() != nullptr;
  insert(std::make_unique<type_entry>(std::in_place_type<T>, std::move(alias), std::move(alone)));
  if constexpr (detail::shape_of<T> == detail::shape::unsupported)
    if (!is_known)
      set_stand_in<T>(detail::make_stand_in<T>(std::move(to_frames), from_form, form_entry<own_form>()), false);
  return *this;
}

template <class T, class To, class From>
type_registry& type_registry::register_serializer(To to, From from) {
  static_assert(detail::shape_of<T> == detail::shape::unsupported,
                "the type is described or has a codec already, which counts wherever it stands: give it a codec<T>, or "
                "wrap it in a type of your own");
  using form = detail::called<To, const T&>;
  static_assert(detail::shape_of<form> != detail::shape::unsupported,
                "what `to` gives must be able to travel: a described struct, a tuple, a container, ...");
  static_assert(std::is_same_v<typename detail::made_value<detail::called<From, form&&>>::type, T>,
                "`from` must give a T, or a std::unique_ptr<T>");
  const auto entry = form_entry<form>();
  set_stand_in<T>(detail::make_stand_in<T>(std::move(to), std::move(from), entry), true);
  // Checked only now, because the form may hold further values of the type.
  if (const auto why = entry->unsupported(); !why.empty()) {
    deregister_serializer<T>();
    throw registration_error("the form of " + detail::type_text(typeid(T)) + " cannot travel: " + why);
  }
  return *this;
}

template <described T>
type_registry& type_registry::register_generic(std::string alias, std::string family) {
  static_assert(std::is_default_constructible_v<T>, "attributes are read into a value that exists already");
  auto codec = detail::generic_codec(detail::attributes_of<T>());
  codec.family = std::move(family);
  insert(std::make_unique<type_entry>(std::in_place_type<T>, std::move(alias), std::move(codec)));
  return *this;
}

template <class T>
std::shared_ptr<const type_entry> type_registry::unlisted_entry(std::string alias) const {
  auto entry = std::make_shared<type_entry>(std::in_place_type<T>, std::move(alias), std::nullopt);
  entry->stand_ins_ = stand_ins_;
  return entry;
}

// The table owns such an entry through the codec. Therefore the entry must not own the table. Otherwise neither would
// ever be destroyed.
template <class T>
std::shared_ptr<const type_entry> type_registry::form_entry() const {
  auto entry = std::make_shared<type_entry>(std::in_place_type<T>, detail::label_of<T>(), std::nullopt);
  entry->stand_ins_ = std::shared_ptr<detail::stand_in_table>(std::shared_ptr<void>(), stand_ins_.get());
  return entry;
}

} // namespace troupe
