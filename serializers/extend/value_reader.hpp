// The visitor that a described value is read from: a family implements it to decode every described type.
#pragma once

#include <cstdint>
#include <span>
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
/// without knowing the type. Each call returns false if it fails (see `fail()`); then no further call comes. Returned
/// views stay valid until the next call.
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

  /// After it, next() and a value alternate until `more` is false. `expected` is the number of values if the input
  /// knows it, at most the number of bytes left; a hint for reserving. The caller sets it to 0 before the call.
  virtual bool begin_list(std::size_t& expected) = 0;
  virtual bool next(bool& more) = 0;
  /// As begin_list(), with a key and a value after each next().
  virtual bool begin_map(std::size_t& expected) = 0;
  /// Skips one value of any kind. Default: reads it.
  virtual bool skip();

  /// Structures: field() replaces next() and the key. Default: a map whose keys are texts.
  virtual bool begin_structure();
  virtual bool field(std::string_view& name, bool& more);

  /// An object that shared pointers point to. If `first`, its value follows. Called only if kind() is `shared`.
  virtual bool shared(bool& first, std::size_t& number);
  /// Whether the output of value_writer::begin_some() is next: begin_some() goes to the inner value, end_some() behind
  /// it. Default: true if a list is next, although it may be an ordinary list. If the input can tell, override this and
  /// kind().
  [[nodiscard]] virtual bool at_some() { return kind() == value_kind::list; }
  virtual bool begin_some();
  virtual bool end_some();
  /// The number of the array that is next, if the input has the same array in several places. `again`: only a reference
  /// to it stands here, which skip() skips. Consumes nothing. Default: there are no such arrays.
  [[nodiscard]] virtual bool at_numbered_array(std::size_t&, bool&) { return false; }
  /// If the elements of the next array came as a frame, returns that frame and sets their type. Return it only if
  /// skip() skips these elements too. Null if the elements did not come as a frame, or if attached() returns it.
  /// Consumes nothing. Default: null.
  [[nodiscard]] virtual const frame* array_frame(std::string_view&) { return nullptr; }
  /// Returns an attached frame. Default: a copy of bytes().
  virtual bool attached(frame& target);
  /// The next number is counted in this unit ("1/1000" of a second, a clock). Fails if the input has another unit.
  virtual bool unit(std::string_view) { return true; }

  /// For readers of values of unknown type: whether the next map is to be read by begin_structure() and field(), and
  /// the unit of the next number, empty if it has none.
  [[nodiscard]] virtual bool at_structure() { return false; }
  virtual bool take_unit(std::string_view& unit) { return unit = {}, true; }
  /// Whether the next map is known to be a C++ map, which may have equal keys, and no structure or record. Default: the
  /// input does not tell them apart.
  [[nodiscard]] virtual bool at_container_map() { return false; }
  /// How many bytes of the body have been consumed; for messages to people.
  [[nodiscard]] virtual std::size_t position() const { return 0; }

  /// Fails; the text names what was expected and what was found.
  [[gnu::cold]] bool unexpected(std::string_view expected);
};

} // namespace troupe
