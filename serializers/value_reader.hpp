// The visitor that a described value is read from: what a family implements to bring every described type back.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/coding.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

/// What stands next in the input.
enum class value_kind : std::uint8_t {
  null,
  boolean,
  number,
  text,
  bytes,
  list,
  map,
  shared, ///< See shared().
  some,   ///< See begin_some().
  frame,
  invalid, ///< Nonsense, or the end.
};

[[nodiscard]] TROUPE_EXPORT std::string_view name_of(value_kind kind);

/// Gives one value, piece by piece, as the caller asks for it. The format must be self-describing: kind() works without
/// knowing the type. Each call returns false when it fails (see `fail()`), and then no further one comes.
/// Views that are handed out stay valid until the next call.
class TROUPE_EXPORT value_reader : public decoding {
public:
  using decoding::decoding;
  virtual ~value_reader();

  [[nodiscard]] virtual value_kind kind() = 0; ///< Consumes nothing.
  virtual bool null() = 0;
  virtual bool boolean(bool& value) = 0;
  virtual bool number(troupe::number& value) = 0;
  virtual bool text(std::string_view& value) = 0;
  virtual bool bytes(std::span<const std::byte>& value) = 0;
  /// Whether bytes() can succeed here, for values that may stand there as a list of numbers too.
  [[nodiscard]] virtual bool at_bytes() { return kind() == value_kind::bytes; }

  /// Then, until `more` comes back false: next() and a value. `expected` is how many will come as far as the input can
  /// know, never more than it has bytes left; a hint for reserving. It comes as 0.
  virtual bool begin_list(std::size_t& expected) = 0;
  virtual bool next(bool& more) = 0;
  /// The same with a key and a value after each next().
  virtual bool begin_map(std::size_t& expected) = 0;
  /// Passes over one value of any kind. Default: reads it.
  virtual bool skip();

  /// Structures: field() instead of next() and key. Default: a map whose keys are texts.
  virtual bool begin_structure();
  virtual bool field(std::string_view& name, bool& more);

  /// An object that shared pointers point to: `first` says that its value follows. Called when kind() is `shared`.
  virtual bool shared(bool& first, std::size_t& number);
  /// Whether what value_writer::begin_some() wrote stands here: begin_some() goes to the value within, end_some()
  /// behind it. Default: whether a list does, which any value may be; families whose input can tell say so in kind()
  /// too.
  [[nodiscard]] virtual bool at_some() { return kind() == value_kind::list; }
  virtual bool begin_some();
  virtual bool end_some();
  /// The number of the array that stands here, where the input has the same one in several places; `again`: it does not
  /// stand here itself, and skip() passes over the place. Consumes nothing. Default: there are none of these.
  [[nodiscard]] virtual bool at_numbered_array(std::size_t&, bool&) { return false; }
  /// The frame as which the elements of an array came that stand next, and their type, where skip() passes over them as
  /// well; null where they did not, or where attached() gives them. Consumes nothing. Default: null.
  [[nodiscard]] virtual const frame* array_frame(std::string_view&) { return nullptr; }
  /// Takes an attached frame back. Default: a copy of bytes().
  virtual bool attached(frame& target);
  /// Whatever follows is counted in this unit ("1/1000" of a second, a clock). Fails when the input knows better.
  virtual bool unit(std::string_view) { return true; }

  /// For readers of values whose type nobody knows: whether the map that stands here is to be read by begin_structure()
  /// and field(), and the unit in which the number that stands here is counted, empty where it has none.
  [[nodiscard]] virtual bool at_structure() { return false; }
  virtual bool take_unit(std::string_view& unit) { return unit = {}, true; }
  /// Whether the map that stands here is known to be one of C++, which may have keys several times, and no structure or
  /// record. Default: the input does not tell them apart.
  [[nodiscard]] virtual bool at_container_map() { return false; }
  /// How much of the input has been used up, in bytes of the body; for people.
  [[nodiscard]] virtual std::size_t position() const { return 0; }

  /// Fails with what stands there instead of the expected.
  [[gnu::cold]] bool unexpected(std::string_view expected);
};

} // namespace troupe
