#include "subject.hpp"

#include <algorithm>
#include <stdexcept>

#include "cast.hpp"
#include "lasting_cast.hpp"

namespace troupe::tests::compat {

namespace {

template <class Cast>
class listening final : public listening_cast {
public:
  explicit listening(const std::string& family) : cast_(family) {}

  [[nodiscard]] std::string address() override { return cast_.address(); }
  [[nodiscard]] std::vector<std::string> problems() override { return cast_.problems(); }

private:
  Cast cast_;
};

template <class Cast>
std::unique_ptr<listening_cast> listen(const std::string& family) {
  return std::make_unique<listening<Cast>>(family);
}

std::vector<std::string> talk_of_values(const std::string& family, const std::string& address,
                                        const conversation_events& events) {
  return hold_conversation(family, address, events.before_close);
}

} // namespace

const std::vector<subject>& subjects() {
  static const std::vector<subject> all{
      {.name = "values", .listen = listen<acceptor_cast>, .talk = talk_of_values},
      {.name = "lasting", .listen = listen<lasting_acceptor_cast>, .talk = talk_by_a_lasting_handle}};
  return all;
}

const subject& subject_of(const std::string& name) {
  const auto found = std::ranges::find(subjects(), name, &subject::name);
  if (found == subjects().end())
    throw std::runtime_error("no actors talk about \"" + name + '"');
  return *found;
}

} // namespace troupe::tests::compat
