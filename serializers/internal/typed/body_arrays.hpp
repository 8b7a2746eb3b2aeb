// Small arrays are written into a payload's body. If a value contains the same memory more than once, that array moves
// to a frame, like large arrays, so that the receiver's arrays share memory as well.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/encode_output.hpp>

namespace troupe::detail {

/// Tracks the arrays in the body while a value is written. Only at the end is it known which arrays come again.
/// settle() takes these arrays out of the body.
class TROUPE_EXPORT body_arrays {
public:
  /// The place of one array: the byte of the body whose lowest bit says where the elements are, and the place where
  /// they begin.
  struct place {
    std::size_t mark_at;
    std::size_t data_at;
  };

  /// Whether these elements are already in the body. If so, attach them as a frame instead. Returns false if that would
  /// make more than `frames_max` frames.
  [[nodiscard]] bool is_again(const frame& elements, std::size_t frames_max, const encode_output& output);
  /// Records elements that were written to the body and may come again.
  void wrote(const frame& elements, place at, const encode_output& output);

  [[nodiscard]] bool found_repeats() const { return repeats_ > 0; }
  /// The sum of `bytes_of` over the sizes of the arrays that settle() takes out of the body.
  [[nodiscard]] std::size_t sum_of_repeats(std::size_t (*bytes_of)(std::size_t size_bytes)) const;
  /// Moves repeated arrays from the body to frames, in front of the frames of later parts of the body, and flips the
  /// lowest bit of their marks. Requires: everything has been written.
  void settle(encode_output& output) const;

private:
  struct block {
    frame elements; // Kept, so that nothing else can take their address meanwhile.
    place at;
    std::size_t frames_before;
    bool comes_again = false;
  };
  struct key {
    const std::byte* data;
    std::size_t size_bytes;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& of) const noexcept {
      return std::hash<const void*>()(of.data) ^ (of.size_bytes << 1);
    }
  };

  std::vector<block> blocks_; // In the order of the body.
  std::unordered_map<key, std::size_t, hash> by_place_;
  std::size_t repeats_ = 0; // Blocks that come again.
};

} // namespace troupe::detail
