// Writes and reads msgpack, piece by piece and without an intermediate tree. Form: msgpack/format.md. One thread at a
// time may use a writer or reader. The context and the buffers must outlive it.
#pragma once

#include <unordered_map>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/extend/value_writer.hpp>

namespace troupe {

/// Troupe's extension types. Unless noted, the content is four bytes, big-endian as in all of msgpack. Append only.
enum class msgpack_extension : std::uint8_t {
  shared_again = 1, // The number of a shared object.
  shared_first = 2, // The number of a shared object, in a list of two whose second element is the object.
  frame = 3,        // The number of an out-of-band frame.
  some = 4,         // One byte, 0, in a list of two whose second element is a value that could itself be null.
};

/// Appends to an output's body. Loses nothing: floating-point numbers keep their width and value, including -0.0.
class TROUPE_EXPORT msgpack_writer final : public value_writer {
public:
  msgpack_writer(const troupe::context& ctx, encode_output& output) : value_writer(ctx), output_(output) {}

  /// Writes the elements of arrays into the body, and notes whether the same memory occurs more than once.
  struct noting {};
  msgpack_writer(const troupe::context& ctx, encode_output& output, noting)
      : value_writer(ctx), output_(output), notes_(true) {}
  [[nodiscard]] bool found_repeat() const { return found_repeat_; }
  /// Writes an array as a frame if `noted` found it more than once in the same value, so that shared memory travels
  /// once, or if the array has at least out_of_band_bytes. Requires: `noted` outlives this writer.
  msgpack_writer(const troupe::context& ctx, encode_output& output, msgpack_writer& noted)
      : value_writer(ctx), output_(output), noted_(&noted) {
    take_packed(noted);
  }

  bool null() override;
  bool boolean(bool value) override;
  bool integer(std::int64_t value) override;
  bool natural(std::uint64_t value) override;
  bool real32(float value) override;
  bool real64(double value) override;
  bool text(std::string_view value) override;
  bool bytes(std::span<const std::byte> value) override;
  bool begin_list(std::size_t count) override;
  bool end_list() override { return true; }
  bool begin_map(std::size_t count) override;
  bool end_map() override { return true; }
  bool numbers(const number_block& block) override;
  bool begin_shared(std::size_t number) override;
  bool shared_again(std::size_t number) override;
  bool begin_some() override;
  bool end_some() override { return true; }
  bool attach(const frame& attached) override;
  [[nodiscard]] list_counts counts() const override { return list_counts::ahead; }
  bool attaches_array(const frame& elements) override;

protected:
  [[nodiscard]] std::size_t array_fields() const override { return attaches_ ? 1 : 0; }
  bool add_array_fields(const array_form& form) override;

private:
  bool extension(msgpack_extension type, std::size_t number);
  bool head(std::size_t count, std::uint8_t small_code, std::size_t small_max, std::uint8_t code16);

  encode_output& output_;
  struct noted_array {
    frame elements; // Kept, so that nothing else can take their address.
    bool comes_again = false;
  };
  const bool notes_ = false;
  const msgpack_writer* const noted_ = nullptr;
  bool found_repeat_ = false;
  bool attaches_ = false;                                     // Whether the current array leaves as a frame.
  std::unordered_map<const std::byte*, noted_array> written_; // By the address of their elements.
};

/// Reads values from untrusted bytes. A count that exceeds the number of bytes left is refused.
class TROUPE_EXPORT msgpack_reader final : public value_reader {
public:
  /// `frames`: the frames behind the body. `received_bytes`: the number of bytes that the sender sent, for the memory
  /// budget.
  msgpack_reader(const troupe::context& ctx, std::span<const std::byte> body, std::span<const frame> frames,
                 std::size_t received_bytes);

  [[nodiscard]] value_kind kind() override;
  bool null() override;
  bool boolean(bool& value) override;
  bool number(troupe::number& value) override;
  bool text(std::string_view& value) override;
  bool bytes(std::span<const std::byte>& value) override;
  bool begin_list(std::size_t& expected) override;
  bool next(bool& more) override;
  bool begin_map(std::size_t& expected) override;
  bool skip() override;
  bool shared(bool& first, std::size_t& number) override;
  [[nodiscard]] bool at_some() override { return kind() == value_kind::some; }
  bool begin_some() override;
  bool end_some() override { return true; }
  bool attached(frame& target) override;
  [[nodiscard]] std::size_t position() const override { return static_cast<std::size_t>(at_ - begin_); }

  /// Checks that the input has been read to its end. Fails with `malformed` if bytes or frames are left over.
  [[nodiscard]] bool finish();

private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] std::uint8_t peek() const { return std::to_integer<std::uint8_t>(*at_); }
  [[nodiscard]] std::uint64_t load(std::size_t offset, std::size_t width) const;
  bool cut();
  bool begin(std::size_t& expected, std::uint8_t code16, std::size_t parts);
  bool raw(std::span<const std::byte>& value, std::size_t head_bytes, std::uint64_t size);
  bool blob(std::span<const std::byte>& value);
  bool skip_one(std::uint64_t& pending);
  bool take_frame(std::uint64_t number);
  [[nodiscard]] bool at_extension(msgpack_extension type, std::size_t offset) const;

  const std::byte* const begin_;
  const std::byte* at_;
  const std::byte* const end_;
  std::span<const frame> frames_;
  std::vector<bool> taken_;            // Which frames have been referred to.
  std::vector<std::size_t> remaining_; // Entries left in each open list and map.
};

} // namespace troupe
