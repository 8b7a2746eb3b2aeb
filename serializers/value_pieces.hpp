// Values in pieces: the shortest way to a family that carries every described type. It writes one piece and reads one;
// what the visitors ask for beyond that is done here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/value_reader.hpp>
#include <troupe/serializers/value_writer.hpp>

namespace troupe {

/// What a piece is. Formats may use these numbers: append only.
enum class piece_kind : std::uint8_t {
  null = 0,
  boolean = 1,
  number = 2,
  text = 3,
  bytes = 4,
  list = 5,   ///< Its elements follow, then an `end`.
  map = 6,    ///< Keys and values in turn, then an `end`. A struct is one whose keys are its fields' names.
  end = 7,    ///< Of a list or map.
  some = 8,   ///< What an optional has, where that could be nothing itself: its value follows.
  shared = 9, ///< An object that shared pointers point to, at its first appearance, numbered: its value follows.
  again = 10, ///< The object of that number again.
};

/// One of the pieces that a value consists of. Which member counts depends on the kind.
struct TROUPE_EXPORT value_piece {
  piece_kind kind = piece_kind::null;
  bool boolean = false;
  troupe::number number = {}; ///< Of `number`. Of `shared` and `again`: which object, counted from 0.
  std::string_view text = {}; ///< Of `text`, and of `bytes`, as characters. Any bytes: nobody has checked for UTF-8.
  std::size_t count = 0;      ///< Of `list` and `map`: how many elements, or pairs, follow; reading: 0 where unknown.

  /// What the piece holds, as characters: "1" for a true boolean, "21.5", a text as it is; a list's or map's count.
  /// Nothing is lost but what kind it was.
  [[nodiscard]] std::string content() const;
  /// The piece with that content; nullopt where it is none of that kind's. Refers to the text.
  [[nodiscard]] static std::optional<value_piece> of(piece_kind kind, std::string_view content);
};

/// A value_writer that hands a value over piece by piece. A format that cannot have a piece fails on it (see `fail()`).
class TROUPE_EXPORT piece_writer : public value_writer {
public:
  /// `output`'s body is what append() appends to.
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
  /// Writes the piece. False when that failed.
  virtual bool put(const value_piece& next) = 0;

  /// Adds to the body; always true, so that put() can end with it.
  bool append(std::string_view characters);

private:
  static troupe::number object_number(std::size_t number) { return troupe::number::of(std::uint64_t{number}); }
  bool put_number(troupe::number value, piece_kind kind = piece_kind::number) {
    return put({.kind = kind, .number = value});
  }

  byte_buffer& body_;
};

/// A value_reader that gets a value piece by piece.
class TROUPE_EXPORT piece_reader : public value_reader {
public:
  /// `received_bytes` is what the sender spent, for the memory budget.
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

  /// Nothing is left over.
  [[nodiscard]] bool finish();

protected:
  /// Takes the next piece off the body, of which something is left. Its text stays valid until the next call. Nullopt
  /// where no piece stands there; fail() may say more. Must withstand any bytes.
  virtual std::optional<value_piece> take() = 0;

  /// Takes so many characters; nullopt where fewer are left.
  [[nodiscard]] std::optional<std::string_view> take_characters(std::size_t count);
  /// Takes what stands in front of the next `end`, and passes over that; nullopt where there is none.
  [[nodiscard]] std::optional<std::string_view> take_until(char end);
  /// What of the body has not been taken.
  [[nodiscard]] std::string_view left() const { return left_; }

private:
  [[nodiscard]] const value_piece* look();
  [[nodiscard]] std::optional<value_piece> expect(piece_kind kind, std::string_view name);
  bool begin(piece_kind kind, std::string_view name, std::size_t& expected);

  const std::size_t size_;
  std::string_view left_;
  std::string_view looked_at_;      // What was left before next_ was taken.
  std::optional<value_piece> next_; // Looked at, and not used up.
};

} // namespace troupe
