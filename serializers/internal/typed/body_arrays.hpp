// Small arrays lie in a payload's body. Those whose memory a value has more than once leave it for a frame, as large
// ones do, so that they are the same memory where they arrive.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/encode_output.hpp>

namespace troupe::detail {

/// What a value's arrays in the body are, while it is written. Nobody knows before the end whether an array comes
/// again: settle() takes those out of the body that did.
class TROUPE_EXPORT body_arrays {
public:
  /// Of one array: the byte of the body whose lowest bit says where its elements are, and where they begin.
  struct place {
    std::size_t mark_at;
    std::size_t data_at;
  };

  /// Whether these elements are in the body already; then they are to be attached as a frame instead. No more than
  /// `frames_max` frames come of it.
  [[nodiscard]] bool is_again(const frame& elements, std::size_t frames_max, const encode_output& output);
  /// Remembers elements that are written to the body and could come again.
  void wrote(const frame& elements, place at, const encode_output& output);

  [[nodiscard]] bool found_repeats() const { return repeats_ > 0; }
  /// The sum of what `bytes_of` gives for the sizes of the arrays that settle() takes out of the body.
  [[nodiscard]] std::size_t sum_of_repeats(std::size_t (*bytes_of)(std::size_t size_bytes)) const;
  /// Moves what came again from the body to frames of their own, before those that stand behind it, and changes the
  /// lowest bit of its mark. Requires: all is written.
  void settle(encode_output& output) const;

private:
  struct block {
    frame elements; // Kept, so that nothing else can lie there meanwhile.
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
