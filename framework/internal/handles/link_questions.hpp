// The questions asked over one link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// A question to the peer that has no answer yet.
struct open_request {
  enum class kind : std::uint8_t { adopt, reclaim, pull };
  kind what = kind::pull;
  reference about;
  object_id name;             // reclaim
  std::uint64_t token = 0;    // adopt
  link_number offered_by = 0; // adopt
};

/// Numbers the questions asked over one link, so that each answer finds its question.
class link_questions {
public:
  link_questions(link_number link, timer_queue& timers) : link_(link), timers_(timers) {}

  /// Asks a question that is given up at `until`. For a pull, the fetch's own deadline applies instead.
  [[nodiscard]] request_number ask(const open_request& what, time_point until = never);

  enum class standing : std::uint8_t { open, given_up, never_asked };
  /// The standing of the question that a peer's message answers. If the question was given up, the handles in the
  /// answer are released.
  [[nodiscard]] standing standing_of(request_number request, open_request::kind what) const;
  [[nodiscard]] bool was_asked(request_number request) const noexcept { return request != 0 && request <= last_own_; }
  /// Null if the question is not open.
  [[nodiscard]] const open_request* find(request_number request) const;
  /// Requires: the question is open.
  open_request close(request_number request);

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  /// The first open question. Requires: one is open.
  [[nodiscard]] request_number first() const { return open_.begin()->first; }

  /// Returns whether a question of the peer has a permitted number; if so, the number is used up.
  [[nodiscard]] bool admit(request_number of_peer);

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;
  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const auto& [request, each] : open_)
      visit(request, each.what);
  }

private:
  struct question {
    question(const open_request& asked, timer_queue& timers, link_number link, request_number request)
        : what(asked), until(timers, timer::kind::question, link, request) {}

    open_request what;
    deadline until;
  };

  const link_number link_;
  timer_queue& timers_;
  request_number last_own_ = 0;
  request_number last_of_peer_ = 0;
  std::map<request_number, question> open_;
};

} // namespace troupe::internal::handles
