// The actor that hands out tiles and puts the results together, whichever workers die meanwhile.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "messages.hpp"

namespace images {

/// What comes of it; belongs to the coordinator until that has ended.
struct results {
  std::vector<std::uint8_t> blurred; // As the picture is.
  std::vector<std::uint8_t> edges;   // One channel.
  std::vector<std::uint64_t> histogram;
  std::size_t tiles = 0;
  std::size_t tiles_repeated = 0;
  std::size_t bytes_read = 0;    // By workers, in place.
  std::size_t bytes_written = 0; // The same.
  std::string failure;           // Empty: none.
};

class coordinator : public caf::event_based_actor {
public:
  /// Waits for so long for a worker where there is none.
  static constexpr auto patience = std::chrono::seconds(10);

  coordinator(caf::actor_config& config, const pixels_ref& picture, const pixels& view, results& into);

  caf::behavior make_behavior() override;

private:
  struct worker {
    caf::actor actor;
    std::int64_t process = 0;
    std::size_t tiles = 0; // That it has.
  };

  void plan(filter what);
  void hand_out(worker& to);
  void take(const tile& asked, const filtered_tile& answer);
  void finish(std::string failure = {});

  const pixels_ref picture_;
  const pixels view_;
  results& results_;
  std::deque<tile> waiting_;
  std::map<caf::actor_addr, worker> workers_;
  std::size_t missing_ = 0; // Tiles without a result.
};

} // namespace images
