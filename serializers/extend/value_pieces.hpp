// Values in pieces: the shortest way to a family that carries every described type. The family implements writing one
// piece and reading one piece; the rest of the visitors is implemented here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/extend/value_writer.hpp>

namespace troupe {

/// The kinds of pieces. Formats may use these numbers: append only.
enum class piece_kind : std::uint8_t {
  null = 0,
  boolean = 1,
  number = 2,
  text = 3,
  bytes = 4,
  list = 5,   ///< Its elements follow, then an `end`.
  map = 6,    ///< Keys and values in turn follow, then an `end`. A struct is a map whose keys are its field names.
  end = 7,    ///< Of a list or map.
  some = 8,   ///< An optional's value follows, if it could itself be null.
  shared = 9, ///< First appearance of an object that shared pointers point to, with its number; its value follows.
  again = 10, ///< The object of that number again.
};

/// One of the pieces of a value. The kind determines which member is used. Views are valid as long as the text that
/// they view.
struct TROUPE_EXPORT value_piece {
  piece_kind kind = piece_kind::null;
  bool boolean = false;
  troupe::number number = {}; ///< Of `number`. Of `shared` and `again`: the object's number, counted from 0.
  std::string_view text = {}; ///< Of `text` and of `bytes`, as characters. Any bytes; not checked for UTF-8.
  std::size_t count = 0;      ///< Of `list` and `map`: the number of elements or pairs; in reading, 0 if unknown.

  /// The content as characters: "1" for true, "21.5", a text itself, the count of a list or map. Only the kind is lost.
  [[nodiscard]] std::string content() const;
  /// The piece of that kind with that content; nullopt if the kind cannot have it. Views `content`.
  [[nodiscard]] static std::optional<value_piece> of(piece_kind kind, std::string_view content);
};

/// A value_writer that writes a value piece by piece. If the format has no form for a piece, put() calls `fail()`.
class TROUPE_EXPORT piece_writer : public value_writer {
public:
  /// append() adds to the body of `output`, which must outlive this writer.
  piece_writer(const troupe::context& ctx, encode_output& output) : value_writer(ctx), body_(output.body()) {}

  bool null() final { return put({.kind = piece_kind::null}); }
  bool boolean(bool value) final { return put({.kind = piece_kind::boolean, .boolean = value}); }
  bool integer(std::int64_t value) final { return put_number(troupe::number::of(value)); }
  bool natural(std::uint64_t value) final { return put_number(troupe::number::of(value)); }
  bool real32(float value) final { return put_number(troupe::number::of(double{value})); }
  bool real64(double value) final { return put_number(troupe::number::of(value)); }
  bool text(std::string_view value) final { return put({.kind = piece_kind::text, .text = value}); }
  bool bytes(std::span<const std::byte> value) final;
  [[nodiscard]] list_counts counts() const final { return list_counts::ahead; }
  bool begin_list(std::size_t count) final { return put({.kind = piece_kind::list, .count = count}); }
  bool end_list() final { return put({.kind = piece_kind::end}); }
  bool begin_map(std::size_t count) final { return put({.kind = piece_kind::map, .count = count}); }
  bool end_map() final { return put({.kind = piece_kind::end}); }
  bool begin_some() final { return put({.kind = piece_kind::some}); }
  bool end_some() final { return true; }
  bool begin_shared(std::size_t number) final { return put_number(object_number(number), piece_kind::shared); }
  bool shared_again(std::size_t number) final { return put_number(object_number(number), piece_kind::again); }

protected:
  /// Writes the piece. False on failure.
  virtual bool put(const value_piece& next) = 0;

  /// Adds to the body. Always returns true, so that put() can return it.
  bool append(std::string_view characters);

private:
  static troupe::number object_number(std::size_t number) { return troupe::number::of(std::uint64_t{number}); }
  bool put_number(troupe::number value, piece_kind kind = piece_kind::number) {
    return put({.kind = kind, .number = value});
  }

  byte_buffer& body_;
};

/// A value_reader that reads a value piece by piece.
class TROUPE_EXPORT piece_reader : public value_reader {
public:
  /// `received_bytes`: the number of bytes that the sender sent, for the memory budget. The body must outlive this
  /// reader.
  piece_reader(const troupe::context& ctx, std::span<const std::byte> body, std::size_t received_bytes);

  [[nodiscard]] value_kind kind() final;
  bool null() final;
  bool boolean(bool& value) final;
  bool number(troupe::number& value) final;
  bool text(std::string_view& value) final;
  bool bytes(std::span<const std::byte>& value) final;
  bool begin_list(std::size_t& expected) final;
  bool next(bool& more) final;
  bool begin_map(std::size_t& expected) final;
  bool shared(bool& first, std::size_t& number) final;
  [[nodiscard]] bool at_some() final { return kind() == value_kind::some; }
  bool begin_some() final;
  bool end_some() final { return true; }
  [[nodiscard]] std::size_t position() const final { return size_ - (next_ ? looked_at_ : left_).size(); }

  /// Checks that the body has been read to its end. Otherwise fails with `malformed`.
  [[nodiscard]] bool finish();

protected:
  /// Takes the next piece off the body, which is not empty. The piece's text stays valid until the next call. Nullopt
  /// if there is no valid piece; call fail() to give a reason. Must withstand any bytes.
  virtual std::optional<value_piece> take() = 0;

  /// Takes that many characters. Nullopt if fewer are left.
  [[nodiscard]] std::optional<std::string_view> take_characters(std::size_t count);
  /// Takes the characters before the next `end`, and skips `end`. Nullopt if there is no `end`.
  [[nodiscard]] std::optional<std::string_view> take_until(char end);
  /// The part of the body that has not been taken.
  [[nodiscard]] std::string_view left() const { return left_; }

private:
  [[nodiscard]] const value_piece* look();
  [[nodiscard]] std::optional<value_piece> expect(piece_kind kind, std::string_view name);
  bool begin(piece_kind kind, std::string_view name, std::size_t& expected);

  const std::size_t size_;
  std::string_view left_;
  std::string_view looked_at_;      // The rest of the body before next_ was taken.
  std::optional<value_piece> next_; // Taken from the body, but not consumed yet.
};

} // namespace troupe
