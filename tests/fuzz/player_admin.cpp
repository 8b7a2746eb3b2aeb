// Admin messages of peers.
#include "player.hpp"

#include <algorithm>
#include <iterator>

#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/contract.hpp>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

namespace {

std::uint8_t low(std::size_t number) {
  return static_cast<std::uint8_t>(number);
}

} // namespace

bool player::take_admin_step(step what, script& in) {
  auto& one = current();
  switch (what) {
  case step::raw_admin: {
    const auto op = in.byte();
    one.write_raw({});
    one.write(packet_kind::admin, op, in.bytes());
    return true;
  }
  case step::find: {
    const auto which = in.byte();
    one.write_admin(admin_op::find, find_query{which, which < 200 ? home::names[which % home::names.size()] : "kept"});
    return true;
  }
  case step::name_changed: {
    const auto which = in.byte();
    one.write_admin(admin_op::name_changed,
                    name_changed{which < 250 ? home::names[which % home::names.size()] : std::string(1'025, 'n')});
    return true;
  }
  case step::found: {
    const auto how = in.byte();
    const auto& asked = one.queries();
    const found answer{.query = asked.empty() ? how : asked[how % asked.size()],
                       .actor = number(in),
                       .interface = std::vector<std::string>(how >> 6, "i32"),
                       .readers = (how & 1) != 0};
    if (!answer.readers)
      one.mention(answer.actor);
    one.write_admin(admin_op::found, answer);
    return true;
  }
  case step::monitor:
    one.write_admin(admin_op::monitor, monitor{number(in)});
    return true;
  case step::demonitor:
    one.write_admin(admin_op::demonitor, monitor{number(in)});
    return true;
  case step::down: {
    const auto actor = number(in);
    const auto reason = in.bytes();
    const std::string text{reinterpret_cast<const char*>(reason.data()), reason.size()};
    one.write_admin(admin_op::down, down{actor, low(text.size()), text.substr(0, 12), text});
    return true;
  }
  case step::release_actor: {
    const auto actor = number(in);
    one.write_admin(admin_op::release_actor, release_actor{actor, amount(in, one.times_named(actor))});
    return true;
  }
  case step::release_object:
    one.write_admin(admin_op::release_object, release_object{in.byte(), in.byte(), amount(in, 1)});
    return true;
  case step::credit: {
    const auto& there = one.outstanding();
    const auto which = in.byte();
    if (there.empty() || which >= 250) {
      one.give_credit(which, amount(in, 0));
      return true;
    }
    const auto& [actor, bytes] = *std::next(there.begin(), static_cast<std::ptrdiff_t>(which % there.size()));
    one.give_credit(actor, amount(in, bytes));
    return true;
  }
  case step::ping:
    one.write_admin((in.byte() & 1) != 0 ? admin_op::ping : admin_op::pong, ping{});
    return true;
  case step::introduce:
    write_introduction(in);
    return true;
  case step::withdraw:
    one.write_admin(admin_op::withdraw, withdraw{number(in)});
    return true;
  case step::type_refused: {
    const auto refused = alias(in);
    const auto how = in.byte();
    const auto* type = home_.types().find(refused);
    one.write_admin(admin_op::type_refused,
                    type_refused{refused, (how & 1) != 0, how,
                                 type != nullptr && (how & 2) != 0
                                     ? contract_of(*type)
                                     : "troupe contract 1\ntype \"" + refused + "\": struct\n  .celsius: list text\n"});
    return true;
  }
  case step::reconfigure: {
    const auto number = amount(in, 1);
    const auto sends = families(in);
    one.write_admin(admin_op::reconfigure, family_change{number, sends, families(in)});
    return true;
  }
  case step::reconfigured:
    one.write_admin(admin_op::reconfigured,
                    reconfigured{amount(in, one.change().value_or(1)), in.byte() < 128 ? "" : "no"});
    return true;
  case step::goodbye: {
    const auto text = in.bytes();
    one.write_admin(admin_op::goodbye, goodbye{{reinterpret_cast<const char*>(text.data()), text.size()}});
    return true;
  }
  default:
    return false;
  }
}

/// Introduces an actor of a third node, or one that the node has given away on one of its links.
void player::write_introduction(script& in) {
  const auto how = in.byte();
  const auto& from = peers_[how % peers] ? *peers_[how % peers] : current();
  introduce what{.number = foreign_bit | (how >> 4 & 3) | ((how & 64) != 0 ? 0 : 1),
                 .hops = static_cast<std::uint32_t>(amount(in, 1)),
                 .process = 9,
                 .host = std::string(how == 255 ? 39 : 40, 'c'),
                 .link = from.theirs().link,
                 .actor = number(in),
                 .proof = byte_vector(how >= 254 ? 31 : 32, std::byte{1})};
  if ((how & 2) != 0) { // An actor of the node itself.
    const auto& id = static_cast<const caf::node_id::default_data&>(*home_.node().system().node());
    what.process = id.process_id();
    what.host = hex(std::as_bytes(std::span{id.host_id()}));
  }
  if ((how & 4) != 0) {
    byte_vector text;
    for (const auto each : std::string_view{"troupe introduction"})
      text.push_back(static_cast<std::byte>(each));
    for (unsigned i = 0; i < 8; ++i)
      text.push_back(static_cast<std::byte>(what.actor >> (8 * i) & 0xff));
    const auto proof = hmac_sha256(from.theirs().introduction_key, text);
    what.proof.assign(proof.begin(), proof.end());
  }
  current().write_admin(admin_op::introduce, what);
}

} // namespace fuzz
