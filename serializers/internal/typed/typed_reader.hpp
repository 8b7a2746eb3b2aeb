// Reads the `typed` family's compact form where the sender's layout is the reader's own. Layout: typed/format.md.
#pragma once

#include <cstring>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/taking.hpp>

namespace troupe::detail {

class schema_reader;

/// The cursor over the body and the frames behind it. Invariant: at_ <= end_, and nothing before at_ is read again.
class TROUPE_EXPORT typed_reader final : public decoding {
public:
  typed_reader(const troupe::context& ctx, std::span<const std::byte> body, std::span<const frame> frames,
               std::size_t received_bytes)
      : decoding(ctx, received_bytes), at_(body.data()), end_(body.data() + body.size()), frames_(frames) {}

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] bool need(std::size_t count) { return count <= left() || cut(count); }
  /// Requires: need().
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  [[nodiscard]] const std::byte* position() const { return at_; }
  /// Requires: left() > 0.
  [[nodiscard]] std::uint8_t peek() const { return std::to_integer<std::uint8_t>(*at_); }
  /// Requires: need().
  void advance(std::size_t count) { at_ += count; }
  [[nodiscard]] bool varint(std::uint64_t& value) {
    if (at_ != end_ && *at_ < std::byte{0x80}) [[likely]] {
      value = std::to_integer<std::uint64_t>(*at_++);
      return true;
    }
    return long_varint(value);
  }

  /// The counterpart of typed_writer::contiguous: the bytes, and the frame that they are when they came as one.
  struct block {
    std::span<const std::byte> bytes;
    const frame* whole = nullptr;
  };
  [[nodiscard]] bool contiguous(block& found, std::size_t element_bytes) {
    std::uint64_t head = 0;
    if (!varint(head))
      return false;
    const auto count = head >> 1;
    if ((head & 1) != 0) [[unlikely]]
      return from_frame(found, count, element_bytes);
    if (count > left() / element_bytes) [[unlikely]]
      return cut(count);
    found.bytes = {at_, static_cast<std::size_t>(count) * element_bytes};
    at_ += found.bytes.size();
    return true;
  }
  [[nodiscard]] bool next_frame(const frame*& found);

  /// A count of elements of at least `least_bytes` each; refused when the input is too short for them.
  [[nodiscard]] bool count(std::size_t& value, std::size_t least_bytes);
  /// Everything was used up.
  [[nodiscard]] bool finish();

  /// The same input for another decoder, which begins where this one stands; resume() goes on where it ended.
  typed_reader(const troupe::context& ctx, const typed_reader& from)
      : decoding(ctx, 0), at_(from.at_), end_(from.end_), frames_(from.frames_) {}
  void resume(const typed_reader& other) {
    at_ = other.at_;
    frames_ = other.frames_;
  }
  /// Reads what is of another version than here, by the layout that came with it. Made when first needed.
  [[nodiscard]] schema_reader& other_versions();
  using coding::fail_as;
  using decoding::exchange_state;

private:
  [[gnu::cold]] bool cut(std::uint64_t needed);
  [[gnu::noinline]] bool long_varint(std::uint64_t& value);
  [[gnu::noinline]] bool from_frame(block& found, std::uint64_t count, std::size_t element_bytes);

  const std::byte* at_;
  const std::byte* end_;
  std::span<const frame> frames_;
  std::shared_ptr<schema_reader> other_versions_;
};

template <class T>
bool typed_read(typed_reader& from, T& target);
/// Brings a record that was read as it stands into the form that equal ones have; false where it has a name twice.
TROUPE_EXPORT bool normalize_record(decoding& from, record& read);

inline auto typed_into(typed_reader& from) {
  return [&from](auto& target) { return typed_read(from, target); };
}

/// Requires: need(fixed_bytes<T>()).
template <class T>
bool typed_take(typed_reader& from, T& target) {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::structure) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ...
              && (typed_take(from, target.*std::get<Index>(fields_of<T>::members))
                  || from.within(fields_of<T>::names[Index])));
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::tuple) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && (typed_take(from, std::get<Index>(target)) || from.within(Index)));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    for (std::size_t i = 0; i < fixed_extent<T>::count; ++i)
      if (!typed_take(from, std::data(target)[i]))
        return from.within(i);
    return true;
  } else if constexpr (of == shape::duration) {
    typename T::rep count{};
    const auto taken = typed_take(from, count);
    target = T(count);
    return taken;
  } else if constexpr (of == shape::time_point) {
    typename T::rep count{};
    const auto taken = typed_take(from, count);
    target = T(typename T::duration(count));
    return taken;
  } else if constexpr (of == shape::boolean) {
    const auto value = from.take<std::uint8_t>();
    target = value == 1;
    return value <= 1 || from.fail(serialize_errc::malformed, "a boolean of " + std::to_string(value));
  } else if constexpr (of == shape::enumeration) {
    using underlying = std::underlying_type_t<T>;
    if constexpr (std::is_same_v<underlying, bool>) {
      bool value = false;
      const auto taken = typed_take(from, value);
      target = static_cast<T>(value);
      return taken;
    } else {
      target = static_cast<T>(from.take<underlying>());
      if constexpr (described_enum<T>)
        return is_enumerator(target) || fail_enumerator(from, target, serialize_errc::malformed);
      return true;
    }
  } else {
    target = from.take<T>();
    return true;
  }
}

template <class T, std::size_t Index>
bool typed_read_field(typed_reader& from, T& target) {
  using field = typename fields_of<T>::template type<Index>;
  auto& member = target.*std::get<Index>(fields_of<T>::members);
  if constexpr (fixed_bytes<field>() > 0) {
    if constexpr (run_bytes<T, Index>() > 0)
      if (!from.need(run_bytes<T, Index>()))
        return from.within(fields_of<T>::names[Index]);
    return typed_take(from, member) || from.within(fields_of<T>::names[Index]);
  } else {
    return typed_read(from, member) || from.within(fields_of<T>::names[Index]);
  }
}

template <class T>
bool typed_read_text(typed_reader& from, T& target) {
  typed_reader::block found;
  if (!from.contiguous(found, 1) || !from.check_text(found.bytes.size()))
    return false;
  const std::string_view value(reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size());
  if (!from.charge(1, text_memory_bytes<T>(value)))
    return false;
  target = value;
  return true;
}

template <class Numbers>
bool typed_read_numbers(typed_reader& from, Numbers& target) {
  using T = typename Numbers::value_type;
  typed_reader::block found;
  if (!from.contiguous(found, sizeof(T)) || !from.charge(1, found.bytes.size()))
    return false;
  const auto* data = found.bytes.data();
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0) {
    // assign() copies once; resize() would first write zeros.
    target.assign(reinterpret_cast<const T*>(data), reinterpret_cast<const T*>(data) + found.bytes.size() / sizeof(T));
  } else {
    target.resize(found.bytes.size() / sizeof(T));
    if (!target.empty())
      std::memcpy(target.data(), data, found.bytes.size());
  }
  return true;
}

template <class T>
bool typed_read_array(typed_reader& from, array<T>& target); // In typed_arrays.hpp.

/// Lists, sets and maps.
template <class T>
bool typed_read_elements(typed_reader& from, T& target) {
  std::size_t count = 0;
  target.clear();
  if (!from.enter() || !from.count(count, least_element_bytes<T>()) || !from.charge(count, element_memory<T>()))
    return false;
  make_room_for(target, count);
  for (std::size_t i = 0; i < count; ++i)
    if (!take_element(from, target, typed_into(from)))
      return from.within(i);
  from.leave();
  return true;
}

template <class T>
bool typed_read_unique(typed_reader& from, T& target) {
  bool present = false;
  target.reset();
  if (!typed_read(from, present))
    return false;
  if (!present)
    return true;
  if (!from.enter() || !take_unique(from, target, typed_into(from)))
    return false;
  from.leave();
  return true;
}

template <class T>
bool typed_read_shared(typed_reader& from, T& target) {
  std::uint64_t code = 0;
  target.reset();
  if (!from.varint(code))
    return false;
  if (code == 0)
    return true;
  return code > 1 ? take_shared_again(from, target, code - 2) : take_shared(from, target, true, typed_into(from));
}

template <class T>
bool typed_read_variant(typed_reader& from, T& target) {
  std::uint64_t index = 0;
  if (!from.varint(index))
    return false;
  if (index >= std::variant_size_v<T>)
    return from.fail(serialize_errc::malformed,
                     "alternative " + grouped(index) + " of a variant of " + grouped(std::variant_size_v<T>));
  return read_alternative(from, target, index, typed_into(from));
}

template <class T>
bool typed_read(typed_reader& from, T& target) {
  constexpr auto of = shape_of<T>;
  if constexpr (is_memory<T>) {
    return read_foreign(from, typeid(target.value), placing::construct, &target.value);
  } else if constexpr (holds_unmovable<T>()) {
    return fail_unmovable<T>(from);
  } else if constexpr (fixed_bytes<T>() > 0) {
    return from.need(fixed_bytes<T>()) && typed_take(from, target);
  } else if constexpr (of == shape::hook) {
    return take_rebuilt(from, target, typed_into(from));
  } else if constexpr (of == shape::structure) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && typed_read_field<T, Index>(from, target));
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::text || of == shape::path) {
    return typed_read_text(from, target);
  } else if constexpr (of == shape::numbers) {
    return typed_read_numbers(from, target);
  } else if constexpr (of == shape::unit) {
    return true;
  } else if constexpr (of == shape::optional) {
    bool present = false;
    target.reset();
    if (!typed_read(from, present))
      return false;
    return !present || take_optional(from, target, typed_into(from));
  } else if constexpr (of == shape::unique) {
    return typed_read_unique(from, target);
  } else if constexpr (of == shape::shared || of == shape::weak) {
    return typed_read_shared(from, target);
  } else if constexpr (of == shape::variant) {
    return typed_read_variant(from, target);
  } else if constexpr (of == shape::record) {
    return typed_read_variant(from, target.value()) && normalize_record(from, target);
  } else if constexpr (of == shape::tuple) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && (typed_read(from, std::get<Index>(target)) || from.within(Index)));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    for (std::size_t i = 0; i < fixed_extent<T>::count; ++i)
      if (!typed_read(from, std::data(target)[i]))
        return from.within(i);
    return true;
  } else if constexpr (of == shape::frame) {
    const frame* found = nullptr;
    if (!from.next_frame(found))
      return false;
    target = *found;
    return true;
  } else if constexpr (of == shape::array) {
    return typed_read_array(from, target);
  } else if constexpr (of == shape::sequence || of == shape::set || of == shape::map) {
    return typed_read_elements(from, target);
  } else if constexpr (of == shape::unsupported) {
    return read_foreign(from, typeid(T), placing::assign, const_cast<std::remove_cv_t<T>*>(&target));
  } else {
    static_assert(no_such_shape<T>);
  }
}

} // namespace troupe::detail
