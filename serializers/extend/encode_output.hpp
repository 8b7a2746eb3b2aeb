// The output of a family. There is one per thread, which is reused.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe {

/// A byte buffer that grows at the end and does not initialize the new bytes. Throws std::bad_alloc.
class TROUPE_EXPORT byte_buffer {
public:
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

  /// Makes room for `count` more bytes. Write at end(), then call advance_to().
  void reserve(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]]
      grow(count);
  }
  [[nodiscard]] std::byte* end() { return data_.get() + size_; }
  [[nodiscard]] std::byte* capacity_end() { return data_.get() + capacity_; }
  void advance_to(const std::byte* new_end) { size_ = static_cast<std::size_t>(new_end - data_.get()); }

  void append(std::span<const std::byte> bytes) {
    reserve(bytes.size());
    if (!bytes.empty())
      std::memcpy(end(), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  void append(std::byte byte) {
    reserve(1);
    data_[size_++] = byte;
  }

  /// Frees the memory if the buffer holds more than `keep_bytes`. Then the buffer is empty.
  void shrink(std::size_t keep_bytes) {
    if (capacity_ > keep_bytes) [[unlikely]]
      *this = {};
  }

private:
  struct freed {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  [[gnu::cold, gnu::noinline]] void grow(std::size_t count);

  std::unique_ptr<std::byte[], freed> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The result of encoding one value: a body (frame 0 of the payload), out-of-band frames, and fields that the codec
/// adds to the header. Threads: one at a time.
class encode_output {
public:
  /// Empties the output. Keeps memory for the next value, but at most 1 MiB per buffer.
  void clear() {
    constexpr std::size_t kept_bytes = 1 << 20;
    for (auto* each : {&body_, &extra_, &frame_codecs_, &frame_pieces_, &frame_repeats_}) {
      each->clear();
      each->shrink(kept_bytes);
    }
    frames_.clear();
  }

  [[nodiscard]] byte_buffer& body() { return body_; }
  [[nodiscard]] const byte_buffer& body() const { return body_; }

  /// Adds a frame that travels behind the body. Returns the frame's number, counted from 0 without the body.
  std::size_t attach(frame bytes) {
    frames_.push_back(std::move(bytes));
    return frames_.size() - 1;
  }
  [[nodiscard]] const std::vector<frame>& frames() const { return frames_; }
  /// Replaces a frame. Requires: attach() returned `number`.
  void replace(std::size_t number, frame bytes) { frames_[number] = std::move(bytes); }
  void replace(std::vector<frame> frames) { frames_ = std::move(frames); }

  /// The codec's own addition to the header: opaque bytes that the decoder gets back unchanged. Empty: none.
  [[nodiscard]] byte_buffer& extra() { return extra_; }
  [[nodiscard]] const byte_buffer& extra() const { return extra_; }

  /// The header's note on which frames are compressed, and how. Families do not change it. Empty: none.
  [[nodiscard]] byte_buffer& frame_codecs() { return frame_codecs_; }
  [[nodiscard]] const byte_buffer& frame_codecs() const { return frame_codecs_; }

  /// The header's note on which frames are pieces of one. Families do not change it. Empty: none.
  [[nodiscard]] byte_buffer& frame_pieces() { return frame_pieces_; }
  [[nodiscard]] const byte_buffer& frame_pieces() const { return frame_pieces_; }

  /// The header's note on which frames repeat earlier ones. Families do not change it. Empty: none.
  [[nodiscard]] byte_buffer& frame_repeats() { return frame_repeats_; }
  [[nodiscard]] const byte_buffer& frame_repeats() const { return frame_repeats_; }

  /// Whether the header of this output is the standard one of its family and type.
  [[nodiscard]] bool has_standard_header() const {
    return extra_.size() == 0 && frame_codecs_.size() == 0 && frame_pieces_.size() == 0 && frame_repeats_.size() == 0;
  }

private:
  byte_buffer body_;
  byte_buffer extra_;
  byte_buffer frame_codecs_;
  byte_buffer frame_pieces_;
  byte_buffer frame_repeats_;
  std::vector<frame> frames_;
};

} // namespace troupe
