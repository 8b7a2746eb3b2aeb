// All state of one link.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/handles/adoption_turns.hpp>
#include <troupe/framework/internal/handles/busy_pause.hpp>
#include <troupe/framework/internal/handles/ledger_options.hpp>
#include <troupe/framework/internal/handles/link_questions.hpp>
#include <troupe/framework/internal/handles/link_servings.hpp>
#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/parked_adoptions.hpp>
#include <troupe/framework/internal/handles/pull_turns.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// An export: handles that were sent to a peer and are not released yet. The object is held, under the name that the
/// peer knows.
struct export_record {
  reference what;
  std::uint64_t count = 0;
  std::uint64_t reclaimed = 0; // How many of them, at most, answered a `reclaim` and so carry neither bytes nor a hold.
  time_point since{};          // For diagnostics.
};

//  up --lost--> grace --reclaimed all, or time is over--> (forgotten)
enum class link_phase : std::uint8_t { up, grace };

/// One link and everything that was sent over it.
struct link_record {
  link_record(link_number numbered, const node_name& with, bool shares, timer_queue& timers,
              const ledger_options& options)
      : number(numbered),
        peer(with),
        shares_store(shares),
        grace_ends(timers, timer::kind::grace, numbered),
        questions(numbered, timers),
        adoptions({options.adoptions_max, options.adoptions_offered_max}),
        pulls_of_own(options.pulls_max),
        pulls_behind(options.pulls_max),
        servings(options.servings_max),
        parked(numbered, timers, options.parked_max),
        pause(numbered, timers) {}

  const link_number number;
  const node_name peer;
  const bool shares_store;
  link_phase phase = link_phase::up;
  deadline grace_ends;
  std::map<object_id, export_record> exports;
  std::map<object_id, reference> imports;
  // Used only while the link is up.
  link_questions questions;
  adoption_turns adoptions; // From the peer.
  pull_turns pulls_of_own;  // Pulls of objects that the peer has itself.
  pull_turns pulls_behind;  // Pulls of objects that it must fetch first, which must not hold up the others.
  link_servings servings;
  parked_adoptions parked;
  std::vector<object_id> unclaimed; // In flight to this end when the store was busy; nobody refers to them any more.
  busy_pause pause;

  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;
};

} // namespace troupe::internal::handles
