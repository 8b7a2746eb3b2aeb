#include <troupe/framework/internal/tape/tape_reader.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

class bytes_of_file final : public tape_bytes {
public:
  explicit bytes_of_file(int number) : number_(number) {}
  bytes_of_file(const bytes_of_file&) = delete;
  bytes_of_file& operator=(const bytes_of_file&) = delete;
  ~bytes_of_file() override { ::close(number_); }

  std::expected<std::size_t, std::string> read(std::uint64_t offset, std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto count = ::pread(number_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (count == 0)
        break;
      if (count < 0 && errno != EINTR)
        return std::unexpected{std::string{std::strerror(errno)}};
      done += count < 0 ? 0 : static_cast<std::size_t>(count);
    }
    return done;
  }

private:
  const int number_;
};

class bytes_in_memory final : public tape_bytes {
public:
  explicit bytes_in_memory(bytes_view bytes) : bytes_(bytes) {}

  std::expected<std::size_t, std::string> read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset >= bytes_.size())
      return 0;
    const auto rest = bytes_.subspan(static_cast<std::size_t>(offset));
    const auto count = std::min(rest.size(), into.size());
    std::ranges::copy(rest.first(count), into.begin());
    return count;
  }

private:
  const bytes_view bytes_;
};

// How much is searched at a time for the next block.
constexpr std::size_t search_bytes = 64 * 1024;

std::unexpected<node_error> unreadable_at(std::uint64_t place, std::string_view what) {
  return fail(node_errc::unreadable, "at byte " + grouped(place) + ": " + std::string{what});
}

} // namespace

std::expected<std::unique_ptr<tape_bytes>, node_error> open_tape_file(const std::string& path) {
  // Opening a pipe must not block.
  const auto number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0)
    return fail(errno == ENOENT ? node_errc::not_found : node_errc::unreadable,
                "the tape \"" + path + "\" cannot be opened: " + std::strerror(errno));
  auto opened = std::make_unique<bytes_of_file>(number);
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(node_errc::unreadable, "\"" + path + "\" is not a regular file");
  return opened;
}

std::unique_ptr<tape_bytes> tape_bytes_in_memory(bytes_view bytes) {
  return std::make_unique<bytes_in_memory>(bytes);
}

std::expected<tape_reader, node_error> tape_reader::open(std::unique_ptr<tape_bytes> bytes) {
  std::array<std::byte, tape_head_bytes> begin{};
  const auto count = bytes->read(0, begin);
  if (!count)
    return unreadable_at(0, "it cannot be read: " + count.error());
  if (*count < begin.size())
    return unreadable_at(*count, "it ends within the head of a tape, which has " + grouped(begin.size()) + " bytes");
  const auto head = read_tape_head(begin);
  if (!head)
    return unreadable_at(0, head.error());
  if (head->version != tape_version)
    return fail(node_errc::version_mismatch, "at byte 8: it is a tape of version " + std::to_string(head->version)
                                                 + ", and this program reads version " + std::to_string(tape_version));
  return tape_reader{std::move(bytes), *head};
}

std::optional<tape_reader::item> tape_reader::next() {
  for (;;) {
    if (rest_.ok() && !rest_.rest().empty()) {
      const auto at = body_.size() - rest_.rest().size();
      if (auto record = read_tape_record(rest_))
        return *std::move(record);
      return tape_gap{block_at_, offset_,
                      "record at byte " + grouped(at)
                          + " of the block's content cannot be read; the rest of the block "
                            "is passed over"};
    }
    if (is_over_)
      return std::nullopt;
    if (auto gap = read_block())
      return *std::move(gap);
  }
}

/// Returns nullopt at the end of the file; the tape is then over. Fails never: a gap says what is wrong.
std::optional<std::size_t> tape_reader::read_at(std::uint64_t offset, std::span<std::byte> into) {
  auto count = bytes_->read(offset, into);
  if (!count)
    return std::nullopt;
  return *count;
}

/// Reads the next block, if there is one. Returns what is passed over, before the block or instead of it.
std::optional<tape_gap> tape_reader::read_block() {
  body_.clear();
  rest_ = packet_reader{{}};
  std::array<std::byte, tape_block_head_bytes> begin{};
  const auto count = read_at(offset_, begin);
  if (!count || *count == 0) {
    is_over_ = true;
    return count ? std::nullopt : std::optional{tape_gap{offset_, offset_, "the file cannot be read from here on"}};
  }
  if (*count < begin.size()) {
    is_over_ = true;
    return tape_gap{offset_, offset_ + *count, "the file ends within the head of a block"};
  }
  const auto head = read_tape_block_head(begin, head_.file);
  if (!head)
    return skip_to_block(offset_, "there is no block of this tape");
  if (is_due_known_ && head->number > due_) {
    const auto due = std::exchange(due_, head->number);
    return tape_gap{offset_, offset_,
                    "blocks " + grouped(due) + " to " + grouped(head->number - 1) + " are missing before this place"};
  }
  stored_.resize(head->stored_bytes);
  const auto stored = read_at(offset_ + begin.size(), stored_);
  if (!stored || *stored < stored_.size()) {
    is_over_ = true;
    const auto end = offset_ + begin.size() + stored.value_or(0);
    return tape_gap{offset_, end,
                    "the file ends within block " + grouped(head->number) + ", of which " + grouped(stored.value_or(0))
                        + " of " + grouped(head->stored_bytes) + " bytes are there"};
  }
  block_at_ = offset_;
  offset_ += begin.size() + stored_.size();
  if (head->number < due_)
    return tape_gap{block_at_, offset_,
                    "block " + grouped(head->number) + " is passed over, because block " + grouped(due_) + " was due"};
  due_ = head->number + 1;
  is_due_known_ = true;
  if (auto restored = restore_tape_block(*head, stored_, body_); !restored) {
    body_.clear();
    return tape_gap{block_at_, offset_, "block " + grouped(head->number) + ": " + restored.error()};
  }
  rest_ = packet_reader{body_};
  return std::nullopt;
}

/// Looks for the next head of a block behind `from`.
tape_gap tape_reader::skip_to_block(std::uint64_t from, std::string why) {
  is_due_known_ = false; // The bytes may be blocks.
  byte_vector window(search_bytes);
  for (auto begin = from + 1;;) {
    const auto count = read_at(begin, window).value_or(0);
    if (count < tape_block_head_bytes) {
      is_over_ = true;
      return {from, begin + count, std::move(why) + ", and none follows"};
    }
    const auto bytes = bytes_view{window}.first(count);
    const auto last = count - tape_block_head_bytes; // The last place at which a head is in the window.
    for (std::size_t at = 0; at <= last; ++at) {
      const auto found = std::search(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(),
                                     tape_block_magic.begin(), tape_block_magic.end());
      at = static_cast<std::size_t>(found - bytes.begin());
      if (at > last)
        break;
      if (read_tape_block_head(bytes.subspan(at).first<tape_block_head_bytes>(), head_.file)) {
        offset_ = begin + at;
        return {from, offset_, std::move(why)};
      }
    }
    begin += last + 1;
  }
}

} // namespace troupe::internal
