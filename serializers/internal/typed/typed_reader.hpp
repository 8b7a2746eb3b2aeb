// The cursor of readers of the `typed` family's compact form. Layout: typed/format.md.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::detail {

class schema_reader;

/// The cursor over the body and the frames behind it. Invariant: at_ <= end_; bytes before at_ are not read again.
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

  /// The counterpart of typed_writer::contiguous(): the bytes, and the frame if they came as a frame.
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

  /// Reads a count of elements of at least `least_bytes` each. Fails with `malformed` if the input is too short for
  /// them.
  [[nodiscard]] bool count(std::size_t& value, std::size_t least_bytes);
  /// Fails with `malformed` if bytes or frames are left over.
  [[nodiscard]] bool finish();

  /// The same input for another decoder, which begins at the place of this one. resume() continues where that decoder
  /// ended.
  typed_reader(const troupe::context& ctx, const typed_reader& from)
      : decoding(ctx, 0), at_(from.at_), end_(from.end_), frames_(from.frames_) {}
  void resume(const typed_reader& other) {
    at_ = other.at_;
    frames_ = other.frames_;
  }
  /// The reader for values of another version of a type, by the layout that came with them. Made when it is first
  /// needed.
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

} // namespace troupe::detail
