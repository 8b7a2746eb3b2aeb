#include <troupe/framework/cluster/member_account.hpp>

#include <optional>
#include <string>
#include <utility>

#include <caf/actor.hpp>
#include <caf/scoped_actor.hpp>

#include <troupe/framework/cluster/internal/inspection/account_record.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

std::expected<member_account, node_error> ask_for_account(link& to, std::chrono::milliseconds timeout) {
  auto found = to.find(account_name, std::chrono::milliseconds{0});
  if (!found)
    return std::unexpected{std::move(found).error()};
  std::optional<member_account> read;
  node_error failure{node_errc::undecodable, "the answer of " + to.peer_name() + " is no account of a member"};
  caf::scoped_actor self{found->home_system()};
  self->request(*found, timeout, std::string{membership::account_question})
      .receive([&](const std::string& record) { read = membership::read_account_record(record); },
               [&](const caf::error& error) { failure = to_node_error(error); });
  if (!read)
    return std::unexpected{std::move(failure)};
  return *std::move(read);
}

} // namespace troupe
