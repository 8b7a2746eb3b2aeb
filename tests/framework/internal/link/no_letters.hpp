// For tests of parts of a link: nobody wants dead letters.
#pragma once

#include <troupe/framework/internal/link/dead_letter_box.hpp>

namespace troupe::internal {

class no_letters final : public dead_letter_box {
public:
  bool has_room() const noexcept override { return false; }
  void note_lost() noexcept override {}
  void put(dead_letter, const message_view&, const caf::strong_actor_ptr&) override {}
  void put(dead_letter, const caf::strong_actor_ptr&) override {}
};

} // namespace troupe::internal
