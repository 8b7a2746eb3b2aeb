// caf_writer and caf_reader: a CAF serializer and a CAF deserializer over this project's buffers and frames.
//
// The bytes are those of caf::binary_serializer. Unlike CAF's own archives, these write straight into the output's
// buffers, charge sizes before anything is allocated, bound recursion, and carry actor handles inside a value as the
// link does. They hide operator() and apply() of CAF's base class, so that they see the type of every part that an
// inspect function passes. A type on CAF's list of unsafe types, which CAF would silently leave out, does not compile
// here.
//
// Threads: one at a time. Lifetime: context, output and frames must outlive the archive.
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
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
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

/// The reason why neither archive carries a part.
inline constexpr std::string_view network_only =
    "contains a value that CAF sends only on its own network: a message, a group, or an actor handle in an inspect "
    "that is written only for CAF's serializers";

/// Appends to an output's body. If a step has failed, this and all later steps return an error; the coding state has
/// the reason.
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
  /// Applies the value as CAF itself does. For types that CAF knows.
  template <class T>
  caf::error apply_as_caf(T& value) {
    return caf::serializer::apply(value);
  }

  /// Writes the number of elements that follow, and counts their weight: each takes `element_bytes` in the reader's
  /// memory.
  caf::error write_count(std::size_t count, std::size_t element_bytes);
  /// Attaches a frame, which travels after the body. The reader takes frames in the same order.
  void attach(const frame& attached) { output_.attach(attached); }
  /// Sets the failure, and returns an error for CAF.
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

/// Reads a body. The archive itself is safe with any input. The types' own functions are responsible for the values
/// that they get.
class TROUPE_EXPORT caf_reader final : public decoding, public caf::deserializer {
public:
  using caf::deserializer::context; // For inspect functions; no execution unit.

  /// `frames` are the body, followed by the attached frames.
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

  /// Reads the number of elements that follow, and charges for them: each takes `element_bytes` of memory.
  caf::error read_count(std::size_t& count, std::size_t element_bytes);
  caf::error take_frame(frame& to);
  /// Fails with serialize_errc::malformed if bytes or frames are left over.
  caf::error finish();
  [[nodiscard]] std::size_t left() const { return body_.size(); }
  [[gnu::cold]] caf::error refuse(serialize_errc code, std::string reason);
  /// The error for CAF, after a failure that is already set.
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
  std::span<const frame> frames_; // Attached frames that have not been taken yet.
};

namespace detail {

/// Types with a codec<T> of this project, which carries them over links. CAF's inspect for them would need CAF's own
/// network, or write uncounted handles.
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

/// Classes for which CAF has its own form.
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
  network,  // Refused: a message, which CAF writes without a network, but does not read.
  builtin,  // As CAF does it: numbers, texts, enums, empty types, times, functions for its own serializers.
  none,
};

/// Converts to CAF's serializer or deserializer if a function requires exactly that class. Templates do not accept it
/// as an inspector.
template <class Base>
struct only_as {
  operator Base&() const;
};
/// Whether there is an inspect for CAF's own classes. If so, it is used, because an inspect for any inspector may exist
/// for printing only.
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

/// The type as which an element of a sequence is read before it is inserted.
template <class T>
struct caf_element {
  using type = std::remove_const_t<T>;
};
template <class Key, class Value>
struct caf_element<std::pair<const Key, Value>> {
  using type = std::pair<Key, Value>;
};

/// Returns the outcome of a step. If the step failed, adds the field or element to the error's path.
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

/// The memory that each element of a sequence takes.
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

// Structures count toward the depth limit: a type that contains itself does so through a structure.
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

// The arguments that inspect functions pass: values, callbacks, and annotations for printing.
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
