// The actor that hands out tiles and assembles the results, even if workers die meanwhile.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "messages.hpp"

namespace images {

/// The results. They belong to the coordinator until it has ended.
struct results {
  std::vector<std::uint8_t> blurred; // In the picture's layout.
  std::vector<std::uint8_t> edges;   // In one channel.
  std::vector<std::uint64_t> histogram;
  std::size_t tiles = 0;
  std::size_t tiles_repeated = 0;
  std::size_t bytes_read = 0;    // Read by workers, in place.
  std::size_t bytes_written = 0; // Written by workers, in place.
  std::string failure;           // Empty on success.
};

class coordinator : public caf::event_based_actor {
public:
  /// Time to wait for a worker while there is none.
  static constexpr auto patience = std::chrono::seconds(10);

  coordinator(caf::actor_config& config, const pixels_ref& picture, const pixels& view, results& into);

  caf::behavior make_behavior() override;

private:
  struct worker {
    caf::actor actor;
    std::int64_t process = 0;
    std::size_t tiles = 0; // Tiles assigned to it.
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
