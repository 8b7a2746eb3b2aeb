// The cursor of writers of the `typed` family's compact form. Layout: typed/format.md.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include <troupe/base/export.hpp>
#include <troupe/base/varint.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/internal/typed/body_arrays.hpp>

namespace troupe::detail {

/// The cursor. Invariant: the bytes before at_ are written; the bytes between at_ and end_ may be written.
class TROUPE_EXPORT typed_writer final : public encoding {
public:
  typed_writer(const troupe::context& ctx, encode_output& out)
      : encoding(ctx), out_(out), at_(out.body().end()), end_(out.body().capacity_end()) {}

  /// Makes room for `count` bytes of put().
  void reserve(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) [[unlikely]]
      grow(count);
  }
  /// Requires: reserve().
  template <class T>
  void put(T value) {
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }
  /// Requires: room for ten bytes.
  void put_varint(std::uint64_t value) {
    write_varint(value, [this](std::byte each) { *at_++ = each; });
  }
  void varint(std::uint64_t value) {
    reserve(varint_bytes_max);
    put_varint(value);
  }

  /// Writes contiguous memory with its count: into the body, or as a frame if it has at least `out_of_band_bytes`.
  void contiguous(const void* data, std::size_t count, std::size_t element_bytes) {
    const auto size = count * element_bytes;
    if (size >= out_of_band_bytes) [[unlikely]]
      return leave_as_frame(data, count, size);
    reserve(size + varint_bytes_max);
    put_varint(count << 1);
    if (size > 0)
      std::memcpy(at_, data, size);
    at_ += size;
  }
  void attach(frame bytes) { out_.attach(std::move(bytes)); }
  /// Writes an array's elements like contiguous(). If they may come again (`is_shared`), repeats share one frame.
  void in_or_out_of_band(const frame& bytes, std::size_t count, bool is_shared);

  /// While this object lives, the written memory is not the value's own and is freed soon. So nothing of it is
  /// borrowed.
  class passing {
  public:
    explicit passing(typed_writer& to) : to_(to), before_(std::exchange(to.borrows_, false)) {}
    passing(const passing&) = delete;
    passing& operator=(const passing&) = delete;
    ~passing() { to_.borrows_ = before_; }

  private:
    typed_writer& to_;
    const bool before_;
  };

  /// Hands the written bytes to the output.
  void finish() {
    out_.body().advance_to(at_);
    if (arrays_) [[unlikely]]
      settle_arrays();
  }
  /// Whether small arrays moved from the body to frames.
  [[nodiscard]] bool found_repeats() const { return arrays_ && arrays_->found_repeats(); }
  /// Keeps all small arrays in the body, however often they occur.
  void keep_repeats() { tracks_arrays_ = false; }

private:
  [[gnu::cold, gnu::noinline]] void grow(std::size_t count);
  [[gnu::noinline]] void settle_arrays();
  [[gnu::noinline]] void leave_as_frame(const void* data, std::size_t count, std::size_t size_bytes);

  encode_output& out_;
  std::byte* at_;
  std::byte* end_;
  bool borrows_ = true; // Has an effect only if the value has an owner.
  bool tracks_arrays_ = true;
  std::unique_ptr<body_arrays> arrays_; // Made for the first array that may come again.
};

} // namespace troupe::detail
