#include <troupe/framework/internal/tape/tape_recorder.hpp>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/threads/new_thread.hpp>

namespace troupe::internal {

namespace {

using std::chrono::steady_clock;

// A killed process loses at most what came in this time.
constexpr std::chrono::seconds flush_interval{1};
// The thread has nothing to do meanwhile.
constexpr std::chrono::hours idle_interval{1};
// Of one record.
constexpr std::size_t object_piece_bytes = 1024 * 1024;

} // namespace

/// What the thread does.
class tape_recorder::work {
public:
  work(options how, tape_writer writer, std::shared_ptr<tape_queue> queue)
      : how_(std::move(how)), writer_(std::move(writer)), queue_(std::move(queue)) {}

  void run();
  /// Returns false if the thread has not ended by then. It will write nothing more than it is writing now.
  [[nodiscard]] bool await_end(steady_clock::time_point deadline);
  [[nodiscard]] figures now() const;
  void tell(const std::string& news) const {
    if (how_.tell)
      how_.tell(news);
  }
  [[nodiscard]] const tape_place& place() const { return how_.place; }

private:
  void record();
  void write(const waiting_records& records);
  void write_object(const waiting_object& object);
  void note(std::size_t unwritten_bytes);
  [[nodiscard]] bool is_given_up() const;

  const options how_;
  tape_writer writer_; // The thread's only.
  const std::shared_ptr<tape_queue> queue_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_over_ = false;
  bool is_given_up_ = false;
  figures figures_;
  std::size_t unwritten_bytes_ = 0; // That the thread has taken.
};

std::expected<std::unique_ptr<tape_recorder>, node_error> tape_recorder::open(options how) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  auto writer =
      tape_writer::open(how.place, {.node = how.node,
                                    .software = how.software,
                                    .started_at = static_cast<std::uint64_t>(
                                        std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count())});
  if (!writer)
    return std::unexpected{std::move(writer).error()};
  auto queue = std::make_shared<tape_queue>(how.queue_bytes);
  auto what = std::make_shared<work>(std::move(how), *std::move(writer), queue);
  auto thread = new_thread("a recording needs a thread", [what] { what->run(); });
  if (!thread)
    return std::unexpected{std::move(thread).error()};
  std::unique_ptr<tape_recorder> made{new tape_recorder{std::move(queue), std::move(what)}};
  made->thread_ = *std::move(thread);
  return made;
}

tape_recorder::tape_recorder(std::shared_ptr<tape_queue> queue, std::shared_ptr<work> what)
    : queue_(std::move(queue)), work_(std::move(what)) {}

void tape_recorder::end(steady_clock::time_point deadline) {
  queue_->close();
  if (!thread_.joinable())
    return;
  if (work_->await_end(deadline)) {
    thread_.join();
    return;
  }
  thread_.detach();
  const auto& place = work_->place();
  const auto& name = place.file.empty() ? place.directory : place.file;
  work_->tell("the disk of the tape \"" + name
              + "\" does not answer; the tape is left without its end, and may lack up to "
              + grouped(now().queue.waiting_bytes) + " bytes of records");
}

tape_recorder::figures tape_recorder::now() const {
  return work_->now();
}

// -- on the recorder's thread

void tape_recorder::work::run() {
  // At the process's limit on the size of files, writing fails. Else it would end the process.
  sigset_t file_limit;
  ::sigemptyset(&file_limit);
  ::sigaddset(&file_limit, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &file_limit, nullptr);
  try {
    record();
  } catch (const std::bad_alloc&) {
    queue_->close();
    tell("no memory for recording; further messages are not recorded");
  }
  const std::lock_guard guard{mutex_};
  is_over_ = true;
  changed_.notify_all();
}

void tape_recorder::work::record() {
  waiting_records records;
  records.bytes.reserve(how_.queue_bytes);
  auto next_flush = steady_clock::now() + flush_interval;
  auto has_unwritten = false; // The writer has records that are not in the file.
  for (auto is_last = false; !is_last && !is_given_up();) {
    is_last = queue_->take(records, has_unwritten ? next_flush : steady_clock::now() + idle_interval);
    note(records.bytes.size());
    has_unwritten = has_unwritten || !records.bytes.empty();
    if (how_.before_writing && !records.bytes.empty())
      how_.before_writing();
    write(records);
    records.objects.clear(); // Their memory is free again.
    const auto now = steady_clock::now();
    if (is_given_up())
      return;
    if (is_last) {
      writer_.close(queue_->elapsed());
    } else if (now >= next_flush) {
      writer_.flush(queue_->elapsed());
      has_unwritten = false;
      next_flush = now + flush_interval;
    }
    note(0);
    if (const auto news = writer_.take_news(); news && !is_given_up())
      tell(*news);
  }
}

void tape_recorder::work::write(const waiting_records& records) {
  packet_reader in{records.bytes};
  auto object = records.objects.begin();
  const auto write_objects_before = [&](std::size_t position) {
    for (; object != records.objects.end() && object->position <= position && !is_given_up(); ++object)
      write_object(*object);
  };
  while (!in.rest().empty() && !is_given_up()) {
    const auto begin = in.rest();
    write_objects_before(records.bytes.size() - begin.size());
    const auto record = read_tape_record(in);
    if (!record) // Never: this process has written it.
      return;
    writer_.add(*record, begin.first(begin.size() - in.rest().size()), queue_->elapsed());
  }
  write_objects_before(records.bytes.size());
}

/// Writes the bytes of an object in pieces, because a block is bounded.
void tape_recorder::work::write_object(const waiting_object& object) {
  auto record = object.what;
  byte_vector encoded;
  const auto add = [&] {
    encoded.clear();
    append_tape_record(encoded, record);
    writer_.add(record, encoded, queue_->elapsed());
  };
  const auto pinned = object.held.pin(std::chrono::milliseconds{0});
  if (!pinned) {
    record.state = tape_object::how::gone;
    add();
    return;
  }
  do {
    const auto piece_bytes = std::min<std::uint64_t>(object.end - record.offset, object_piece_bytes);
    record.bytes = pinned->bytes().subspan(record.offset, piece_bytes);
    add();
    record.offset += piece_bytes;
  } while (record.offset < object.end && !is_given_up());
}

/// Notes how far the thread is.
void tape_recorder::work::note(std::size_t unwritten_bytes) {
  const auto lost = writer_.lost();
  const std::lock_guard guard{mutex_};
  unwritten_bytes_ = unwritten_bytes;
  figures_.lost_packets = lost.packets;
  figures_.lost_messages = lost.messages;
  figures_.written_bytes = writer_.written_bytes();
  figures_.files = writer_.files();
}

bool tape_recorder::work::is_given_up() const {
  const std::lock_guard guard{mutex_};
  return is_given_up_;
}

// -- on other threads

bool tape_recorder::work::await_end(steady_clock::time_point deadline) {
  std::unique_lock held{mutex_};
  is_given_up_ = !changed_.wait_until(held, deadline, [this] { return is_over_; });
  return !is_given_up_;
}

tape_recorder::figures tape_recorder::work::now() const {
  const auto of_queue = queue_->now();
  const std::lock_guard guard{mutex_};
  auto result = figures_;
  result.queue = of_queue;
  result.queue.waiting_bytes += unwritten_bytes_;
  return result;
}

} // namespace troupe::internal
