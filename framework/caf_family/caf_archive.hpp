// caf_writer and caf_reader: a serializer and a deserializer of CAF's over this project's buffers and frames.
//
// The bytes are those of caf::binary_serializer. Archives of our own and not CAF's, because these write where the bytes
// will leave from, charge sizes before anything is allocated, bound recursion, and let handles of actors inside a value
// travel as the link carries them. They hide operator() and apply() of CAF's base class, so that whatever an inspect
// function hands over is seen with its type; and what CAF would leave out without a word, since it is on its list of
// unsafe types, does not compile here.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <caf/deserializer.hpp>
#include <caf/error.hpp>
#include <caf/message.hpp>
#include <caf/meta/annotation.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/save_callback.hpp>
#include <caf/sec.hpp>
#include <caf/serializer.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/actor_codecs.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/serializers/coding.hpp>
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/internal/coding/common.hpp>
#include <troupe/serializers/internal/shape/parts.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>

namespace troupe {

namespace detail {

template <class Archive, class... Parts>
caf::error apply_each(Archive& archive, Parts&&... parts);
template <class Archive, class T>
caf::error apply_to(Archive& archive, T& value);

} // namespace detail

/// What neither archive carries.
inline constexpr std::string_view network_only = "has something in it that CAF carries on its own network only: a "
                                                 "message, a group, or an actor's handle in an inspect "
                                                 "that is written for CAF's serializers alone";

/// Appends to an output's body. Steps give an error once anything failed; why is in the coding state.
class TROUPE_EXPORT caf_writer final : public encoding, public caf::serializer {
public:
  using caf::serializer::context; // For inspect functions; no execution unit.

  caf_writer(const troupe::context& ctx, encode_output& output) : encoding(ctx), output_(output) {}

  template <class... Parts>
  caf::error operator()(Parts&&... parts) {
    return detail::apply_each(*this, parts...);
  }
  template <class T>
  caf::error apply(T& value) {
    return detail::apply_to(*this, value);
  }
  /// What CAF itself does with types that it knows.
  template <class T>
  caf::error apply_as_caf(T& value) {
    return caf::serializer::apply(value);
  }

  /// How many elements follow, each of which takes that much memory where it is read; weighed.
  caf::error write_count(std::size_t count, std::size_t element_bytes);
  /// The frame leaves behind the body; the reader takes frames in the same order.
  void attach(const frame& attached) { output_.attach(attached); }
  /// Sets the failure, and gives CAF one.
  [[gnu::cold]] caf::error refuse(serialize_errc code, std::string reason);

  caf::error begin_object(std::uint16_t& number, std::string& name) override;
  caf::error end_object() override;
  caf::error begin_sequence(std::size_t& count) override;
  caf::error end_sequence() override;
  caf::error apply_raw(std::size_t size_bytes, void* data) override;

protected:
  caf::error apply_impl(std::int8_t& value) override;
  caf::error apply_impl(std::uint8_t& value) override;
  caf::error apply_impl(std::int16_t& value) override;
  caf::error apply_impl(std::uint16_t& value) override;
  caf::error apply_impl(std::int32_t& value) override;
  caf::error apply_impl(std::uint32_t& value) override;
  caf::error apply_impl(std::int64_t& value) override;
  caf::error apply_impl(std::uint64_t& value) override;
  caf::error apply_impl(float& value) override;
  caf::error apply_impl(double& value) override;
  caf::error apply_impl(long double& value) override;
  caf::error apply_impl(std::string& value) override;
  caf::error apply_impl(std::u16string& value) override;
  caf::error apply_impl(std::u32string& value) override;

private:
  encode_output& output_;
};

/// Reads a body. What the archive itself does withstands any bytes; what the types' own functions do with what they get
/// is theirs.
class TROUPE_EXPORT caf_reader final : public decoding, public caf::deserializer {
public:
  using caf::deserializer::context; // For inspect functions; no execution unit.

  /// `frames` are the body and those behind it.
  caf_reader(const troupe::context& ctx, std::span<const frame> frames);

  template <class... Parts>
  caf::error operator()(Parts&&... parts) {
    return detail::apply_each(*this, parts...);
  }
  template <class T>
  caf::error apply(T& value) {
    return detail::apply_to(*this, value);
  }
  template <class T>
  caf::error apply_as_caf(T& value) {
    return caf::deserializer::apply(value);
  }

  /// How many elements follow, each of which takes that much memory; charged.
  caf::error read_count(std::size_t& count, std::size_t element_bytes);
  caf::error take_frame(frame& to);
  /// Fails when bytes or frames are left over.
  caf::error finish();
  [[nodiscard]] std::size_t left() const { return body_.size(); }
  [[gnu::cold]] caf::error refuse(serialize_errc code, std::string reason);
  /// After a failure that is known already.
  [[nodiscard]] caf::error stop() const { return caf::sec::invalid_argument; }

  caf::error begin_object(std::uint16_t& number, std::string& name) override;
  caf::error end_object() override;
  caf::error begin_sequence(std::size_t& count) override;
  caf::error end_sequence() override;
  caf::error apply_raw(std::size_t size_bytes, void* data) override;

protected:
  caf::error apply_impl(std::int8_t& value) override;
  caf::error apply_impl(std::uint8_t& value) override;
  caf::error apply_impl(std::int16_t& value) override;
  caf::error apply_impl(std::uint16_t& value) override;
  caf::error apply_impl(std::int32_t& value) override;
  caf::error apply_impl(std::uint32_t& value) override;
  caf::error apply_impl(std::int64_t& value) override;
  caf::error apply_impl(std::uint64_t& value) override;
  caf::error apply_impl(float& value) override;
  caf::error apply_impl(double& value) override;
  caf::error apply_impl(long double& value) override;
  caf::error apply_impl(std::string& value) override;
  caf::error apply_impl(std::u16string& value) override;
  caf::error apply_impl(std::u32string& value) override;

private:
  template <class Number>
  caf::error take(Number& value);
  template <class Text>
  caf::error take_wide(Text& value);

  std::span<const std::byte> body_;
  std::span<const frame> frames_; // Behind the body, and not taken yet.
};

namespace detail {

/// Has a codec<T> of this project that carries it over links, where CAF's inspect would need a network of CAF's own, or
/// leave what nobody counts.
template <class T>
inline constexpr bool is_caf_handle = false;
template <>
inline constexpr bool is_caf_handle<caf::actor> = true;
template <>
inline constexpr bool is_caf_handle<caf::actor_addr> = true;
template <>
inline constexpr bool is_caf_handle<caf::strong_actor_ptr> = true;
template <class... Signatures>
inline constexpr bool is_caf_handle<caf::typed_actor<Signatures...>> = true;
template <>
inline constexpr bool is_caf_handle<caf::error> = true;
template <class T>
inline constexpr bool is_caf_handle<object_ref<T>> = true;

/// Classes with a form of CAF's own.
template <class T>
inline constexpr bool is_known_to_caf = false;
template <>
inline constexpr bool is_known_to_caf<std::string> = true;
template <>
inline constexpr bool is_known_to_caf<std::u16string> = true;
template <>
inline constexpr bool is_known_to_caf<std::u32string> = true;
template <>
inline constexpr bool is_known_to_caf<std::vector<bool>> = true;
template <class Rep, class Period>
inline constexpr bool is_known_to_caf<std::chrono::duration<Rep, Period>> = true;
template <class Clock, class Duration>
inline constexpr bool is_known_to_caf<std::chrono::time_point<Clock, Duration>> = true;

/// How the archives carry a type.
enum class caf_way {
  form,     // By its codec<T>.
  inspect,  // By its inspect.
  fields,   // By its description.
  attached, // A frame.
  sequence, // Count and elements.
  parts,    // Elements without a count: pairs, tuples, arrays.
  network,  // Not at all: a message, which CAF writes without a network, but does not read.
  builtin,  // As CAF does it: numbers, texts, enums, empty types, times, functions for its own serializers.
  none,
};

/// Becomes a serializer or deserializer of CAF's where a function wants just that; no template takes it for an
/// inspector.
template <class Base>
struct only_as {
  operator Base&() const;
};
/// Has an inspect for CAF's own classes. It counts: one for any inspector beside it may be there for printing only.
template <class T>
concept inspected_by_caf = requires(T& value) {
  inspect(only_as<caf::serializer>(), value);
  inspect(only_as<caf::deserializer>(), value);
};

template <class T>
consteval caf_way find_caf_way() {
  constexpr auto of = shape_of<T>;
  if constexpr (is_caf_handle<T>)
    return caf_way::form;
  else if constexpr (std::is_same_v<T, caf::message>)
    return caf_way::network;
  else if constexpr (std::is_pointer_v<T> || std::is_reference_v<T> || std::is_function_v<T>)
    return caf_way::none;
  else if constexpr (::caf::detail::has_serialize<T>::value || inspected_by_caf<T>)
    return caf_way::builtin;
  else if constexpr (::caf::detail::is_inspectable<caf_writer, T>::value
                     && ::caf::detail::is_inspectable<caf_reader, T>::value)
    return caf_way::inspect;
  else if constexpr (of == shape::structure)
    return caf_way::fields;
  else if constexpr (of == shape::hook && !std::is_enum_v<T> && !std::is_empty_v<T>)
    return caf_way::form;
  else if constexpr (of == shape::frame)
    return caf_way::attached;
  else if constexpr (of == shape::tuple || of == shape::fixed)
    return caf_way::parts;
  else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
    return caf_way::builtin;
  else if constexpr (std::is_empty_v<T>)
    return caf_way::builtin;
  else if constexpr (is_known_to_caf<T>)
    return caf_way::builtin;
  else if constexpr (::caf::detail::is_iterable<T>::value && of != shape::array && of != shape::record
                     && of != shape::path)
    return caf_way::sequence;
  else
    return caf_way::none;
}

template <class T>
inline constexpr caf_way caf_way_of = find_caf_way<T>();

/// The element of a sequence, as it is read before it goes in.
template <class T>
struct caf_element {
  using type = std::remove_const_t<T>;
};
template <class Key, class Value>
struct caf_element<std::pair<const Key, Value>> {
  using type = std::pair<Key, Value>;
};

/// Runs a step for the field or element of that name, which goes into the error's path.
caf::error apply_within(coding& state, const auto& place, caf::error stopped) {
  if (stopped)
    state.within(place);
  return stopped;
}

template <class Archive, class T>
caf::error apply_fields(Archive& archive, T& value) {
  using fields = fields_of<T>;
  caf::error stopped;
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    const auto step = [&](std::string_view name, auto& field) {
      stopped = apply_within(archive, name, archive.apply(field));
      return !stopped;
    };
    static_cast<void>((true && ... && step(fields::names[Index], value.*std::get<Index>(fields::members))));
  }
  (std::make_index_sequence<fields::count>{});
  return stopped;
}

template <class T>
caf::error apply_form(caf_writer& to, const T& value) {
  auto form = reduced(to, value);
  if (form)
    to.weigh(rebuilding_bytes<T>(*form));
  return form ? to.apply(*form) : caf::error(caf::sec::invalid_argument);
}

template <class T>
caf::error apply_form(caf_reader& from, T& value) {
  made<typename hook<T>::form> form(std::in_place);
  if (auto stopped = from.apply(*form))
    return stopped;
  auto whole = rebuilt<T>(from, *std::move(form));
  if (!whole)
    return from.stop();
  value = *std::move(whole);
  return {};
}

/// What each element of a sequence takes.
template <class T>
inline constexpr std::size_t caf_element_bytes =
    value_bytes<
        typename caf_element<typename T::value_type>::type> + (requires(T & of) { of.data(); } ? 0 : node_bytes);

template <class T>
caf::error apply_sequence(caf_writer& to, const T& values) {
  if (auto stopped = to.write_count(values.size(), caf_element_bytes<T>))
    return stopped;
  if constexpr (::caf::detail::is_byte_sequence<T>::value) {
    return to.apply_raw(values.size(), const_cast<typename T::value_type*>(values.data()));
  } else {
    std::size_t at = 0;
    for (auto& each : values) {
      using element = std::remove_const_t<typename T::value_type>;
      if (auto stopped = apply_within(to, at++, to.apply(const_cast<element&>(each))))
        return stopped;
    }
    return {};
  }
}

template <class T>
caf::error apply_sequence(caf_reader& from, T& values) {
  using element = typename caf_element<typename T::value_type>::type;
  std::size_t count = 0;
  if (auto stopped = from.read_count(count, caf_element_bytes<T>))
    return stopped;
  values.clear();
  if constexpr (::caf::detail::is_byte_sequence<T>::value) {
    if (count > from.left())
      return from.refuse(serialize_errc::malformed,
                         grouped(count) + " bytes wanted, " + grouped(from.left()) + " are left");
    values.resize(count);
    return from.apply_raw(count, values.data());
  } else {
    if constexpr (requires { values.reserve(count); })
      values.reserve(count);
    for (std::size_t at = 0; at < count; ++at) {
      made<element> read(std::in_place);
      auto& each = *read;
      if (auto stopped = apply_within(from, at, from.apply(each)))
        return stopped;
      if constexpr (hashed<T>) {
        const auto& key = [&]() -> const typename T::key_type& {
          if constexpr (requires { typename T::mapped_type; })
            return each.first;
          else
            return each;
        }();
        if (!charge_probes(from, values, key))
          return from.stop();
      }
      values.insert(values.end(), std::move(each));
    }
    if (static_cast<std::size_t>(std::distance(values.begin(), values.end())) != count)
      return from.refuse(serialize_errc::malformed, "the same key twice");
    return {};
  }
}

template <class Archive, class T>
caf::error apply_parts(Archive& archive, T& value) {
  caf::error stopped;
  const auto step = [&](std::size_t index, auto& part) {
    using type = std::remove_const_t<std::remove_reference_t<decltype(part)>>;
    stopped = apply_within(archive, index, archive.apply(const_cast<type&>(part)));
    return !stopped;
  };
  if constexpr (shape_of<T> == shape::tuple) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      static_cast<void>((true && ... && step(Index, std::get<Index>(value))));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    std::size_t at = 0;
    for (auto& each : value)
      if (!step(at++, each))
        break;
  }
  return stopped;
}

// Structures count for the depth: what contains itself does so by one.
template <class Archive, class T>
caf::error apply_entered(Archive& archive, T& value) {
  if (!archive.enter())
    return caf::sec::invalid_argument;
  caf::error stopped;
  if constexpr (caf_way_of<T> == caf_way::inspect)
    stopped = inspect(archive, value);
  else
    stopped = apply_fields(archive, value);
  if (!stopped)
    archive.leave();
  return stopped;
}

template <class Archive, class T>
caf::error apply_to(Archive& archive, T& value) {
  constexpr auto way = caf_way_of<T>;
  static_assert(way != caf_way::none,
                "the type has neither an inspect for any inspector, nor TROUPE_DESCRIBE or a codec<T>; CAF would not "
                "compile it, or leave it out");
  if constexpr (way == caf_way::form)
    return apply_form(archive, value);
  else if constexpr (way == caf_way::inspect || way == caf_way::fields)
    return apply_entered(archive, value);
  else if constexpr (way == caf_way::attached && Archive::reads_state)
    return archive.attach(value), caf::error();
  else if constexpr (way == caf_way::attached)
    return archive.take_frame(value);
  else if constexpr (way == caf_way::sequence)
    return apply_sequence(archive, value);
  else if constexpr (way == caf_way::parts)
    return apply_parts(archive, value);
  else if constexpr (way == caf_way::network)
    return archive.refuse(Archive::reads_state ? serialize_errc::not_supported : serialize_errc::malformed,
                          std::string(network_only));
  else
    return archive.apply_as_caf(value);
}

// What inspect functions hand over: values, callbacks, and annotations for printing.
template <class Archive, class... Parts>
caf::error apply_each(Archive& archive, Parts&&... parts) {
  caf::error stopped;
  [[maybe_unused]] const auto step = [&](auto& part) {
    using type = std::remove_const_t<std::remove_reference_t<decltype(part)>>;
    if constexpr (::caf::meta::is_save_callback<type>::value) {
      if constexpr (Archive::reads_state)
        stopped = part.fun();
    } else if constexpr (::caf::meta::is_load_callback<type>::value) {
      if constexpr (Archive::writes_state)
        stopped = part.fun();
    } else if constexpr (!::caf::meta::is_annotation<type>::value) {
      stopped = archive.apply(const_cast<type&>(part));
    }
    return !stopped;
  };
  static_cast<void>((true && ... && step(parts)));
  return stopped;
}

} // namespace detail
} // namespace troupe
