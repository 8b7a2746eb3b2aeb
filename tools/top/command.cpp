#include "top/command.hpp"

#include "arguments.hpp"
#include "nodes/client.hpp"
#include "nodes/reports.hpp"
#include "top/frame.hpp"
#include "top/screen.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace troupe::tools {

namespace {

/// The command's options.
struct top_request {
  std::vector<std::string> addresses;
  access by;
  double interval_seconds = 1;
  std::size_t count = 0;
  top_order order = top_order::traffic;
  bool json = false;

  top_request() { by.timeout_seconds = 1; } // A slow node must not delay the view of the others.

  [[nodiscard]] std::chrono::milliseconds interval() const {
    return std::chrono::milliseconds{static_cast<std::int64_t>(interval_seconds * 1000)};
  }
};

/// Keeps one link to each node open between updates.
class watcher {
public:
  explicit watcher(const top_request& asked) : asked_(asked), client_(asked.by) {}

  [[nodiscard]] look now() {
    look result;
    auto nodes = nodes_at(asked_.addresses);
    if (nodes) {
      for (auto& each : *nodes)
        result.nodes.emplace_back().where = std::move(each);
    } else {
      auto& none = result.nodes.emplace_back();
      none.where.address = "this host's nodes";
      none.report = std::unexpected{nodes.error()};
    }
    forget_others(result.nodes);
    std::vector<std::optional<link>*> links;
    for (const auto& each : result.nodes)
      links.push_back(&links_[each.where.address]);
    if (nodes)
      ask_each(result.nodes.size(), [&](std::size_t i) { ask(result.nodes[i], *links[i]); });
    result.at = std::chrono::steady_clock::now();
    return result;
  }

private:
  void ask(asked_node& node, std::optional<link>& over) {
    if (!over || !over->is_open()) {
      auto connected = client_.connect(node.where.address);
      if (!connected) {
        node.report = std::unexpected{connected.error()};
        return;
      }
      over = *std::move(connected);
    }
    node.report = over->report(client_.timeout(), {});
    leave_out_observer(node);
  }

  void forget_others(const std::vector<asked_node>& nodes) {
    std::erase_if(links_, [&](const auto& each) {
      return std::ranges::none_of(nodes, [&](const auto& node) { return node.where.address == each.first; });
    });
  }

  const top_request& asked_;
  client client_;
  std::map<std::string, std::optional<link>> links_;
};

[[nodiscard]] std::string title(const look& now, const top_request& asked, bool is_paused) {
  char time[16] = {};
  const auto clock = std::time(nullptr);
  std::tm local{};
  if (::localtime_r(&clock, &local) != nullptr)
    std::strftime(time, sizeof time, "%H:%M:%S", &local);
  std::size_t links = 0;
  for (const auto& each : now.nodes)
    links += each.report ? each.report->links.size() : 0;
  return fmt::format("troupe top  {}  {} nodes, {} links, every {} s, by {}{}", time, now.nodes.size(), links,
                     asked.interval_seconds, name_of(asked.order), is_paused ? "  PAUSED" : "");
}

/// Asks the nodes on a separate thread, so that keys are handled while a node does not answer.
class looker {
public:
  explicit looker(const top_request& asked)
      : nodes_(asked), thread_([this](const std::stop_token& enough) { run(enough); }) {}

  void look_again() { begins_.release(); }
  /// The newest answers, or nullopt if a call has already returned them.
  [[nodiscard]] std::optional<look> take() {
    const std::lock_guard guard{mutex_};
    return std::exchange(newest_, std::nullopt);
  }
  [[nodiscard]] bool is_busy() const { return busy_.load(); }

private:
  void run(const std::stop_token& enough) {
    const std::stop_callback wake{enough, [this] { begins_.release(); }};
    for (begins_.acquire(); !enough.stop_requested(); begins_.acquire()) {
      busy_ = true;
      auto seen = nodes_.now();
      const std::lock_guard guard{mutex_};
      newest_ = std::move(seen);
      busy_ = false;
    }
  }

  watcher nodes_;
  std::counting_semaphore<> begins_{0};
  std::atomic<bool> busy_{false};
  std::mutex mutex_;
  std::optional<look> newest_; // Guarded by mutex_.
  std::jthread thread_;
};

/// Applies a key to the view's settings.
void obey(char key, top_request& asked, bool& is_paused) {
  switch (key) {
  case 's':
    asked.order = next(asked.order);
    break;
  case ' ':
    is_paused = !is_paused;
    break;
  case '+':
    asked.interval_seconds = std::min(asked.interval_seconds * 2, 3600.0);
    break;
  case '-':
    asked.interval_seconds = std::max(asked.interval_seconds / 2, 0.1);
    break;
  default:
    break;
  }
}

void show(screen& on, const look& before, const look& now, const top_request& asked, bool is_paused) {
  const auto [columns, rows] = screen::size_now();
  auto lines = now.at == std::chrono::steady_clock::time_point{}
                   ? std::vector<std::string>{"asking"}
                   : lines_of(before, now, asked.order, columns, rows > 2 ? rows - 2 : 1);
  lines.insert(lines.begin(), title(now, asked, is_paused).substr(0, columns));
  lines.push_back(std::string{"q quits, s sorts, space pauses, + and - change the interval"}.substr(0, columns));
  on.show(lines);
}

/// Shows the view on a terminal until a key, a signal or the requested number of updates ends it.
void watch(top_request asked) {
  looker looks{asked};
  {
    screen shown;
    look before;
    look now;
    auto is_paused = false;
    auto left = asked.count;
    auto due = std::chrono::steady_clock::now();
    for (;;) {
      if (auto newest = looks.take()) {
        before = before.nodes.empty() ? *newest : std::move(now);
        now = *std::move(newest);
        if (asked.count > 0 && left-- == 0)
          break;
      }
      show(shown, before, now, asked, is_paused);
      if (std::chrono::steady_clock::now() >= due) {
        due = std::chrono::steady_clock::now() + asked.interval();
        if (!is_paused && !looks.is_busy())
          looks.look_again();
      }
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(due - std::chrono::steady_clock::now());
      constexpr std::chrono::milliseconds longest{50}; // Bounds the delay before new answers are shown.
      const auto happened = shown.wait(std::clamp(rest, std::chrono::milliseconds{0}, longest));
      if (happened.what == screen::event::ended || (happened.what == screen::event::key && happened.key == 'q'))
        break;
      if (happened.what == screen::event::key)
        obey(happened.key, asked, is_paused);
    }
  }
  if (looks.is_busy())
    std::_Exit(0); // Does not wait for nodes that do not answer.
}

/// Without a terminal: prints one update after the other. Returns the status of the last one.
int print(const top_request& asked, std::ostream& out) {
  watcher nodes{asked};
  auto before = nodes.now();
  constexpr std::size_t no_limit = 100'000;
  for (std::size_t shown = 0; asked.count == 0 || shown < asked.count; ++shown) {
    std::this_thread::sleep_for(asked.interval());
    auto now = nodes.now();
    if (asked.json) {
      out << document_of(before, now).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    } else {
      out << title(now, asked, false) << '\n';
      for (const auto& each : lines_of(before, now, asked.order, no_limit, no_limit))
        out << each << '\n';
      out << '\n';
    }
    out.flush();
    if (!out)
      break;
    before = std::move(now);
  }
  return status_of(before.nodes);
}

} // namespace

void add_top_command(CLI::App& app, std::ostream& out, std::ostream&, int& status) {
  auto asked = std::make_shared<top_request>();
  auto* const top =
      app.add_subcommand("top", "Shows nodes, their links and stores live: rates, queues, credit, families, "
                                "fill levels. Without an address, it shows all nodes of this user on this host. The "
                                "links to given addresses must allow reports (allow_report)");
  top->add_option("address", asked->addresses, "Addresses of nodes");
  add_access(*top, asked->by);
  top->add_option("--interval", asked->interval_seconds, "Seconds between two updates")
      ->check(is_within(0.1, 3600))
      ->capture_default_str();
  top->add_option("--count", asked->count, "Number of updates; 0: runs until it is told to end")
      ->check(is_whole_within(0, 1'000'000'000))
      ->capture_default_str();
  top->add_option("--sort", asked->order, "Order within a node: traffic, waiting, link or peer")
      ->transform(by_name<top_order>({{"traffic", top_order::traffic},
                                      {"waiting", top_order::waiting},
                                      {"link", top_order::link},
                                      {"peer", top_order::peer}}))
      ->option_text("KEY");
  top->add_flag("--json", asked->json, "One line of JSON per update instead of a view");
  top->callback([asked, &out, &status] {
    if (!asked->json && screen::is_possible())
      watch(*asked);
    else
      status = print(*asked, out);
  });
}

} // namespace troupe::tools
