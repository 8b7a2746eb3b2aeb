#include <troupe/framework/cluster/internal/etcd/etcd_directory.hpp>

#include <troupe/framework/cluster/internal/etcd/cluster_pin.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_caller.hpp>
#include <troupe/framework/cluster/internal/etcd/etcd_watches.hpp>
#include <troupe/framework/cluster/internal/watching/arguments.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <sys/random.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

using std::chrono::milliseconds;

/// So that a page of the largest entries has at most 24 MiB, in base64.
constexpr std::size_t page_entries = 256;

/// A commit waits for a sign of life of its endpoint if there was none for so long, because it cannot be sent to
/// another one when this one turns out to be frozen.
constexpr milliseconds silence_before_commit{1'000};

/// The directory's own key has no name below the prefix.
constexpr std::string_view own_key;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof(number), 0) != sizeof(number))
    ;
  return number;
}

/// Positive for etcd, which has signed ids.
std::uint64_t random_lease_id() {
  return std::max<std::uint64_t>(random_number() & INT64_MAX, 1);
}

/// 128 random bits.
std::string random_name() {
  std::string name;
  for (int half = 0; half < 2; ++half) {
    std::array<char, 16> hex_digits{};
    const auto end = std::to_chars(hex_digits.data(), hex_digits.data() + hex_digits.size(), random_number(), 16).ptr;
    name.append(16 - static_cast<std::size_t>(end - hex_digits.data()), '0').append(hex_digits.data(), end);
  }
  return name;
}

bool is_supported(std::string_view version) {
  int major = 0;
  int minor = 0;
  const auto* const end = version.data() + version.size();
  const auto [dot, failed] = std::from_chars(version.data(), end, major);
  if (failed != std::errc{} || dot == end || *dot != '.')
    return false;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc{})
    return false;
  return major > 3 || (major == 3 && minor >= 4);
}

std::unexpected<directory_error> failed_with(directory_errc code, std::string text) {
  return std::unexpected{directory_error{code, std::move(text)}};
}

directory_error closed_directory() {
  return {directory_errc::closed, "the directory was closed, or this process was forked from the one that opened it"};
}

class etcd_directory final : public directory {
public:
  etcd_directory(std::string shown_address, std::string root, std::shared_ptr<etcd_caller> caller,
                 std::shared_ptr<cluster_pin> pin, std::shared_ptr<etcd_watches> watches)
      : shown_address_(std::move(shown_address)),
        root_(std::move(root)),
        caller_(std::move(caller)),
        pin_(std::move(pin)),
        watches_(std::move(watches)) {}

  ~etcd_directory() override {
    close();
    // A forked child must not end what the parent has begun: TLS would tell the server.
    if (!caller_->is_of_this_process())
      static_cast<void>(new std::pair{caller_, watches_});
  }

  [[nodiscard]] const std::string& shown_address() const noexcept override { return shown_address_; }
  [[nodiscard]] bool is_writable() const noexcept override { return true; }

  /// Checks the version of etcd, and the rights of the user.
  [[nodiscard]] std::expected<void, directory_error> begin();

  [[nodiscard]] std::expected<std::string, directory_error> identity() override;
  [[nodiscard]] std::expected<directory_listing, directory_error> list(std::string_view prefix) override;
  [[nodiscard]] std::expected<directory_lease, directory_error> grant(milliseconds time) override;
  [[nodiscard]] std::expected<milliseconds, directory_error> keep_alive(std::uint64_t lease) override;
  std::expected<void, directory_error> revoke(std::uint64_t lease) override;
  [[nodiscard]] std::expected<directory_commit, directory_error>
  commit(std::span<const directory_condition> conditions, std::span<const directory_write> writes) override;
  [[nodiscard]] std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) override;

  void close() override {
    caller_->close();
    watches_->close();
  }

private:
  using time_point = etcd_caller::time_point;

  /// Sends the request, and reads and checks the answer. `is_newest` is false if the answer may be that of a member
  /// which lags behind.
  template <class Answer, class Read>
  [[nodiscard]] std::expected<Answer, etcd_failure> ask(const etcd_request& request, time_point until,
                                                        std::string_view what, bool is_newest, Read&& read);

  [[nodiscard]] std::expected<etcd_range, etcd_failure> ask_range(const std::string& from, const std::string& end,
                                                                  std::size_t limit, std::uint64_t revision,
                                                                  time_point until);
  [[nodiscard]] std::expected<etcd_txn, etcd_failure>
  ask_txn(std::span<const directory_condition> conditions, std::span<const directory_write> writes, time_point until);
  /// Reads the directory's own key, and checks that it is still the same.
  [[nodiscard]] std::expected<etcd_range, etcd_failure> ask_own_key(time_point until);
  /// After something has not answered, what answers next may be an etcd that was wiped meanwhile.
  [[nodiscard]] std::expected<void, etcd_failure> check_name_after_trouble(time_point until);
  [[nodiscard]] etcd_failure another_cluster(const directory_error& error);
  [[nodiscard]] std::expected<directory_listing, etcd_failure> read_pages(const std::string& prefix, time_point until);

  const std::string shown_address_;
  const std::string root_; // The prefix of the address, with a slash.
  const std::shared_ptr<etcd_caller> caller_;
  const std::shared_ptr<cluster_pin> pin_;
  const std::shared_ptr<etcd_watches> watches_;
};

template <class Answer, class Read>
std::expected<Answer, etcd_failure> etcd_directory::ask(const etcd_request& request, time_point until,
                                                        std::string_view what, bool is_newest, Read&& read) {
  if (auto same = check_name_after_trouble(until); !same)
    return std::unexpected{std::move(same).error()};
  const auto revision_min = is_newest ? pin_->revision() : 0;
  const auto before = caller_->places().current();
  const auto answer = caller_->call(request, until);
  if (caller_->places().current() != before)
    watches_->wake();
  if (!answer)
    return std::unexpected{answer.error()};
  const auto& endpoint = caller_->name(answer->endpoint);
  auto result = read(answer->body);
  if (!result)
    return std::unexpected{failure_of_reading(endpoint, what, result.error())};
  if (auto same = pin_->check(endpoint, result->head, revision_min); !same)
    return std::unexpected{another_cluster(same.error())};
  return *std::move(result);
}

etcd_failure etcd_directory::another_cluster(const directory_error& error) {
  watches_->end_all(error);
  caller_->note_trouble(); // The next call is to find out again.
  return {etcd_failure::kind::final, error};
}

std::expected<void, etcd_failure> etcd_directory::check_name_after_trouble(time_point until) {
  if (!pin_->has_name() || !caller_->take_trouble())
    return {};
  const auto own = ask_own_key(until);
  if (own)
    return {};
  caller_->note_trouble();
  return std::unexpected{own.error()};
}

std::expected<etcd_range, etcd_failure> etcd_directory::ask_range(const std::string& from, const std::string& end,
                                                                  std::size_t limit, std::uint64_t revision,
                                                                  time_point until) {
  return ask<etcd_range>(range_request(from, end, limit, revision), until, "range", true,
                         [&](std::string_view body) { return read_range(body, root_); });
}

std::expected<etcd_range, etcd_failure> etcd_directory::ask_own_key(time_point until) {
  auto own = ask_range(root_, root_ + '\0', 1, 0, until);
  if (!own || (own->entries.empty() && !pin_->has_name()))
    return own;
  const auto name = own->entries.empty() ? std::string{} : own->entries.front().value;
  if (auto same = pin_->check_name(name); !same)
    return std::unexpected{another_cluster(same.error())};
  return own;
}

std::expected<etcd_txn, etcd_failure> etcd_directory::ask_txn(std::span<const directory_condition> conditions,
                                                              std::span<const directory_write> writes,
                                                              time_point until) {
  return ask<etcd_txn>(txn_request(root_, conditions, writes), until, "transaction", true,
                       [&](std::string_view body) { return read_txn(body, root_); });
}

std::expected<void, directory_error> etcd_directory::begin() {
  const auto until = caller_->deadline();
  const auto status = ask<etcd_status>(status_request(), until, "request for its status", false, read_status);
  if (!status)
    return std::unexpected{status.error().error};
  if (!is_supported(status->version))
    return failed_with(directory_errc::version_mismatch,
                       shown_address_ + " is etcd \"" + one_line(status->version, 32) + "\"; 3.4 or newer is needed");
  if (const auto own = ask_own_key(until); !own)
    return std::unexpected{own.error().error};
  return {};
}

std::expected<std::string, directory_error> etcd_directory::identity() {
  const auto until = caller_->deadline();
  // etcd derives the number of a cluster from its configuration, so that it may be that of an older one.
  auto own = ask_own_key(until);
  if (own && own->entries.empty()) {
    const std::array conditions{directory_condition{.key = std::string{own_key}}};
    const std::array writes{directory_write{.key = std::string{own_key}, .value = random_name()}};
    if (const auto made = ask_txn(conditions, writes, until); !made)
      return std::unexpected{made.error().error};
    own = ask_own_key(until);
  }
  if (!own)
    return std::unexpected{own.error().error};
  if (own->entries.empty())
    return failed_with(directory_errc::unavailable, "another process removed the key \"" + root_ + "\"; try again");
  return "etcd:" + std::to_string(pin_->cluster_id()) + ':' + root_ + one_line(own->entries.front().value, 64);
}

std::expected<directory_listing, directory_error> etcd_directory::list(std::string_view prefix) {
  if (auto good = check_prefix(prefix); !good)
    return std::unexpected{std::move(good).error()};
  const auto until = caller_->deadline();
  for (;;) {
    auto listing = read_pages(root_ + std::string{prefix}, until);
    if (listing)
      return *std::move(listing);
    if (listing.error().error.code() != directory_errc::compacted)
      return std::unexpected{std::move(listing).error().error};
    // The revision of the first page was compacted before the last page was read.
    if (std::chrono::steady_clock::now() >= until)
      return failed_with(directory_errc::unavailable,
                         shown_address_ + " was compacted again and again while it was listed; compact it less often");
  }
}

std::expected<directory_listing, etcd_failure> etcd_directory::read_pages(const std::string& prefix, time_point until) {
  directory_listing listing;
  const auto end = end_of_prefix(prefix);
  for (auto from = prefix;;) {
    auto page = ask_range(from, end, page_entries, listing.revision, until);
    if (!page)
      return std::unexpected{std::move(page).error()};
    if (listing.revision == 0)
      listing.revision = page->head.revision;
    if (page->has_more)
      from = root_ + page->entries.back().key + '\0';
    for (auto& entry : page->entries) {
      if (!listing.entries.empty() && entry.key <= listing.entries.back().key)
        return std::unexpected{failure_of_reading(shown_address_, "range", "has keys that do not rise")};
      if (entry.key != own_key)
        listing.entries.push_back(std::move(entry));
    }
    if (!page->has_more)
      return listing;
  }
}

std::expected<directory_lease, directory_error> etcd_directory::grant(milliseconds time) {
  constexpr std::chrono::seconds longest{9'000'000'000}; // etcd's own bound.
  if (auto good = check_lease_time(time, longest); !good)
    return std::unexpected{std::move(good).error()};
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time);
  const auto id = random_lease_id();
  const auto granted =
      ask<etcd_lease>(grant_request(id, seconds), caller_->deadline(), "request for a lease", false, read_grant);
  if (granted)
    return directory_lease{granted->id, granted->time};
  if (granted.error().what != etcd_failure::kind::has_lease)
    return std::unexpected{granted.error().error};
  // An endpoint that did not answer in time has granted it.
  const auto kept = keep_alive(id);
  if (!kept)
    return std::unexpected{kept.error()};
  return directory_lease{id, *kept};
}

std::expected<milliseconds, directory_error> etcd_directory::keep_alive(std::uint64_t lease) {
  const auto gone = [lease] {
    return failed_with(directory_errc::lease_gone,
                       "the lease " + std::to_string(lease) + " has expired or was revoked; grant another");
  };
  if (lease == 0 || lease > INT64_MAX) {
    if (caller_->is_closed())
      return std::unexpected{closed_directory()};
    return gone();
  }
  const auto kept =
      ask<etcd_lease>(keep_alive_request(lease), caller_->deadline(), "keep-alive", false, read_keep_alive);
  if (!kept)
    return std::unexpected{kept.error().error};
  if (kept->id != lease)
    return failed_with(directory_errc::version_mismatch,
                       "etcd kept the lease " + std::to_string(kept->id) + " alive, and not " + std::to_string(lease));
  if (kept->time == std::chrono::seconds::zero())
    return gone();
  return kept->time;
}

std::expected<void, directory_error> etcd_directory::revoke(std::uint64_t lease) {
  if ((lease == 0 || lease > INT64_MAX) && !caller_->is_closed()) // There can be no such lease.
    return {};
  const auto revoked =
      ask<etcd_revocation>(revoke_request(lease), caller_->deadline(), "revocation", false, read_revocation);
  if (revoked || revoked.error().error.code() == directory_errc::lease_gone)
    return {};
  return std::unexpected{revoked.error().error};
}

std::expected<directory_commit, directory_error> etcd_directory::commit(std::span<const directory_condition> conditions,
                                                                        std::span<const directory_write> writes) {
  if (auto good = check_commit(conditions, writes); !good)
    return std::unexpected{std::move(good).error()};
  const auto has_impossible_lease = [](const directory_write& write) {
    return write.what == directory_write::kind::put && write.lease > INT64_MAX;
  };
  if (std::ranges::any_of(writes, has_impossible_lease))
    return failed_with(directory_errc::lease_gone, "a lease of the commit has no id that etcd gives; grant another");
  const auto until = caller_->deadline();
  if (!writes.empty() && caller_->silence() > silence_before_commit)
    if (const auto alive = ask_own_key(until); !alive)
      return std::unexpected{alive.error().error};
  auto done = ask_txn(conditions, writes, until);
  if (!done)
    return std::unexpected{std::move(done).error().error};
  return directory_commit{done->is_applied, done->head.revision, std::move(done->found)};
}

std::expected<std::unique_ptr<directory_watch>, directory_error>
etcd_directory::watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) {
  if (auto good = check_prefix(prefix); !good)
    return std::unexpected{std::move(good).error()};
  if (caller_->is_closed())
    return std::unexpected{closed_directory()};
  if (first_revision > INT64_MAX)
    return failed_with(directory_errc::invalid_argument,
                       "etcd has no revision " + std::to_string(first_revision) + "; its revisions have 63 bits");
  return watches_->add(prefix, first_revision, std::move(handlers));
}

std::expected<void, directory_error> check_file(std::string_view option, const std::string& path) {
  if (path.empty() || ::access(path.c_str(), R_OK) == 0)
    return {};
  return failed_with(directory_errc::bad_address,
                     std::string{option} + " \"" + one_line(path, 256) + "\" cannot be read by this process");
}

std::expected<http_settings, directory_error> settings_of_http(const directory_options& options) {
  for (const auto& [option, path] :
       {std::pair{"ca_file", &options.ca_file}, std::pair{"certificate_file", &options.certificate_file},
        std::pair{"key_file", &options.key_file}})
    if (auto good = check_file(option, *path); !good)
      return std::unexpected{std::move(good).error()};
  if (options.certificate_file.empty() != options.key_file.empty())
    return failed_with(directory_errc::bad_address, "of certificate_file and key_file, only one is set; set both");
  return http_settings{.ca_file = options.ca_file,
                       .certificate_file = options.certificate_file,
                       .key_file = options.key_file,
                       .has_tls = !options.ca_file.empty() || !options.certificate_file.empty()};
}

} // namespace

std::expected<std::shared_ptr<directory>, directory_error> open_etcd_directory(const directory_address& address,
                                                                               const directory_options& options) {
  auto http = settings_of_http(options);
  if (!http)
    return std::unexpected{std::move(http).error()};
  if (auto prepared = prepare_curl(); !prepared)
    return std::unexpected{std::move(prepared).error()};
  auto root = address.prefix + '/';
  auto caller = std::make_shared<etcd_caller>(etcd_settings{.endpoints = address.endpoints,
                                                            .http = *std::move(http),
                                                            .user = options.user,
                                                            .password = options.password,
                                                            .timeout = options.timeout});
  auto pin = std::make_shared<cluster_pin>();
  auto watches = etcd_watches::make(caller, pin, root);
  if (!watches)
    return std::unexpected{std::move(watches).error()};
  auto opened = std::make_shared<etcd_directory>("etcd://" + address.rest, std::move(root), std::move(caller),
                                                 std::move(pin), *std::move(watches));
  if (auto begun = opened->begin(); !begun)
    return std::unexpected{std::move(begun).error()};
  return opened;
}

} // namespace troupe::cluster_directories
