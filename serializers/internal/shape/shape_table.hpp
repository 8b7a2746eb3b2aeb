// The properties of each shape, whatever the type: one row per shape. All other properties of a type follow from its
// parts (type_answers.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <troupe/serializers/internal/shape/shapes.hpp>

namespace troupe::detail {

/// The place in which a value has the parts that parts_of lists.
enum class holding {
  none,
  form,       // In another value, which is made from this one.
  in_place,   // All are in the value, one after the other.
  put_in,     // Parts that exist are put in, by moving.
  pointed_to, // Outside of the value.
};

/// An answer about a type: given at once, or by its parts.
enum class verdict { no, yes, by_parts };

/// No column has a default, because a new shape needs an answer in each.
struct shape_row {
  // clang-format off
  consteval shape_row(shape which, holding where, bool absent, bool text, bool same_anywhere, verdict filled, std::size_t least)
      : of(which), parts(where), looks_absent(absent), is_text(text), is_self_contained(same_anywhere), begins_filled(filled), least_bytes(least) {}
  // clang-format on

  shape of;
  holding parts;
  bool looks_absent;       // A value may look like an empty optional.
  bool is_text;            // Each value travels as one text.
  bool is_self_contained;  // For shapes without parts: a value means the same everywhere.
  verdict begins_filled;   // May contain a user's class whose members are not empty when constructed.
  std::size_t least_bytes; // The smallest size of a value in the body of `typed`; structures and forms: by their parts.
};

// clang-format off
inline constexpr std::array shape_table{
    //        shape               parts                absent text   same   filled             least
    shape_row(shape::hook,        holding::form,       false, false, false, verdict::yes,      0),
    shape_row(shape::structure,   holding::in_place,   false, false, false, verdict::yes,      0),
    shape_row(shape::enumeration, holding::none,       false, false, true,  verdict::no,       1),
    shape_row(shape::boolean,     holding::none,       false, false, true,  verdict::no,       1),
    shape_row(shape::number,      holding::none,       false, false, true,  verdict::no,       1),
    shape_row(shape::text,        holding::none,       false, true,  true,  verdict::no,       1),
    shape_row(shape::path,        holding::none,       false, true,  true,  verdict::no,       1),
    shape_row(shape::duration,    holding::in_place,   false, false, true,  verdict::no,       1),
    shape_row(shape::time_point,  holding::in_place,   false, false, true,  verdict::no,       1),
    shape_row(shape::unit,        holding::none,       true,  false, true,  verdict::no,       0),
    shape_row(shape::optional,    holding::put_in,     true,  false, false, verdict::no,       1),
    shape_row(shape::unique,      holding::pointed_to, true,  false, false, verdict::no,       1),
    shape_row(shape::shared,      holding::pointed_to, true,  false, false, verdict::no,       1),
    shape_row(shape::weak,        holding::pointed_to, true,  false, false, verdict::no,       1),
    shape_row(shape::variant,     holding::put_in,     false, false, false, verdict::yes,      1),
    shape_row(shape::tuple,       holding::in_place,   false, false, false, verdict::by_parts, 0),
    shape_row(shape::fixed,       holding::in_place,   false, false, false, verdict::by_parts, 0),
    shape_row(shape::frame,       holding::none,       false, false, true,  verdict::no,       0),
    shape_row(shape::array,       holding::none,       false, false, true,  verdict::no,       1),
    shape_row(shape::numbers,     holding::none,       false, false, true,  verdict::no,       1),
    shape_row(shape::sequence,    holding::put_in,     false, false, false, verdict::no,       1),
    shape_row(shape::set,         holding::put_in,     false, false, false, verdict::no,       1),
    shape_row(shape::map,         holding::put_in,     false, false, false, verdict::no,       1),
    shape_row(shape::record,      holding::none,       true,  false, false, verdict::no,       1),
    shape_row(shape::unsupported, holding::none,       true,  false, false, verdict::no,       1),
};
// clang-format on

consteval bool has_row_for_each_shape() {
  for (std::size_t i = 0; i < shape_table.size(); ++i)
    if (static_cast<std::size_t>(shape_table[i].of) != i)
      return false;
  return shape_table.back().of == shape::unsupported;
}
static_assert(has_row_for_each_shape());

template <class T>
inline constexpr shape_row row_of = shape_table[static_cast<std::size_t>(shape_of<T>)];

/// Whether a value holds its parts itself, so that they are copied, weighed or moved with it.
template <class T>
inline constexpr bool holds_parts = row_of<T>.parts == holding::in_place || row_of<T>.parts == holding::put_in;

/// For a branch that no shape may reach. A static_assert on it fails to compile there.
template <class T>
inline constexpr bool no_such_shape = false;

} // namespace troupe::detail
