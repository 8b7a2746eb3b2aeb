#include <troupe/framework/internal/tape/tape_writer.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/base/salted_hash.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// Room in a file for the block that says that the file ends.
constexpr std::size_t end_room_bytes = 256;

std::string reason_of_errno() {
  return std::strerror(errno);
}

/// "20261126T221800Z".
std::string compact_time(std::uint64_t nanoseconds) {
  const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), size};
}

/// A name that is safe as a part of a file's name.
std::string safe_name(const std::string& name) {
  constexpr std::size_t bytes_max = 64;
  auto result = name.substr(0, bytes_max);
  for (auto& each : result) {
    const auto is_safe = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9')
                         || each == '-' || each == '_';
    if (!is_safe)
      each = '_';
  }
  return result.empty() ? "node" : result;
}

std::string several_messages(std::uint64_t count) {
  return count == 1 ? "1 message is missing on it" : grouped(count) + " messages are missing on it";
}

std::string digits(const char* format, unsigned long long number) {
  std::array<char, 32> text{};
  const auto size = std::snprintf(text.data(), text.size(), format, number);
  return {text.data(), static_cast<std::size_t>(size)};
}

} // namespace

// -- counts

void tape_lost_count::add(const tape_lost_count& more) {
  if (more.packets == 0)
    return;
  first_at = packets == 0 ? more.first_at : std::min(first_at, more.first_at);
  last_at = std::max(last_at, more.last_at);
  packets += more.packets;
  messages += more.messages;
  bytes += more.bytes;
}

void tape_lost_counts::add(const tape_packet& packet, std::size_t body_bytes) {
  if (packet.is_repeated)
    return;
  add(packet.link, packet.writer,
      {.first_at = packet.at,
       .last_at = packet.at,
       .packets = 1,
       .messages = is_message(packet.kind) ? 1u : 0u,
       .bytes = packet_head_bytes + body_bytes});
}

void tape_lost_counts::add(std::uint64_t link, tape_side writer, const tape_lost_count& more) {
  counts_[{link, writer}].add(more);
}

void tape_lost_counts::add(const tape_lost_counts& more) {
  for (const auto& [key, count] : more.counts_)
    counts_[key].add(count);
}

void tape_lost_counts::append(byte_vector& out, tape_loss why, std::string_view text) const {
  for (const auto& [key, count] : counts_)
    append_tape_record(out, tape_dropped{.link = key.first,
                                         .writer = key.second,
                                         .why = why,
                                         .first_at = count.first_at,
                                         .last_at = count.last_at,
                                         .packets = count.packets,
                                         .messages = count.messages,
                                         .bytes = count.bytes,
                                         .text = text});
}

tape_lost_count tape_lost_counts::sum() const {
  tape_lost_count all;
  for (const auto& [key, count] : counts_)
    all.add(count);
  return all;
}

// -- a file

/// One file. After a failure it ends where it ended before.
class tape_writer::file {
public:
  explicit file(int number) : number_(number) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() { ::close(number_); }

  std::expected<void, std::string> append(bytes_view bytes) {
    std::size_t written = 0;
    while (written < bytes.size()) {
      const auto rest = bytes.subspan(written);
      const auto count = ::pwrite(number_, rest.data(), rest.size(), static_cast<off_t>(size_bytes_ + written));
      if (count > 0) {
        written += static_cast<std::size_t>(count);
      } else if (count == 0 || errno != EINTR) {
        auto reason = count == 0 ? "the system writes nothing" : reason_of_errno();
        // If this fails as well, the next bytes replace those of the incomplete block.
        static_cast<void>(::ftruncate(number_, static_cast<off_t>(size_bytes_)) == 0);
        return std::unexpected{std::move(reason)};
      }
    }
    size_bytes_ += bytes.size();
    return {};
  }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// The end of the file at some time, to which it can be cut back.
  struct position {
    std::uint64_t size_bytes = 0;
    std::uint32_t next_block = 0;
  };
  [[nodiscard]] position now() const noexcept { return {size_bytes_, next_block}; }
  void cut_back(const position& to) {
    size_bytes_ = to.size_bytes;
    next_block = to.next_block;
    static_cast<void>(::ftruncate(number_, static_cast<off_t>(size_bytes_)) == 0);
  }

  std::uint64_t id = detail::random_salt();
  std::uint32_t next_block = 0;

private:
  const int number_;
  std::uint64_t size_bytes_ = 0;
};

namespace {

/// Creates a file for this user only. Never opens an existing one, and follows no link.
std::expected<int, std::string> create_private(const std::string& path) {
  const auto number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (number < 0)
    return std::unexpected{errno == EEXIST ? std::string{"it exists already, and a tape overwrites nothing"}
                                           : reason_of_errno()};
  static_cast<void>(::fchmod(number, S_IRUSR | S_IWUSR) == 0); // The umask may have taken rights from its owner.
  return number;
}

/// Makes the directory if there is none. Refuses one in which another user could replace or remove tapes.
std::expected<void, node_error> prepare_directory(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return bad_option("the directory \"" + path + "\" of a recording " + why);
  };
  if (::mkdir(path.c_str(), S_IRWXU) == 0) {
    static_cast<void>(::chmod(path.c_str(), S_IRWXU) == 0); // The umask may have taken rights from its owner.
    return {};
  }
  if (errno != EEXIST)
    return refuse("cannot be made: " + reason_of_errno());
  struct ::stat found {};
  if (::lstat(path.c_str(), &found) != 0)
    return refuse("cannot be used: " + reason_of_errno());
  if (S_ISLNK(found.st_mode))
    return refuse("is a symbolic link; name the directory itself");
  if (!S_ISDIR(found.st_mode))
    return refuse("is no directory");
  if (found.st_uid != ::geteuid() && found.st_uid != 0)
    return refuse("belongs to another user");
  const auto is_shared = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (found.st_mode & S_ISVTX) == 0;
  if (is_shared)
    return refuse("can be written by other users; allow that to its owner only (chmod go-w)");
  return {};
}

std::expected<void, node_error> check(const tape_place& place) {
  if (place.file.empty() == place.directory.empty())
    return bad_option("a recording needs either a file or a directory");
  if (place.file_bytes_max < tape_file_bytes_min)
    return bad_option("a file of a recording has at least " + grouped(tape_file_bytes_min) + " bytes, not "
                      + grouped(place.file_bytes_max));
  if (place.files_max == 0)
    return bad_option("a recording needs at least one file");
  return place.directory.empty() ? std::expected<void, node_error>{} : prepare_directory(place.directory);
}

} // namespace

// -- the writer

tape_writer::tape_writer(tape_place place, identity who, std::uint64_t recording)
    : place_(std::move(place)), who_(std::move(who)), recording_(recording) {}

tape_writer::tape_writer(tape_writer&&) noexcept = default;
tape_writer::~tape_writer() = default;

std::expected<tape_writer, node_error> tape_writer::open(tape_place place, identity who) {
  if (auto checked = check(place); !checked)
    return std::unexpected{std::move(checked).error()};
  tape_writer made{std::move(place), std::move(who), detail::random_salt()};
  if (auto opened = made.open_next(); !opened) {
    if (made.file_)
      ::unlink(made.name_.c_str()); // Made by this call.
    return bad_option("the tape \"" + made.name_ + "\" cannot be made: " + opened.error());
  }
  return made;
}

/// Opens the next file and writes its beginning.
std::expected<void, std::string> tape_writer::open_next() {
  file_.reset();
  name_ = !place_.file.empty()
              ? place_.file
              : place_.directory + '/' + safe_name(who_.node) + '-' + compact_time(who_.started_at) + '-'
                    + digits("%016llx", recording_) + '-' + digits("%06llu", next_number_) + ".tape";
  auto created = create_private(name_);
  if (!created)
    return std::unexpected{std::move(created).error()};
  auto opened = std::make_unique<file>(*created);
  const auto head = tape_head_of(
      {.number = next_number_, .recording = recording_, .file = opened->id, .started_at = who_.started_at});
  if (auto written = opened->append(head); !written) {
    ::unlink(name_.c_str()); // Made by this call, and empty.
    return written;
  }
  written_bytes_ += head.size();
  file_ = std::move(opened);
  ++next_number_;
  names_.push_back(name_);
  remove_oldest();
  return write_beginning();
}

void tape_writer::remove_oldest() {
  while (!place_.directory.empty() && names_.size() > place_.files_max) {
    ::unlink(names_.front().c_str());
    names_.pop_front();
  }
}

/// Writes the name of the recording node and all definitions in force. A reader then needs no earlier blocks.
std::expected<void, std::string> tape_writer::write_beginning() {
  byte_vector records;
  append_tape_record(records, tape_recorder_named{.node = who_.node, .software = who_.software});
  std::expected<void, std::string> written;
  definitions_.repeat([&](bytes_view record) {
    records.insert(records.end(), record.begin(), record.end());
    if (records.size() >= block_bytes && written) {
      written = write_block(records);
      records.clear();
    }
  });
  if (written && !records.empty())
    written = write_block(records);
  has_to_repeat_ = !written;
  return written;
}

std::expected<void, std::string> tape_writer::write_block(bytes_view body) {
  byte_vector block;
  append_tape_block(block, {.file = file_->id, .number = file_->next_block, .codec = place_.codec}, body);
  auto written = file_->append(block);
  if (!written)
    return written;
  ++file_->next_block;
  written_bytes_ += block.size();
  return {};
}

std::expected<void, std::string> tape_writer::write_end(std::uint64_t now, tape_end_reason why) {
  byte_vector record;
  append_tape_record(record, tape_ended{.at = now, .why = why});
  return write_block(record);
}

/// Whether the file has room for a block of that body, and for `more_bytes` before it.
bool tape_writer::has_room_for(bytes_view body, std::size_t more_bytes) const {
  const auto fits = [&](std::size_t block_bytes_needed) {
    return file_->size_bytes() + more_bytes + block_bytes_needed + end_room_bytes <= place_.file_bytes_max;
  };
  if (fits(tape_block_head_bytes + body.size()))
    return true;
  if (place_.codec == tape_codec::none || !fits(tape_block_head_bytes))
    return false;
  byte_vector block; // Compressed it may fit. This happens near the end of a file only.
  append_tape_block(block, {.file = file_->id, .number = file_->next_block, .codec = place_.codec}, body);
  return fits(block.size());
}

std::size_t tape_writer::full_block_bytes() const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, place_.file_bytes_max / 4));
}

void tape_writer::add(const tape_record& record, bytes_view encoded, std::uint64_t now) {
  const auto* packet = std::get_if<tape_packet>(&record);
  definitions_.note(record, encoded);
  if (is_full_ || (!failure_.empty() && now < next_attempt_)) {
    if (packet != nullptr) {
      tape_lost_counts one;
      one.add(*packet, packet->body.size());
      lost_.add(one);
      lost_in_all_.add(one.sum());
    }
    if (const auto* ended = std::get_if<tape_link_ended>(&record))
      definitions_.forget(ended->link);
    has_to_repeat_ = true;
    return;
  }
  // A large record gets a block of its own, so that it takes no others with it if it finds no room.
  if (!waiting_.empty() && waiting_.size() + encoded.size() > std::max(full_block_bytes(), encoded.size()))
    flush(now);
  if (packet != nullptr)
    waiting_counts_.add(*packet, packet->body.size());
  if (const auto* ended = std::get_if<tape_link_ended>(&record))
    ended_links_.push_back(ended->link);
  waiting_.insert(waiting_.end(), encoded.begin(), encoded.end());
  if (waiting_.size() >= full_block_bytes())
    flush(now);
}

void tape_writer::flush(std::uint64_t now) {
  if (is_full_ || waiting_.empty() || (!failure_.empty() && now < next_attempt_))
    return;
  has_told_lost_ = false;
  const auto* const before = file_.get();
  const auto position = file_ ? file_->now() : file::position{};
  std::string told;
  const auto written = write_waiting(now);
  if (!written && !is_full_ && file_ && file_.get() == before) { // Else each attempt would leave the definitions again.
    written_bytes_ -= file_->size_bytes() - position.size_bytes;
    file_->cut_back(position);
    has_told_lost_ = false; // That was cut off as well.
  }
  if (has_told_lost_ && !failure_.empty())
    told = "; " + several_messages(lost_.sum().messages);
  if (has_told_lost_)
    lost_.clear();
  if (written) {
    if (!failure_.empty())
      news_ = "the tape \"" + name_ + "\" can be written again" + told;
    failure_.clear();
    waiting_.clear();
    waiting_counts_.clear();
  } else {
    if (failure_.empty() && !is_full_)
      news_ = "the tape \"" + name_ + "\" cannot be written: " + written.error()
              + "; messages are not recorded until it can";
    failure_ = written.error();
    next_attempt_ = now + static_cast<std::uint64_t>(pause_after_failure.count());
    lose_waiting();
  }
  for (const auto link : std::exchange(ended_links_, {})) // Not earlier: the block may need the link's definitions.
    definitions_.forget(link);
}

void tape_writer::lose_waiting() {
  lost_.add(waiting_counts_);
  lost_in_all_.add(waiting_counts_.sum());
  waiting_.clear();
  waiting_counts_.clear();
  has_to_repeat_ = true;
}

/// Writes the block, before it what the tape has lost, and in a new file if this one is full.
std::expected<void, std::string> tape_writer::write_waiting(std::uint64_t now) {
  byte_vector lost;
  lost_.append(lost, tape_loss::write_error, failure_);
  const auto lost_block_bytes = lost.empty() ? 0 : tape_block_head_bytes + lost.size();
  if (file_ && !has_room_for(waiting_, lost_block_bytes)) {
    if (!place_.file.empty()) {
      is_full_ = true;
      news_ = "the tape \"" + name_ + "\" has reached its bound of " + grouped(place_.file_bytes_max)
              + " bytes; further messages are not recorded";
      byte_vector last = lost;
      auto rest = waiting_counts_;
      rest.append(last, tape_loss::no_room, {});
      append_tape_record(last, tape_ended{.at = now, .why = tape_end_reason::no_room});
      // The counts of lost packets may exceed the bound by a few bytes.
      has_told_lost_ = write_block(last).has_value();
      return std::unexpected{"the tape is full"};
    }
    static_cast<void>(write_end(now, tape_end_reason::continued)); // The next file says the same by its number.
    file_.reset();
  }
  if (!file_) {
    if (auto opened = open_next(); !opened)
      return opened;
  } else if (has_to_repeat_) {
    if (auto repeated = write_beginning(); !repeated)
      return repeated;
  }
  if (!lost.empty()) {
    if (auto written = write_block(lost); !written)
      return written;
    has_told_lost_ = true;
  }
  return write_block(waiting_);
}

void tape_writer::close(std::uint64_t now) {
  next_attempt_ = 0; // A last attempt.
  flush(now);
  if (is_full_)
    return;
  if (!lost_.empty() || has_to_repeat_) { // A tape that ends says what it lost.
    append_tape_record(waiting_, tape_ended{.at = now, .why = tape_end_reason::closed});
    next_attempt_ = 0;
    flush(now);
  } else if (file_) {
    static_cast<void>(write_end(now, tape_end_reason::closed));
  }
  file_.reset();
}

std::optional<std::string> tape_writer::take_news() {
  return std::exchange(news_, std::nullopt);
}

tape_lost_count tape_writer::lost() const {
  return lost_in_all_;
}

} // namespace troupe::internal
