#include "harness/steps.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace bench {

std::expected<numbers, failure> ask(process_group& group, const step& next, std::size_t numbers_count,
                                    std::chrono::seconds deadline) {
  const auto answers = group.ask(fmt::format("{} {} {}", next.name, next.count, next.size_bytes), deadline);
  if (!answers)
    return std::unexpected{answers.error()};
  std::istringstream words{answers->front()};
  numbers values;
  for (double value = 0; words >> value;)
    values.push_back(value);
  if (values.size() != numbers_count)
    return std::unexpected{failure{.reason = "an answer that is none: took " + answers->front()}};
  return values;
}

int serve_steps(
    const std::function<std::expected<void, std::string>(const std::function<void(const std::string& address)>& ready)>&
        serve) {
  const auto served = serve([](const std::string& address) { std::cout << "ready " << address << std::endl; });
  if (!served)
    std::cout << "failed " << served.error() << std::endl;
  return served ? 0 : 1;
}

int drive_steps(const std::function<std::expected<step_taker, std::string>()>& connect) {
  const auto near = connect();
  if (!near) {
    std::cout << "failed " << near.error() << std::endl;
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    step next;
    words >> next.name >> next.count >> next.size_bytes;
    const auto taken = (*near)(next);
    if (!taken) {
      std::cout << "failed " << taken.error() << std::endl;
      continue;
    }
    std::cout << "took ";
    for (const auto value : *taken)
      std::cout << value << ' ';
    std::cout << std::endl;
  }
  std::_Exit(0); // The measurement is over.
}

} // namespace bench
