// Records a conversation between two nodes of this version.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <troupe/base/version.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

#include "../eventually.hpp"

#include "protocol_1.hpp"
#include "recorder.hpp"
#include "subject.hpp"

namespace troupe::tests::compat {

/// Throws std::runtime_error if the conversation does not go as it should.
[[nodiscard]] inline conversation record(const subject& about, const std::string& family) {
  conversation result{.family = family,
                      .subject = about.name,
                      .troupe = TROUPE_VERSION,
                      .protocol = std::to_string(internal::protocol_version) + '.'
                                  + std::to_string(internal::protocol_minor_version),
                      .links = {}};
  std::string problems;
  const auto acceptor = about.listen(family);
  recorder between{acceptor->address()};
  const auto unreleased_now = [&] {
    const auto links = between.so_far();
    return links.empty() ? 0 : unreleased(links.back());
  };
  const auto said = about.talk(family, between.address(),
                               {.before_lost_answer = [&] { between.lose_answer(); },
                                .before_close =
                                    [&] {
                                      if (!eventually([&] { return unreleased_now() == 0; }))
                                        problems += '\n' + std::to_string(unreleased_now())
                                                    + " mentions of actors and objects are not released";
                                    }});
  for (const auto& link : between.all())
    result.links.push_back(without_polling(link));
  for (const auto& list : {said, acceptor->problems()})
    for (const auto& each : list)
      problems += '\n' + each;
  if (!problems.empty())
    throw std::runtime_error("the conversation about " + about.name + " in " + family + " fails:" + problems);
  return result;
}

} // namespace troupe::tests::compat
