#include "stalls/subjects.hpp"

#include "harness/statistics.hpp"
#include "peers/caf_ends.hpp"
#include "peers/troupe_process.hpp"

#include <caf/all.hpp>

#include <troupe/certificates/certificates.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/serializers/codec.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <ranges>
#include <system_error>
#include <thread>
#include <utility>

namespace bench {

namespace {

/// Keeps its core busy, like a handler that computes.
void work_for(std::chrono::microseconds time) {
  for (const auto end = bench_clock::now() + time; bench_clock::now() < end;) {
  }
}

} // namespace

/// A value that is slow to decode.
struct slow_to_decode {
  std::uint64_t microseconds = 0;
  std::string ballast; // Limits how many of them fit into windows of bytes.
};

} // namespace bench

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(bench::slow_to_decode)

template <>
struct troupe::codec<bench::slow_to_decode> {
  using form = std::pair<std::uint64_t, std::string>;
  static std::expected<form, serialize_error> reduce(const bench::slow_to_decode& value, const context&) {
    return form{value.microseconds, value.ballast};
  }
  static std::expected<bench::slow_to_decode, serialize_error> rebuild(form&& from, const context&) {
    bench::work_for(std::chrono::microseconds{from.first});
    return bench::slow_to_decode{from.first, std::move(from.second)};
  }
};

namespace bench {

namespace {

caf::behavior slow(caf::event_based_actor*, std::chrono::microseconds handler, std::uint64_t once_in) {
  return {[=, count = std::uint64_t{0}](const std::string&) mutable {
            if (++count % once_in == 0)
              work_for(handler);
          },
          [](const slow_to_decode&) {}};
}

/// The far node's certificates, in a folder in memory that the destructor removes.
class certificate_folder {
public:
  static std::expected<certificate_folder, std::string> make() {
    std::string name = "/dev/shm/troupe-bench-tls-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      return std::unexpected{"cannot make a folder in /dev/shm: " + std::system_category().message(errno)};
    certificate_folder made{name};
    using namespace std::chrono_literals;
    if (auto signed_itself = troupe::certificates::make_self_signed(
            {.certificate = made.certificate(name), .key = made.folder_ / "key.pem"},
            {.name = "troupe bench", .names = "IP:127.0.0.1", .is_authority = true, .since = 24h, .until = 24h});
        !signed_itself)
      return std::unexpected{std::move(signed_itself).error()};
    return made;
  }
  certificate_folder(certificate_folder&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  certificate_folder& operator=(certificate_folder&&) = delete;
  ~certificate_folder() {
    std::error_code ignored;
    if (!folder_.empty())
      std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] static std::filesystem::path certificate(const std::filesystem::path& folder) {
    return folder / "certificate.pem";
  }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] troupe::tls_options options() const {
    return {.certificate_file = certificate(folder_), .key_file = folder_ / "key.pem"};
  }

private:
  explicit certificate_folder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

void add_types(troupe_process& process) {
  process.types.add<small_message>("bench.small_message").add<slow_to_decode>("bench.slow_to_decode");
}

/// Separates the parts of the address that the far end reports.
constexpr char address_separator = ' ';

struct near_stalls {
  troupe_process process;
  std::optional<troupe::link> fed;   // To the slow actor.
  std::optional<troupe::link> asked; // To the other actor; the same link unless the subject says otherwise.
  caf::actor slow;
  std::unique_ptr<near_end> asker;
  std::unique_ptr<troupe_process> storm; // Dials over TLS; null if the subject has no storm.
  std::string tls_address;
};

/// Repeats a call on its own thread until it is destroyed.
class doing {
public:
  explicit doing(const std::function<void()>& what)
      : thread_([this, what] {
          while (!is_over_)
            what();
        }) {}
  ~doing() {
    is_over_ = true;
    thread_.join();
  }
  doing(const doing&) = delete;
  doing& operator=(const doing&) = delete;

private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// The call to repeat beside the questions, or empty if there is none.
std::function<void()> done_beside(const stalls_subject& what, near_stalls& near) {
  if (what.has_tls_storm)
    return [&near] {
      if (auto link = near.storm->dial(near.tls_address))
        link->close();
      else
        std::cerr << "a link by TLS failed: " << link.error() << '\n';
    };
  // Sends as much as the link accepts.
  if (what.decoding.count() > 0)
    return [whom = near.slow, value = slow_to_decode{static_cast<std::uint64_t>(what.decoding.count()),
                                                     std::string(50'000, 'x')}] { caf::anon_send(whom, value); };
  if (what.handler.count() > 0)
    return [whom = near.slow, message = std::string(4096, 'x')] { caf::anon_send(whom, message); };
  return {};
}

std::expected<numbers, std::string> ask_for(near_stalls& near, std::chrono::milliseconds time) {
  std::vector<double> requests;
  std::vector<double> pings;
  for (const auto end = bench_clock::now() + time; bench_clock::now() < end || requests.empty();) {
    std::vector<seconds> took;
    if (auto asked = near.asker->echo(1, 1, &took); !asked)
      return std::unexpected{std::move(asked).error()};
    requests.push_back(took.front().count() * 1e6);
    const auto begin = bench_clock::now();
    if (auto ponged = near.asked->ping(std::chrono::seconds{60}); !ponged)
      return std::unexpected{ponged.error().message()};
    pings.push_back(seconds{bench_clock::now() - begin}.count() * 1e6);
    std::this_thread::sleep_for(std::chrono::milliseconds{1}); // Lets the slow actor get ahead again.
  }
  return numbers{percentile(requests, 50), percentile(requests, 99), percentile(pings, 50)};
}

} // namespace

const std::vector<stalls_subject>& stalls_subjects() {
  using std::chrono::microseconds;
  static const std::vector<stalls_subject> all{
      {.name = "alone"},
      {.name = "beside-50us", .handler = microseconds{50}},
      {.name = "beside-150us", .handler = microseconds{150}},
      {.name = "beside-400us", .handler = microseconds{400}},
      {.name = "other-link-150us", .handler = microseconds{150}, .asks_over_another_link = true},
      {.name = "beside-1s-in-100", .handler = std::chrono::seconds{1}, .once_in = 100},
      {.name = "decodes-20ms-1-io-thread", .asks_over_another_link = true, .decoding = std::chrono::milliseconds{20}},
      {.name = "decodes-20ms-2-io-threads",
       .asks_over_another_link = true,
       .decoding = std::chrono::milliseconds{20},
       .io_threads = 2},
      {.name = "tls-storm-2-io-threads", .has_tls_storm = true, .io_threads = 2}};
  return all;
}

const stalls_subject* find_stalls_subject(std::string_view name) {
  const auto found = std::ranges::find(stalls_subjects(), name, &stalls_subject::name);
  return found == stalls_subjects().end() ? nullptr : &*found;
}

std::expected<void, std::string> serve_stalls(const stalls_subject& what,
                                              const std::function<void(const std::string&)>& ready) {
  troupe_process process;
  add_types(process);
  process.io_threads = what.io_threads;
  std::optional<certificate_folder> certificates;
  std::vector<std::string> listen{unix_address()};
  if (what.has_tls_storm) {
    auto made = certificate_folder::make();
    if (!made)
      return std::unexpected{std::move(made).error()};
    certificates.emplace(*std::move(made));
    process.tls = certificates->options();
    listen.emplace_back("tls://127.0.0.1:0");
  }
  if (auto opened = process.open(listen); !opened)
    return opened;
  for (const auto& [name, actor] : {std::pair{"slow", process.system.spawn(slow, what.handler, what.once_in)},
                                    std::pair{"echoer", spawn_echoer(process.system)}})
    if (auto published = process.node->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
  const auto addresses = process.node->addresses();
  ready(certificates
            ? addresses[0] + address_separator + addresses[1] + address_separator + certificates->folder().string()
            : addresses.front());
  wait_for_end_of_input();
  certificates.reset();
  std::_Exit(0); // Skips the shutdown of the actors.
}

std::expected<step_taker, std::string> connect_stalls(const stalls_subject& what, const std::string& address) {
  auto near = std::make_shared<near_stalls>();
  add_types(near->process);
  std::vector<std::string> parts; // Parts of the far end's address.
  for (const auto part : std::views::split(address, address_separator))
    parts.emplace_back(part.begin(), part.end());
  if (what.has_tls_storm) {
    near->tls_address = parts.at(1);
    near->storm = std::make_unique<troupe_process>();
    near->storm->tls = {.authority_file = certificate_folder::certificate(parts.at(2))};
    if (auto opened = near->storm->open({}); !opened)
      return std::unexpected{std::move(opened).error()};
  }
  auto link = near->process.connect(parts.at(0));
  if (!link)
    return std::unexpected{std::move(link).error()};
  near->fed = near->asked = *link;
  if (what.asks_over_another_link) {
    auto other = near->process.dial(parts.at(0));
    if (!other)
      return std::unexpected{std::move(other).error()};
    near->asked = *other;
  }
  auto slow = near->fed->find("slow");
  auto echoer = near->asked->find("echoer");
  if (!slow || !echoer)
    return std::unexpected{(slow ? echoer : slow).error().message()};
  near->slow = *slow;
  near->asker = make_caf_near_end(near->process.system, {}, *std::move(echoer));
  return step_taker{[near, beside = done_beside(what, *near)](const step& next) {
    const std::chrono::milliseconds time{next.count};
    if (!beside)
      return ask_for(*near, time);
    const doing until_asked{beside};
    return ask_for(*near, time);
  }};
}

} // namespace bench
