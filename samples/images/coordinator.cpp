#include "coordinator.hpp"

#include <algorithm>
#include <iostream>

#include <troupe/troupe.hpp>

namespace images {

namespace {

constexpr std::size_t tile_side = 128;
/// One tile being filtered and one queued, so that a worker never waits for messages.
constexpr std::size_t tiles_per_worker = 2;
using patience_atom = caf::atom_constant<caf::atom("patience")>;

/// Copies a tile's values to their place in the whole picture.
void assemble(const area& where, const pixels& part, std::size_t width, std::vector<std::uint8_t>& whole) {
  const auto channels = part.shape()[2];
  for (std::size_t row = 0; row < where.height; ++row)
    std::copy_n(part.data() + row * where.width * channels, where.width * channels,
                whole.begin() + static_cast<std::ptrdiff_t>(((where.row + row) * width + where.column) * channels));
}

} // namespace

coordinator::coordinator(caf::actor_config& config, const pixels_ref& picture, const pixels& view, results& into)
    : caf::event_based_actor(config), picture_(picture), view_(view), results_(into) {
  for (const auto what : {filter::blur, filter::edges, filter::histogram})
    plan(what);
  missing_ = results_.tiles = waiting_.size();
  results_.blurred.resize(view_.size());
  results_.edges.resize(view_.size() / view_.shape()[2]);
  results_.histogram.resize(view_.shape()[2] * 256);
  set_down_handler([this](const caf::down_msg& gone) {
    const auto found = workers_.find(gone.source);
    if (found == workers_.end()) // A worker that registered twice is reported twice.
      return;
    std::cout << "worker " << found->second.process << " is lost" << std::endl;
    workers_.erase(found);
    if (workers_.empty()) // Other workers may be about to start.
      delayed_send(this, patience, patience_atom::value);
  });
}

caf::behavior coordinator::make_behavior() {
  delayed_send(this, patience, patience_atom::value);
  return {[this](const registration& from) {
            std::cout << "worker " << from.process << " works" << std::endl;
            monitor(from.worker);
            auto& added = workers_[from.worker.address()];
            added = {.actor = from.worker, .process = from.process};
            hand_out(added);
          },
          [this](patience_atom) {
            if (workers_.empty())
              finish("there is no worker");
          }};
}

void coordinator::plan(filter what) {
  const auto height = view_.shape()[0], width = view_.shape()[1];
  for (std::size_t row = 0; row < height; row += tile_side)
    for (std::size_t column = 0; column < width; column += tile_side)
      waiting_.push_back({.what = what,
                          .where = {.row = row,
                                    .column = column,
                                    .height = std::min(tile_side, height - row),
                                    .width = std::min(tile_side, width - column)},
                          .picture = picture_});
}

void coordinator::hand_out(worker& to) {
  for (; to.tiles < tiles_per_worker && !waiting_.empty(); ++to.tiles) {
    const auto next = waiting_.front();
    waiting_.pop_front();
    const auto address = to.actor.address();
    const auto go_on = [this, address] {
      if (const auto found = workers_.find(address); found != workers_.end()) {
        --found->second.tiles;
        hand_out(found->second);
      }
    };
    request(to.actor, caf::infinite, next)
        .then(
            [this, next, go_on](const filtered_tile& answer) {
              take(next, answer);
              go_on();
            },
            [this, next](const caf::error& error) {
              if (troupe::to_node_error(error).code() != troupe::node_errc::link_down)
                return finish(troupe::text_of(error));
              ++results_.tiles_repeated; // The remaining workers get the tile.
              waiting_.push_front(next);
              for (auto& [known, other] : workers_)
                hand_out(other);
            });
  }
}

void coordinator::take(const tile& asked, const filtered_tile& answer) {
  results_.bytes_read += answer.bytes_read;
  if (asked.what == filter::histogram) {
    const auto part = answer.histogram.get();
    if (!part || part->size() != results_.histogram.size())
      return finish(part ? "a histogram of another size" : part.error().message());
    std::ranges::transform(*part, results_.histogram, results_.histogram.begin(), std::plus{});
    results_.bytes_written += answer.histogram.size_bytes();
  } else {
    const auto part = answer.image.get();
    const auto channels = asked.what == filter::blur ? view_.shape()[2] : 1;
    if (!part || part->shape() != std::vector{asked.where.height, asked.where.width, channels})
      return finish(part ? "a tile of another size" : part.error().message());
    assemble(asked.where, *part, view_.shape()[1], asked.what == filter::blur ? results_.blurred : results_.edges);
    results_.bytes_written += answer.image.size_bytes();
  }
  if (--missing_ == 0)
    finish();
}

void coordinator::finish(std::string failure) {
  results_.failure = std::move(failure);
  quit();
}

} // namespace images
