#include <troupe/framework/internal/net/inproc.hpp>

#include <algorithm>
#include <any>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

// About the amount that a socket takes before its writer has to wait.
constexpr std::size_t buffer_bytes_max = 256_KiB;

/// One direction. Invariant: a reader waits only while the buffer is empty, a writer only while it is full.
class stream {
public:
  stream(asio::io_context& writer, asio::io_context& reader) : writer_(&writer), reader_(&reader) {}

  /// Requires: that end has not yet written, or read.
  void set_writer(asio::io_context& writer) {
    std::lock_guard guard{mutex_};
    writer_ = &writer;
  }
  void set_reader(asio::io_context& reader) {
    std::lock_guard guard{mutex_};
    reader_ = &reader;
  }

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) {
    std::lock_guard guard{mutex_};
    into_ = into;
    read_done_ = std::move(done);
    move_on();
  }

  void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) {
    std::lock_guard guard{mutex_};
    pieces_.assign(pieces.begin(), pieces.end());
    write_done_ = std::move(done);
    move_on();
  }

  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view> pieces) {
    std::lock_guard guard{mutex_};
    if (reader_closed_ || writer_closed_)
      return std::unexpected{std::make_error_code(std::errc::broken_pipe)};
    std::size_t written = 0;
    for (auto piece : pieces) {
      auto count = put(piece);
      written += count;
      if (count < piece.size())
        break;
    }
    move_on();
    return written;
  }

  void push(std::any& value) {
    std::lock_guard guard{mutex_};
    if (!reader_closed_ && !writer_closed_)
      values_.push_back(std::move(value));
  }

  std::any pop() {
    std::lock_guard guard{mutex_};
    if (values_.empty())
      return {};
    auto value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  /// Bytes written before may still be read.
  void close_writer() {
    std::lock_guard guard{mutex_};
    writer_closed_ = true;
    move_on();
  }

  void close_reader() {
    std::deque<std::any> dropped; // Destroyed without the lock.
    std::lock_guard guard{mutex_};
    reader_closed_ = true;
    buffer_.clear();
    begin_ = 0;
    std::swap(dropped, values_);
    move_on();
  }

private:
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size() - begin_; }

  std::size_t put(bytes_view piece) {
    auto count = std::min(piece.size(), buffer_bytes_max - size());
    buffer_.insert(buffer_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  std::size_t take(std::span<std::byte> into) {
    auto count = std::min(into.size(), size());
    std::memcpy(into.data(), buffer_.data() + begin_, count);
    begin_ += count;
    if (begin_ == buffer_.size()) {
      buffer_.clear();
      begin_ = 0;
    } else if (begin_ >= buffer_bytes_max) {
      buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(std::exchange(begin_, 0)));
    }
    return count;
  }

  /// Continues the waiting reader and writer as far as possible. Requires: mutex_ is held and is the innermost lock.
  void move_on() {
    for (bool again = true; again;) {
      again = false;
      if (read_done_ && (size() > 0 || writer_closed_ || reader_closed_)) {
        auto error = reader_closed_ ? asio::error::operation_aborted
                     : size() == 0  ? std::error_code{asio::error::eof}
                                    : std::error_code{};
        auto count = error ? 0 : take(into_);
        asio::post(*reader_, [done = std::exchange(read_done_, nullptr), error, count] { done(error, count); });
      }
      if (!write_done_)
        continue;
      auto broken = reader_closed_ || writer_closed_;
      while (!broken && !pieces_.empty() && size() < buffer_bytes_max) {
        auto count = put(pieces_.front());
        pieces_.front() = pieces_.front().subspan(count);
        if (pieces_.front().empty())
          pieces_.erase(pieces_.begin());
        again = true; // The reader may continue now.
      }
      if (broken || pieces_.empty()) {
        auto error = broken ? std::make_error_code(std::errc::broken_pipe) : std::error_code{};
        pieces_.clear();
        asio::post(*writer_, [done = std::exchange(write_done_, nullptr), error] { done(error); });
      }
    }
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  asio::io_context* writer_;
  asio::io_context* reader_;
  byte_vector buffer_;
  std::size_t begin_ = 0; // Read up to here.
  std::deque<std::any> values_;
  bool writer_closed_ = false;
  bool reader_closed_ = false;
  std::span<std::byte> into_;
  std::function<void(std::error_code, std::size_t)> read_done_;
  std::vector<bytes_view> pieces_;
  std::function<void(std::error_code)> write_done_;
};

class inproc_transport final : public transport, public value_lane {
public:
  inproc_transport(std::shared_ptr<stream> out, std::shared_ptr<stream> in, end_addresses addresses)
      : out_(std::move(out)), in_(std::move(in)), addresses_(std::move(addresses)) {}
  ~inproc_transport() override { close_both(); }

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override {
    in_->read_some(into, std::move(done));
  }
  void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) override {
    out_->write(pieces, std::move(done));
  }
  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view> pieces) override {
    return out_->write_now(pieces);
  }
  void close() override { close_both(); }

  [[nodiscard]] end_addresses addresses() const override { return addresses_; }
  [[nodiscard]] value_lane* values() noexcept override { return this; }
  void push(std::any& value) override { out_->push(value); }
  std::any pop() override { return in_->pop(); }

  /// Requires: the end has not yet been read or written.
  void move_to(asio::io_context& io) {
    out_->set_writer(io);
    in_->set_reader(io);
  }

private:
  void close_both() {
    out_->close_writer();
    in_->close_reader();
  }

  const std::shared_ptr<stream> out_;
  const std::shared_ptr<stream> in_;
  const end_addresses addresses_;
};

/// The listeners of this process.
struct directory {
  struct entry {
    asio::io_context* io;
    inproc_listener::accepted on_accept;
  };

  static directory& instance() {
    static directory all;
    return all;
  }

  std::mutex mutex;
  std::map<std::string, entry> listeners; // Guarded by mutex.
};

std::pair<std::shared_ptr<inproc_transport>, std::shared_ptr<inproc_transport>>
make_ends(asio::io_context& first, asio::io_context& second, const std::string& at) {
  auto there = std::make_shared<stream>(first, second);
  auto back = std::make_shared<stream>(second, first);
  return {std::make_shared<inproc_transport>(there, back, end_addresses{{}, at}),
          std::make_shared<inproc_transport>(back, there, end_addresses{at, {}})};
}

std::unexpected<node_error> cannot_connect(std::string text) {
  return std::unexpected{node_error{node_errc::cannot_connect, std::move(text)}};
}

} // namespace

std::pair<std::shared_ptr<transport>, std::shared_ptr<transport>>
make_inproc_pair(asio::io_context& first, asio::io_context& second, const std::string& at) {
  return make_ends(first, second, at);
}

std::expected<std::unique_ptr<inproc_listener>, node_error>
inproc_listener::open(asio::io_context& io, const std::string& name, accepted on_accept) {
  auto& all = directory::instance();
  std::lock_guard guard{all.mutex};
  auto [place, is_new] = all.listeners.try_emplace(name, directory::entry{&io, std::move(on_accept)});
  if (!is_new)
    return cannot_connect("cannot listen at inproc://" + name + ": the name is already in use in this process");
  return std::unique_ptr<inproc_listener>{new inproc_listener{name}};
}

inproc_listener::~inproc_listener() {
  auto& all = directory::instance();
  std::lock_guard guard{all.mutex};
  all.listeners.erase(name_);
}

std::expected<std::shared_ptr<transport>, node_error> dial_inproc(asio::io_context& io, const std::string& name) {
  auto& all = directory::instance();
  std::lock_guard guard{all.mutex}; // Keeps the listener's I/O context alive.
  auto found = all.listeners.find(name);
  if (found == all.listeners.end())
    return cannot_connect("cannot connect to inproc://" + name + ": no node in this process listens there");
  auto [near, far] = make_ends(io, *found->second.io, "inproc://" + name);
  asio::post(*found->second.io, [on_accept = found->second.on_accept, far = std::move(far)]() mutable {
    auto* const end = far.get();
    on_accept({.bytes = std::move(far), .move_to = [end](asio::io_context& to) { end->move_to(to); }});
  });
  return std::move(near);
}

} // namespace troupe::internal
