#include "liar_end.hpp"

#include <algorithm>
#include <type_traits>

namespace troupe::simulation {

namespace {

using namespace handles;

template <class Message>
constexpr bool is_question =
    std::is_same_v<Message, adopt> || std::is_same_v<Message, reclaim> || std::is_same_v<Message, pull>;
template <class Message>
constexpr bool is_answer =
    std::is_same_v<
        Message,
        adopted> || std::is_same_v<Message, reclaimed> || std::is_same_v<Message, pull_head> || std::is_same_v<Message, pull_here> || std::is_same_v<Message, refused>;

constexpr std::size_t questions_max = 16;

} // namespace

void liar_end::on_write(message& what) {
  std::visit(
      [&](auto& each) {
        using type = std::remove_cvref_t<decltype(each)>;
        if constexpr (is_question<type>) {
          auto own = each.request;
          each.request = fresh_number();
          wire_of_[own] = each.request;
          own_of_[each.request] = own;
        } else if constexpr (std::is_same_v<type, cancel>) {
          each.request = wire_of_[each.request];
        }
      },
      what);
}

bool liar_end::on_answer(request_number& request) {
  auto own = own_of_.find(request);
  if (own == own_of_.end())
    return false;
  request = own->second;
  return has_ledger_;
}

bool liar_end::on_read(pull_chunk& what) {
  return on_answer(what.request);
}

bool liar_end::on_read(message& what) {
  return std::visit(
      [&](auto& each) {
        using type = std::remove_cvref_t<decltype(each)>;
        if constexpr (is_question<type>) {
          if (questions_.size() == questions_max)
            questions_.erase(questions_.begin());
          questions_.push_back({each.request, each.name, 0});
          return has_ledger_ && each.name.store != invented_store;
        } else if constexpr (is_answer<type>) {
          return on_answer(each.request);
        } else if constexpr (std::is_same_v<type,
                                            release> || std::is_same_v<type, vouch> || std::is_same_v<type, lost>) {
          return has_ledger_ && each.name.store != invented_store;
        } else {
          return has_ledger_;
        }
      },
      what);
}

} // namespace troupe::simulation
