#include "block_reader.hpp"

#include "words.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

namespace wordcount {

namespace {

constexpr std::size_t smallest_step_bytes = 64 << 10;

/// Where the text's last, possibly unfinished word begins; the text's end if its last byte belongs to no word.
std::size_t begin_of_last_word(std::span<const char> text) {
  auto at = text.size();
  while (at > 0 && is_word_byte(text[at - 1]))
    --at;
  return at;
}

} // namespace

block_reader::block_reader(folder_walk files, std::size_t block_bytes)
    : files_(std::move(files)), block_bytes_(block_bytes) {}

std::size_t block_reader::wanted_bytes() const {
  if (begun_word_.size() < block_bytes_)
    return block_bytes_;
  // The word filled all of the room. It cannot be longer than the rest of its file, if the file reports its size.
  // Doubling the room keeps the number of copied bytes proportional to the word.
  const auto left = file_ && file_->size_bytes > file_bytes_ ? file_->size_bytes - file_bytes_ : 0;
  return begun_word_.size()
         + std::clamp<std::size_t>(left + 1, smallest_step_bytes, begun_word_.size() + smallest_step_bytes);
}

std::size_t block_reader::fill(std::span<char> room) {
  assert(room.size() >= wanted_bytes());
  auto used = begun_word_.size();
  std::ranges::copy(begun_word_, room.begin());
  begun_word_.clear();
  while (used < room.size() && has_file()) {
    if (const auto read = read_some(room.subspan(used)); read > 0) {
      used += read;
      continue;
    }
    finish_file();
    if (used > 0 && is_word_byte(room[used - 1]))
      room[used++] = '\n'; // Separates the next file's first word from this file's last one.
  }
  if (at_end_)
    return used;
  const auto cut = begin_of_last_word(room.first(used));
  begun_word_.assign(room.begin() + static_cast<std::ptrdiff_t>(cut), room.begin() + static_cast<std::ptrdiff_t>(used));
  return cut;
}

bool block_reader::has_file() {
  if (!file_ && !at_end_) {
    file_ = files_.next();
    file_bytes_ = 0;
    totals_.files += file_.has_value();
    at_end_ = !file_;
  }
  return file_.has_value();
}

/// Returns 0 at the end of the file and after a read error.
std::size_t block_reader::read_some(std::span<char> room) {
  for (;;) {
    const auto read = ::read(file_->descriptor.number(), room.data(), room.size());
    if (read >= 0) {
      file_bytes_ += static_cast<std::uint64_t>(read);
      totals_.bytes += static_cast<std::uint64_t>(read);
      return static_cast<std::size_t>(read);
    }
    if (errno != EINTR) {
      files_.note_unreadable(file_->path, errno);
      file_->size_bytes = file_bytes_; // Keeps finish_file() from reporting a change as well.
      return 0;
    }
  }
}

void block_reader::finish_file() {
  if (file_bytes_ != file_->size_bytes) {
    // Files in /proc and the like never report their size. A size other than the reported one means that the file
    // changed.
    struct stat now {};
    if (::fstat(file_->descriptor.number(), &now) == 0 && static_cast<std::uint64_t>(now.st_size) != file_->size_bytes)
      files_.note_changed(file_->path, std::to_string(file_->size_bytes) + " bytes when it was opened, "
                                           + std::to_string(file_bytes_) + " were read");
  }
  file_.reset();
}

} // namespace wordcount
