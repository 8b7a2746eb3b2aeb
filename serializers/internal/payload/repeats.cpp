#include <troupe/serializers/internal/payload/repeats.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/serializers/internal/payload/varint_note.hpp>
#include <troupe/serializers/internal/words/failing.hpp>

namespace troupe::detail {

namespace {

bool is_same(const frame& one, const frame& other) {
  return one.bytes().data() == other.bytes().data() && one.size_bytes() == other.size_bytes()
         && one.owner() == other.owner() && one.size_bytes() > 0;
}

/// Finds for each frame the first one that is the same.
class first_ones {
public:
  explicit first_ones(std::span<const frame> frames) : frames_(frames) {}

  /// Requires: called for each index in turn, from 0.
  std::size_t first_of(std::size_t index) {
    if (frames_.size() > few) {
      const auto [at, is_new] = by_place_.try_emplace(frames_[index].bytes().data(), index);
      return is_same(frames_[at->second], frames_[index]) ? at->second : index;
    }
    for (std::size_t i = 0; i < index; ++i)
      if (is_same(frames_[i], frames_[index]))
        return i;
    return index;
  }

private:
  static constexpr std::size_t few = 16; // Comparing up to so many frames takes less time than a table.

  std::span<const frame> frames_;
  std::unordered_map<const std::byte*, std::size_t> by_place_;
};

} // namespace

void drop_repeats(std::size_t note_bytes_max, encode_output& output) {
  const auto& frames = output.frames();
  if (frames.size() < 2)
    return;
  first_ones known(frames);
  std::vector<frame> kept;
  std::vector<std::size_t> again; // Empty until a frame repeats; for each frame 0, or the earlier one's number.
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto first = known.first_of(i);
    if (first != i && again.empty()) {
      again.resize(i);
      kept.assign(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (first != i)
      again.push_back(first + 1);
    else if (!again.empty()) {
      again.push_back(0);
      kept.push_back(frames[i]);
    }
  }
  if (again.empty())
    return;
  auto& note = output.frame_repeats();
  append_varint(note, 0); // The body.
  for (const auto number : again)
    append_varint(note, number);
  if (note.size() > note_bytes_max)
    note.clear();
  else
    output.replace(std::move(kept));
}

std::expected<expanded_frames, serialize_error> expand_repeats(std::span<const std::byte> note,
                                                               std::span<const frame> frames, const limits& bounds) {
  constexpr std::size_t aligned_for_all = 16;
  expanded_frames found;
  auto& made = found.frames;
  made.reserve(std::min(note.size(), bounds.frames));
  const auto align = [&](std::size_t number) {
    const auto before = made[number];
    if (reinterpret_cast<std::uintptr_t>(before.bytes().data()) % aligned_for_all == 0 || before.size_bytes() == 0)
      return true;
    found.taken_bytes += before.size_bytes();
    if (found.taken_bytes > bounds.memory_bytes)
      return false;
    made[number] = frame::copy_of(before.bytes());
    return true;
  };
  std::size_t used = 0;
  while (!note.empty()) {
    std::uint64_t number = 0;
    if (!take_varint(note, number) || number >= std::max<std::size_t>(1, made.size())
        || (number == 0 && used == frames.size()))
      return failure(serialize_errc::malformed,
                     "the header says which earlier frame is frame " + grouped(made.size()) + ", which is wrong");
    if (made.size() == bounds.frames)
      return failure(serialize_errc::limit_exceeded,
                     "frames and repeated frames are more than " + grouped(bounds.frames) + " (limits::frames)");
    if (number > 0 && !align(number))
      return failure(serialize_errc::limit_exceeded, "repeated frames take more than " + grouped(bounds.memory_bytes)
                                                         + " bytes (limits::memory_bytes)");
    made.push_back(number == 0 ? frames[used++] : made[number]);
  }
  found.taken_bytes += made.capacity() * sizeof(frame);
  if (used < frames.size())
    return failure(serialize_errc::malformed,
                   grouped(frames.size() - used) + " frames are left over after the frames that the header describes");
  return found;
}

std::size_t repeated_frames::count(std::span<const frame> frames) {
  std::size_t repeated = 0;
  for (const auto& each : frames)
    if (each.size_bytes() > 0 && !seen_.insert(each.bytes().data()).second)
      repeated += each.size_bytes();
  return repeated;
}

} // namespace troupe::detail
