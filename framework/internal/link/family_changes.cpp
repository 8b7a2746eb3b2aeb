#include <troupe/framework/internal/link/family_changes.hpp>

#include <algorithm>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/link/family_lists.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

bool names_are_bounded(const std::vector<std::string>& names) {
  return names.size() <= families_max
         && std::ranges::all_of(names, [](const auto& name) { return name.size() <= alias_bytes_max; });
}

} // namespace

void family_changes::accept_only(std::vector<std::string> names) {
  of_.accepted.accept(std::move(names));
  of_.known.review();
}

void family_changes::open(const link_held& held, family_names mine, family_names theirs, sending_terms first) {
  lists_.open(std::move(mine), std::move(theirs));
  of_.terms.open(held, std::move(first), lists_);
}

std::vector<std::string> family_changes::accepted() const {
  const auto held = link_.mutex.lock();
  return lists_.accepted();
}

// -- this end's changes

std::expected<void, node_error> family_changes::check(const link_changes& changes) const {
  if (changes.serializers && changes.serializers->empty())
    return fail(node_errc::bad_option, "a link needs at least one family in `serializers`");
  for (const auto* list : {&changes.serializers, &changes.deserializers})
    if (*list)
      if (auto known = resolve_families(**list, of_.families, own_.trusted_families); !known)
        return std::unexpected{std::move(known).error()};
  return {};
}

std::expected<void, node_error> family_changes::reconfigure(const link_changes& changes,
                                                            std::chrono::milliseconds timeout) {
  if (auto good = check(changes); !good)
    return good;
  const auto deadline =
      std::chrono::steady_clock::now()
      + std::clamp<std::chrono::milliseconds>(timeout, std::chrono::milliseconds{0}, std::chrono::hours{24});
  auto held = link_.mutex.lock();
  if (!over_.wait_until(held.for_waiting(), deadline, [this] { return !link_.is_open() || !lists_.is_changing(); }))
    return fail(node_errc::timed_out, link_.peer_name() + " has not answered the previous change within "
                                          + std::to_string(timeout.count()) + " ms; this change was not made");
  if (!link_.is_open())
    return std::unexpected{link_.down()};
  auto wanted = lists_.mine();
  if (changes.serializers)
    wanted.serializers = *changes.serializers;
  if (changes.deserializers)
    wanted.deserializers = changes.deserializers->empty() ? wanted.serializers : *changes.deserializers;
  if (!have_in_common(wanted, lists_.theirs()))
    return fail(node_errc::nothing_in_common,
                nothing_in_common_text(own_.name, wanted, link_.peer_name(), lists_.theirs()));
  const auto concerns_peer = wanted != lists_.mine();
  std::future<result> answer;
  std::uint64_t number = 0;
  if (concerns_peer) {
    before_ = own_now(held);
    number = lists_.begin(std::move(wanted));
    answer = under_way_.emplace().get_future();
  }
  of_.terms.renew(held, lists_, [&](sending_terms& terms) { apply_locally(changes, terms); });
  held.unlock();
  if (!concerns_peer)
    return {};
  post_to(of_.io, [owner = owner_.lock(), this, number] { announce(number); });
  if (answer.wait_until(deadline) != std::future_status::ready)
    return fail(node_errc::timed_out, link_.peer_name() + " has not acknowledged the change within "
                                          + std::to_string(timeout.count())
                                          + " ms; the change stands, and the previous families are accepted until the "
                                            "peer acknowledges. The peer has unconsumed messages, or is slow");
  return answer.get();
}

family_changes::own_terms family_changes::own_now(const link_held& held) const {
  const auto& terms = *of_.terms.now(held);
  return {.compression = terms.context.compression,
          .spill_bytes = terms.spill_bytes,
          .offload_bytes = of_.terms.offload_bytes()};
}

void family_changes::apply_locally(const link_changes& changes, sending_terms& terms) {
  if (changes.compression && own_.may_compress)
    terms.context.compression = *changes.compression;
  if (changes.spill_bytes)
    terms.spill_bytes = *changes.spill_bytes;
  if (changes.offload_bytes)
    of_.terms.offload_from(*changes.offload_bytes);
}

/// I/O thread. Accepts both the old and the new list first, then tells the peer about the change.
void family_changes::announce(std::uint64_t number) {
  auto held = link_.mutex.lock();
  if (!link_.is_open() || !lists_.is_changing())
    return;
  const auto names = lists_.mine();
  auto accepted = lists_.accepted();
  held.unlock();
  accept_only(std::move(accepted));
  link_.admin.send(admin_op::reconfigure, family_change{number, names.serializers, names.deserializers});
}

std::expected<void, node_error> family_changes::on_reconfigured(const reconfigured& what) {
  const auto is_accepted = what.refusal.empty();
  auto held = link_.mutex.lock();
  if (!lists_.settle(what.number, is_accepted))
    return violation("the peer answers change " + grouped(what.number) + " of the families, which was never sent");
  of_.terms.renew(held, lists_, [&](sending_terms& terms) {
    if (is_accepted)
      return;
    terms.context.compression = before_.compression;
    terms.spill_bytes = before_.spill_bytes;
    of_.terms.offload_from(before_.offload_bytes);
  });
  auto accepted = lists_.accepted();
  auto change = std::exchange(under_way_, std::nullopt);
  held.unlock();
  log(log_level::debug, "to " + link_.peer_name() + ": accepts " + bracketed(accepted)
                            + (is_accepted ? "" : "; a change was refused: " + one_line(cut(what.refusal))));
  accept_only(std::move(accepted)); // The peer does not use the other families any more.
  over_.notify_all();
  if (change)
    change->set_value(is_accepted ? result{}
                                  : fail(node_errc::nothing_in_common,
                                         link_.peer_name() + " refused the change, and nothing has changed: "
                                             + one_line(cut(what.refusal))));
  return {};
}

void family_changes::end(const node_error& reason) {
  auto held = link_.mutex.lock();
  auto change = std::exchange(under_way_, std::nullopt);
  held.unlock();
  over_.notify_all();
  if (change)
    change->set_value(std::unexpected{reason});
}

// -- the peer's changes

std::expected<void, node_error> family_changes::on_reconfigure(const family_change& what) {
  if (!names_are_bounded(what.serializers) || !names_are_bounded(what.deserializers))
    return violation("the peer lists more than 64 families, or one of a name longer than 1,024 bytes");
  const auto held = link_.mutex.lock();
  if (!lists_.is_in_turn(what.number))
    return violation("the peer changes its families for the " + grouped(what.number)
                     + "th time out of turn, or before the last change is answered");
  const family_names theirs{what.serializers, what.deserializers};
  if (!lists_.change_peer(what.number, theirs)) {
    const auto text = nothing_in_common_text(own_.name, lists_.mine(), link_.peer_name(), theirs);
    link_.admin.send(held, admin_op::reconfigured, reconfigured{what.number, cut(text)});
    return {};
  }
  of_.terms.renew(held, lists_);
  acknowledge_if_due(held, nullptr);
  return {};
}

void family_changes::acknowledge_if_due(const link_held& held, outbox* out) {
  const auto number = lists_.take_acknowledgement();
  if (!number)
    return;
  const reconfigured answer{*number, {}};
  if (out != nullptr)
    admin_output::append(*out, admin_op::reconfigured, answer);
  else
    link_.admin.send(held, admin_op::reconfigured, answer);
}

} // namespace troupe::internal
