// The visitor from which a described value is read. A family implements it to decode every described type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

/// The kind of the next value in the input.
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
  invalid, ///< Invalid input, or its end.
};

[[nodiscard]] TROUPE_EXPORT std::string_view name_of(value_kind kind);

/// Returns one value, piece by piece, as the caller asks for it. The format must be self-describing: kind() works
/// without knowledge of the type. Each call returns false if it fails (see `fail()`); no further call follows a
/// failure. Returned views stay valid until the next call.
///
/// Threads: one at a time.
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
  /// Whether bytes() can succeed here, for values that may also be a list of numbers.
  [[nodiscard]] virtual bool at_bytes() { return kind() == value_kind::bytes; }

  /// Begins a list. After it, next() and a value alternate until `more` is false. `expected` is the number of values if
  /// the input contains that number, at most the number of bytes left; it is a hint for reserving. The caller sets
  /// `expected` to 0 before the call.
  virtual bool begin_list(std::size_t& expected) = 0;
  virtual bool next(bool& more) = 0;
  /// Begins a map. Like begin_list(), with a key and a value after each next().
  virtual bool begin_map(std::size_t& expected) = 0;
  /// Skips one value of any kind. Default: reads the value.
  virtual bool skip();

  /// For structures: field() replaces next() and the key. Default: a map whose keys are texts.
  virtual bool begin_structure();
  virtual bool field(std::string_view& name, bool& more);

  /// An object to which shared pointers point. If `first`, the object's value follows. Called only if kind() is
  /// `shared`.
  virtual bool shared(bool& first, std::size_t& number);
  /// Whether the output of value_writer::begin_some() is next: begin_some() goes to the inner value, and end_some()
  /// behind it. Default: true if a list is next, although it may be an ordinary list. If the input can distinguish the
  /// two, override this function and kind().
  [[nodiscard]] virtual bool at_some() { return kind() == value_kind::list; }
  virtual bool begin_some();
  virtual bool end_some();
  /// Whether the next array has a number, because the input has the same array in several places. Sets the number and
  /// `again`: whether only a reference to the array is next, which skip() skips. Consumes nothing. Default: there are
  /// no such arrays.
  [[nodiscard]] virtual bool at_numbered_array(std::size_t&, bool&) { return false; }
  /// If the elements of the next array came as a frame, returns that frame and sets their type. Return it only if
  /// skip() also skips these elements. Null if the elements did not come as a frame, or if attached() returns the
  /// frame. Consumes nothing. Default: null.
  [[nodiscard]] virtual const frame* array_frame(std::string_view&) { return nullptr; }
  /// Returns an attached frame. Default: a copy of bytes().
  virtual bool attached(frame& target);
  /// Called before a number that is counted in this unit ("1/1000" of a second, a clock). Fails if the input has
  /// another unit. Default: succeeds.
  virtual bool unit(std::string_view) { return true; }

  /// For values of unknown type: whether the next map is to be read by begin_structure() and field(), and the unit of
  /// the next number, empty if it has none.
  [[nodiscard]] virtual bool at_structure() { return false; }
  virtual bool take_unit(std::string_view& unit) { return unit = {}, true; }
  /// Whether the next map is known to be a C++ map, which may have equal keys, and not a structure or record. Default:
  /// the input does not distinguish them.
  [[nodiscard]] virtual bool at_container_map() { return false; }
  /// The number of bytes of the body that have been consumed, for messages to people.
  [[nodiscard]] virtual std::size_t position() const { return 0; }

  /// Says for an error what is next: "found a list". Override this if the input tells more of the sender's type.
  [[nodiscard]] virtual std::string found();
  /// Fails with a text that names what was expected and what was found.
  [[gnu::cold]] bool unexpected(std::string_view expected);
};

} // namespace troupe
