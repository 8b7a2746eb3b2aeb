// The walk that reads a value by its shape, from the value to its parts, for readers of any kind. The counterpart of
// walk_write.hpp.
//
// A `Source` adapts the readers of one kind. It has a type `reader`, which is a decoding, and these static members,
// which return false on failure:
//   is_leaf<T>, leaf(from, target)              values without parts, or read as a whole
//   structure(from, target)                     reads fields by read_field<Source, Index>, in any order
//   begin_tuple, part, end_tuple                with the count; `part` comes before each part
//   begin_fixed, part, end_fixed                with the count; `part` comes before each part
//   at_whole<T>, whole                          elements that are stored as one piece
//   is_count_known                              whether begin_elements gives the count, not an estimate
//   begin_elements<T>, element, room            a list, set or map; `element` tells whether one more follows
//   present, some<T>                            values that may be absent: whether one is there, and the way to it
//   is_absent_nested                            whether an absent object of a unique pointer counts as a level
//   find_object, begin_object                   the object of a shared pointer
//   begin_option, end_option                    the index of a variant's alternative
#pragma once

#include <cstddef>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <variant>

#include <troupe/serializers/internal/coding/taking.hpp>

namespace troupe::detail {

template <class Source, class T>
bool walk_read(typename Source::reader& from, T& target);

/// For helpers that take a callable that reads into any T&.
template <class Source>
auto reading_into(typename Source::reader& from) {
  return [&from](auto& target) { return walk_read<Source>(from, target); };
}

/// The object found where a shared pointer is read.
struct met_object {
  bool is_there = true;
  bool is_first = true;    // The content follows.
  bool is_numbered = true; // Other pointers may refer to the object.
  std::size_t number = 0;
};

template <class Source, std::size_t Index, class T>
bool read_field(typename Source::reader& from, T& target) {
  return Source::template member<T, Index>(from, target.*std::get<Index>(fields_of<T>::members));
}

template <class Source, class T, std::size_t... Index>
bool walk_read_tuple(typename Source::reader& from, T& target, std::index_sequence<Index...>) {
  constexpr auto count = sizeof...(Index);
  return Source::begin_tuple(from, count)
         && (true && ...
             && (Source::part(from, count) && (walk_read<Source>(from, std::get<Index>(target)) || from.within(Index))))
         && Source::end_tuple(from, count);
}

template <class Source, class T>
bool walk_read_fixed(typename Source::reader& from, T& target) {
  constexpr auto count = fixed_extent<T>::count;
  if (!Source::begin_fixed(from, count))
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!Source::part(from, count))
      return false;
    if (!walk_read<Source>(from, std::data(target)[i]))
      return from.within(i);
  }
  return Source::end_fixed(from, count);
}

/// Reads a list, set or map.
template <class Source, class T>
bool walk_read_elements(typename Source::reader& from, T& target) {
  target.clear();
  if (Source::template at_whole<T>(from))
    return Source::whole(from, target);
  std::size_t count = 0;
  if (!from.enter() || !Source::template begin_elements<T>(from, count))
    return false;
  const auto charged = Source::is_count_known || !is_keyed<T> ? count : 0; // Else keys are charged one by one.
  if (!from.charge(charged, element_memory<T>()))
    return false;
  make_room_for(target, charged);
  for (std::size_t at = 0;; ++at) {
    bool more = false;
    if (!Source::element(from, at, count, more))
      return false;
    if (!more)
      break;
    if (!Source::room(from, target, charged) || !take_element(from, target, reading_into<Source>(from)))
      return from.within(at);
  }
  from.leave();
  return true;
}

template <class Source, class T>
bool walk_read_optional(typename Source::reader& from, T& target) {
  bool present = false;
  target.reset();
  if (!Source::present(from, present))
    return false;
  return !present || Source::template some<typename T::value_type>(from, [&] {
    return take_optional(from, target, reading_into<Source>(from));
  });
}

template <class Source, class T>
bool walk_read_unique(typename Source::reader& from, T& target) {
  bool present = false;
  target.reset();
  if ((Source::is_absent_nested && !from.enter()) || !Source::present(from, present))
    return false;
  if (!present && !Source::is_absent_nested)
    return true;
  if (!Source::is_absent_nested && !from.enter())
    return false;
  if (present && !Source::template some<pointee_of<T>>(from, [&] {
        return take_unique(from, target, reading_into<Source>(from));
      }))
    return false;
  from.leave();
  return true;
}

template <class Source, class T>
bool walk_read_shared(typename Source::reader& from, T& target) {
  met_object met;
  target.reset();
  if (!Source::find_object(from, met))
    return false;
  return !met.is_there || Source::template some<pointee_of<T>>(from, [&] {
    if (!Source::begin_object(from, met))
      return false;
    return met.is_first ? take_shared(from, target, met.is_numbered, reading_into<Source>(from))
                        : take_shared_again(from, target, met.number);
  });
}

template <class Source, class T>
bool walk_read_variant(typename Source::reader& from, T& target) {
  std::size_t index = 0;
  return Source::begin_option(from, target, index) && read_alternative(from, target, index, reading_into<Source>(from))
         && Source::end_option(from);
}

template <class Source, class T>
bool walk_read(typename Source::reader& from, T& target) {
  constexpr auto of = shape_of<T>;
  if constexpr (is_memory<T>) {
    return read_foreign(from, typeid(target.value), placing::construct, &target.value);
  } else if constexpr (holds_unmovable<T>()) {
    return fail_unmovable<T>(from);
  } else if constexpr (Source::template is_leaf<T>) {
    return Source::leaf(from, target);
  } else if constexpr (of == shape::hook) {
    return take_rebuilt(from, target, reading_into<Source>(from));
  } else if constexpr (of == shape::structure) {
    return Source::structure(from, target);
  } else if constexpr (of == shape::optional) {
    return walk_read_optional<Source>(from, target);
  } else if constexpr (of == shape::unique) {
    return walk_read_unique<Source>(from, target);
  } else if constexpr (of == shape::shared || of == shape::weak) {
    return walk_read_shared<Source>(from, target);
  } else if constexpr (of == shape::variant) {
    return walk_read_variant<Source>(from, target);
  } else if constexpr (of == shape::tuple) {
    return walk_read_tuple<Source>(from, target, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (of == shape::fixed) {
    return walk_read_fixed<Source>(from, target);
  } else if constexpr (of == shape::sequence || of == shape::set || of == shape::map) {
    return walk_read_elements<Source>(from, target);
  } else if constexpr (of == shape::unsupported) {
    return read_foreign(from, typeid(T), placing::assign, const_cast<std::remove_cv_t<T>*>(&target));
  } else {
    static_assert(no_such_shape<T>);
  }
}

} // namespace troupe::detail
