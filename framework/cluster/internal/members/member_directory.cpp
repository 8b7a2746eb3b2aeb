#include <troupe/framework/cluster/internal/members/member_directory.hpp>

#include <troupe/framework/cluster/internal/watching/arguments.hpp>
#include <troupe/framework/cluster/internal/watching/opening_process.hpp>
#include <troupe/framework/cluster/internal/watching/quiet_thread.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <sys/random.h>

namespace troupe::cluster_directories {

namespace {

/// Random, because revisions begin anew with each opening.
std::string identity_of(const std::string& kind) {
  std::array<std::uint64_t, 2> numbers{};
  while (::getrandom(numbers.data(), sizeof(numbers), 0) != static_cast<ssize_t>(sizeof(numbers)))
    ;
  return kind + '-' + std::to_string(numbers[0]) + '-' + std::to_string(numbers[1]);
}

class member_directory final : public directory {
public:
  explicit member_directory(std::shared_ptr<member_loop> loop)
      : loop_(std::move(loop)), identity_(identity_of(loop_->settings().kind)) {}
  ~member_directory() override {
    member_directory::close();
    if (!process_.is_current()) // Not released: the destructor would touch what the parent's thread used at the fork.
      static_cast<void>(new std::shared_ptr<member_loop>{std::move(loop_)});
  }

  [[nodiscard]] std::expected<void, directory_error> start() {
    return thread_.start([loop = loop_] { loop->run(); });
  }

  [[nodiscard]] const std::string& shown_address() const noexcept override { return loop_->settings().shown_address; }
  [[nodiscard]] bool is_writable() const noexcept override { return false; }
  [[nodiscard]] std::optional<directory_error> trouble() const override {
    return process_.is_current() ? loop_->trouble() : std::nullopt; // In a child, the lock may be held for ever.
  }

  [[nodiscard]] std::expected<std::string, directory_error> identity() override {
    if (auto listing = list(""); !listing)
      return std::unexpected{std::move(listing).error()};
    return identity_;
  }

  [[nodiscard]] std::expected<directory_listing, directory_error> list(std::string_view prefix) override {
    if (auto usable = check(prefix); !usable)
      return std::unexpected{std::move(usable).error()};
    return loop_->list(prefix);
  }

  [[nodiscard]] std::expected<directory_lease, directory_error> grant(std::chrono::milliseconds) override {
    return read_only();
  }
  [[nodiscard]] std::expected<std::chrono::milliseconds, directory_error> keep_alive(std::uint64_t) override {
    return read_only();
  }
  std::expected<void, directory_error> revoke(std::uint64_t) override { return read_only(); }
  [[nodiscard]] std::expected<directory_commit, directory_error> commit(std::span<const directory_condition>,
                                                                        std::span<const directory_write>) override {
    return read_only();
  }

  [[nodiscard]] std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) override {
    if (auto usable = check(prefix); !usable)
      return std::unexpected{std::move(usable).error()};
    return loop_->watch(prefix, first_revision, std::move(handlers));
  }

  void close() override {
    if (!process_.is_current())
      return;
    loop_->close();
    thread_.join();
  }

private:
  /// Fails in a child of the process that opened the directory, where no thread looks for changes.
  [[nodiscard]] std::expected<void, directory_error> check(std::string_view prefix) const {
    if (process_.is_current())
      return check_prefix(prefix);
    return std::unexpected{directory_error{directory_errc::closed, "the directory was opened by process "
                                                                       + std::to_string(process_.number())
                                                                       + ", which forked this one; open it here anew"}};
  }

  [[nodiscard]] std::unexpected<directory_error> read_only() const {
    return std::unexpected{directory_error{
        directory_errc::read_only, "the directory \"" + shown_address()
                                       + "\" finds members only; names, leases, singletons and entities need one of "
                                         "kind etcd:// or host://"}};
  }

  const opening_process process_;
  std::shared_ptr<member_loop> loop_; // Shared with the thread, which outlives this object if a handler destroys it.
  const std::string identity_;
  quiet_thread thread_;
};

} // namespace

std::expected<std::shared_ptr<directory>, directory_error>
open_member_directory(member_directory_settings settings, std::unique_ptr<member_source> source) {
  auto loop = std::make_shared<member_loop>(std::move(settings), std::move(source));
  if (auto begun = loop->begin(); !begun)
    return std::unexpected{std::move(begun).error()};
  auto opened = std::make_shared<member_directory>(std::move(loop));
  if (auto started = opened->start(); !started)
    return std::unexpected{std::move(started).error()};
  return opened;
}

} // namespace troupe::cluster_directories
