// Records a conversation between two nodes of this version.
#pragma once

#include <stdexcept>
#include <string>

#include <troupe/base/version.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

#include "../eventually.hpp"

#include "cast.hpp"
#include "protocol_1.hpp"
#include "recorder.hpp"

namespace troupe::tests::compat {

/// Throws std::runtime_error if the conversation does not go as it should.
[[nodiscard]] inline conversation record(const std::string& family) {
  conversation result{.family = family,
                      .troupe = TROUPE_VERSION,
                      .protocol = std::to_string(internal::protocol_version) + '.'
                                  + std::to_string(internal::protocol_minor_version),
                      .packets = {}};
  std::string problems;
  acceptor_cast acceptor{family};
  recorder between{acceptor.address()};
  const auto nothing_is_kept = [&] {
    result.packets = between.so_far();
    return unreleased(result) == 0;
  };
  const auto said = hold_conversation(family, between.address(), [&] {
    if (!eventually(nothing_is_kept))
      problems += "\n" + std::to_string(unreleased(result)) + " mentions of actors and objects are not released";
  });
  result.packets = between.all();
  for (const auto& list : {said, acceptor.problems()})
    for (const auto& each : list)
      problems += '\n' + each;
  if (!problems.empty())
    throw std::runtime_error("the conversation in " + family + " fails:" + problems);
  return result;
}

} // namespace troupe::tests::compat
