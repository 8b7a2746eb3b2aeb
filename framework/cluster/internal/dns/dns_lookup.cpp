#include <troupe/framework/cluster/internal/dns/dns_lookup.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <ares.h>
#include <poll.h>

namespace troupe::cluster_directories {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds first_try{700}; // Each further try takes twice as long.
constexpr int tries = 3;
constexpr int record_class_internet = 1;

struct ares_channel_freed {
  void operator()(ares_channel channel) const noexcept { ares_destroy(channel); }
};
using owned_channel = std::unique_ptr<ares_channeldata, ares_channel_freed>;

std::expected<owned_channel, std::string> open_channel(const std::string& name_servers) {
  static const auto is_ready = ares_library_init(ARES_LIB_INIT_ALL);
  if (is_ready != ARES_SUCCESS)
    return std::unexpected{std::string{"c-ares cannot start: "} + ares_strerror(is_ready)};
  ares_options options{};
  options.timeout = static_cast<int>(first_try.count());
  options.tries = tries;
  options.flags = ARES_FLAG_EDNS;
  options.ednspsz = 1'232; // Does not need to be fragmented on usual networks.
  ares_channel channel = nullptr;
  const auto code =
      ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ);
  if (code != ARES_SUCCESS)
    return std::unexpected{std::string{"c-ares cannot start: "} + ares_strerror(code)};
  owned_channel owned{channel};
  if (!name_servers.empty())
    if (const auto set = ares_set_servers_ports_csv(channel, name_servers.c_str()); set != ARES_SUCCESS)
      return std::unexpected{std::string{"the name servers cannot be used: "} + ares_strerror(set)};
  return owned;
}

/// One question, and its answer once c-ares has called back.
struct pending {
  dns_type type{};
  std::optional<std::expected<dns_answer, std::string>> answer;
};

void take_answer(void* to, int status, int, unsigned char* bytes, int count) noexcept {
  auto& question = *static_cast<pending*>(to);
  if (status == ARES_ENODATA || status == ARES_ENOTFOUND) {
    question.answer = dns_answer{};
    return;
  }
  if (status == ARES_ECANCELLED || status == ARES_EDESTRUCTION || status == ARES_ETIMEOUT)
    return;
  if (status != ARES_SUCCESS) {
    question.answer.emplace(std::unexpect, ares_strerror(status));
    return;
  }
  auto message = read_dns_message({bytes, static_cast<std::size_t>(std::max(count, 0))});
  if (message)
    question.answer = answer_to_question(*message, question.type);
  else
    question.answer.emplace(std::unexpect, message.error()); // By assignment, g++ 12 frees the text (-O2).
}

/// Waits for c-ares' sockets, and lets it read. Returns false if the lookup is to be stopped.
bool work_on(ares_channel channel, int stop_descriptor, clock::time_point until) {
  std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
  const auto wanted = static_cast<unsigned>(ares_getsock(channel, sockets.data(), ARES_GETSOCK_MAXNUM));
  std::vector<pollfd> polled{{.fd = stop_descriptor, .events = POLLIN, .revents = 0}};
  for (unsigned index = 0; index < ARES_GETSOCK_MAXNUM; ++index) {
    const auto reads = ARES_GETSOCK_READABLE(wanted, index) != 0;
    const auto writes = ARES_GETSOCK_WRITABLE(wanted, index) != 0;
    if (reads || writes)
      polled.push_back({.fd = sockets[index],
                        .events = static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)),
                        .revents = 0});
  }
  const auto left = std::max(std::chrono::ceil<milliseconds>(until - clock::now()), milliseconds::zero()).count();
  timeval longest{.tv_sec = left / 1'000, .tv_usec = left % 1'000 * 1'000};
  timeval next{};
  const auto* const wait = ares_timeout(channel, &longest, &next);
  ::poll(polled.data(), polled.size(), static_cast<int>(wait->tv_sec * 1'000 + wait->tv_usec / 1'000 + 1));
  if (polled[0].revents != 0)
    return false;
  ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD); // Tries again after timeouts.
  for (std::size_t index = 1; index < polled.size(); ++index) {
    const auto& one = polled[index];
    const auto is_readable = (one.revents & (POLLIN | POLLERR | POLLHUP)) != 0;
    const auto is_writable = (one.revents & POLLOUT) != 0;
    ares_process_fd(channel, is_readable ? one.fd : ARES_SOCKET_BAD, is_writable ? one.fd : ARES_SOCKET_BAD);
  }
  return true;
}

} // namespace

std::vector<std::expected<dns_answer, std::string>> look_up(const dns_query& query, const std::vector<dns_type>& types,
                                                            int stop_descriptor) {
  std::vector<dns_question> questions;
  for (const auto type : types)
    questions.push_back({query.name, type});
  return look_up_all(questions, query.name_servers, query.timeout, stop_descriptor);
}

std::vector<std::expected<dns_answer, std::string>> look_up_all(const std::vector<dns_question>& questions,
                                                                const std::string& name_servers, milliseconds timeout,
                                                                int stop_descriptor) {
  constexpr std::ptrdiff_t open_most = 32;
  std::vector<std::expected<dns_answer, std::string>> answers;
  std::vector<pending> asked; // Outlives the channel, which calls back when it is destroyed.
  auto channel = open_channel(name_servers);
  if (!channel) {
    answers.assign(questions.size(), std::unexpected{channel.error()});
    return answers;
  }
  asked.reserve(questions.size()); // c-ares keeps addresses of the elements.
  const auto until = clock::now() + timeout;
  const auto open_count = [&] {
    return std::ranges::count_if(asked, [](const pending& one) { return !one.answer.has_value(); });
  };
  do {
    while (asked.size() < questions.size() && open_count() < open_most) {
      const auto& next = questions[asked.size()];
      auto& question = asked.emplace_back(next.type);
      ares_search(channel->get(), next.name.c_str(), record_class_internet, static_cast<int>(next.type), take_answer,
                  &question);
    }
  } while ((open_count() > 0 || asked.size() < questions.size()) && clock::now() < until
           && work_on(channel->get(), stop_descriptor, until));
  ares_cancel(channel->get());
  asked.resize(questions.size());
  for (auto& question : asked)
    answers.push_back(
        std::move(question.answer).value_or(std::unexpected{std::string{"no name server has answered in time"}}));
  return answers;
}

std::string problem_of_name_servers(const std::string& text) {
  const auto channel = open_channel(text);
  return channel ? "" : channel.error();
}

} // namespace troupe::cluster_directories
