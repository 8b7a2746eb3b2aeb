#include "memory/asking.hpp"

#include <troupe/framework/inspection.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/store/inspection.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

namespace troupe::tools {

namespace {

struct question {
  std::string address;
  std::uint32_t process = 0; // 0: not known.
  memory_query what;
};

/// An actor system for as long as questions are asked.
class asker {
public:
  explicit asker(link_options terms) : terms_(std::move(terms)) {
    auto opened = node::open(system_, types_, families_,
                             {.name = "troupe memory", .store = std::nullopt, .local_inspection = false});
    if (opened)
      node_ = *std::move(opened);
    else
      problem_ = opened.error().message();
  }

  [[nodiscard]] memory_summary ask(const question& what) {
    if (!node_)
      return failed(what, problem_);
    auto link = node_->connect(what.address, terms_);
    if (!link)
      return failed(what, link.error().message());
    auto known = link->memory_summary(terms_.connect_timeout, what.what);
    link->close();
    return known ? *std::move(known) : failed(what, known.error().message());
  }

private:
  [[nodiscard]] static memory_summary failed(const question& what, std::string why) {
    memory_summary result;
    result.processes.push_back({what.process, what.process == 0 ? what.address : std::string{}, {}, std::move(why)});
    return result;
  }

  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  link_options terms_;
  std::optional<node> node_;
  std::string problem_;
};

/// Several at once, so that one who does not answer holds up nobody; the answers in the order of the questions.
std::vector<memory_summary> ask_all(const std::vector<question>& questions, link_options terms) {
  std::vector<memory_summary> answers(questions.size());
  if (questions.empty())
    return answers;
  asker one{std::move(terms)};
  std::atomic<std::size_t> next{0};
  constexpr std::size_t askers_max = 16;
  std::vector<std::jthread> askers;
  for (std::size_t i = 0; i < std::min(askers_max, questions.size()); ++i)
    askers.emplace_back([&] {
      for (auto mine = next++; mine < questions.size(); mine = next++)
        answers[mine] = one.ask(questions[mine]);
    });
  askers.clear();
  return answers;
}

/// Of processes that have a store open and were not asked, it is known that they have.
void add_unasked(const store::store_summary& known, memory_summary& to, const std::vector<memory_summary>& answers) {
  for (const auto each : known.processes) {
    const auto process = static_cast<std::uint32_t>(each);
    const auto has_process = [&](const memory_summary& answer) {
      return std::ranges::any_of(answer.processes, [&](const auto& one) { return one.process == process; });
    };
    if (each != ::getpid() && !std::ranges::any_of(answers, has_process))
      to.processes.push_back({process, {}, known.name, "no node of it can be asked (node_options::local_inspection)"});
  }
}

} // namespace

memory_summary memory_of_host(const std::string& store_directory, std::chrono::milliseconds timeout) {
  std::vector<question> questions;
  std::string problem;
  if (const auto known = inspection_addresses())
    for (const auto& each : *known)
      questions.push_back({each.address, each.process, {.objects_max = UINT64_MAX, .whole_store = false}});
  else
    problem = known.error().message();
  auto parts = ask_all(questions, {.serializers = {"msgpack"}, .share_store = false, .connect_timeout = timeout});
  const auto answers = parts;
  for (const auto& each : store::find_stores(store_directory)) {
    if (!each.is_of_this_boot || !each.is_of_this_layout)
      continue;
    const auto known = store::inspect(each.name, store_directory);
    if (!known)
      continue; // Gone meanwhile, or `troupe store` says what is wrong with it.
    auto part = memory_of(*known);
    add_unasked(*known, part, answers);
    parts.push_back(std::move(part));
  }
  if (!problem.empty())
    parts.emplace_back().processes.push_back({0, {}, {}, std::move(problem)});
  return combined(std::move(parts));
}

memory_summary memory_of_nodes(const std::vector<std::string>& addresses, const credentials& known_by,
                               std::chrono::milliseconds timeout) {
  std::vector<question> questions;
  for (const auto& each : addresses)
    questions.push_back({each, 0, {}});
  return combined(ask_all(questions, {.serializers = {"typed", "msgpack"},
                                      .share_store = false,
                                      .credentials = known_by,
                                      .connect_timeout = timeout}));
}

} // namespace troupe::tools
