// What conversations are about: the actors of both ends. Each subject has actors of its own, which never change.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::tests::compat {

/// The listening end.
class listening_cast {
public:
  virtual ~listening_cast() = default;

  [[nodiscard]] virtual std::string address() = 0;
  /// Expects that the actors have got everything that a dialer says, once, with the right values.
  [[nodiscard]] virtual std::vector<std::string> problems() = 0;
};

/// Calls from the dialing end, on its thread.
struct conversation_events {
  std::function<void()> before_lost_answer = [] {}; // The answer to the next request is to be lost with the link.
  std::function<void()> before_close = [] {};       // All has been said, and nothing is kept any more.
};

struct subject {
  std::string name;
  std::function<std::unique_ptr<listening_cast>(const std::string& family)> listen;
  /// Dials `address` and says everything that a dialer says. Returns what did not go as it should, or throws
  /// std::exception.
  std::function<std::vector<std::string>(const std::string& family, const std::string& address,
                                         const conversation_events& events)>
      talk;
};

[[nodiscard]] const std::vector<subject>& subjects();
/// Throws std::runtime_error if there is no subject of that name.
[[nodiscard]] const subject& subject_of(const std::string& name);

} // namespace troupe::tests::compat
