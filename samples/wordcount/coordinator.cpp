#include "coordinator.hpp"

#include <troupe/troupe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace wordcount {

using namespace std::chrono_literals;

namespace {

/// One block being counted and one queued at the worker, so that it never waits for the next one.
constexpr std::size_t blocks_per_worker = 2;
/// One more block per worker is read ahead, so that no worker waits for a file. This bounds the text in the store.
constexpr std::size_t blocks_read_ahead = 1;

constexpr auto link_is_down = "its link is down";
constexpr auto progress_interval = 100ms;
constexpr auto full_store_interval = 5ms;
/// Workers release their last blocks just after they have answered.
constexpr auto full_store_patience = 1s;

bool is_store_full(const caf::error& why) {
  return why.category() == troupe::error_category
         && why.code() == static_cast<std::uint8_t>(troupe::node_errc::store_full);
}

} // namespace

coordinator::coordinator(caf::actor_config& config, settings with, caf::actor reader, troupe::node& node,
                         console& shown)
    : caf::event_based_actor(config),
      settings_(with),
      reader_(std::move(reader)),
      node_(node),
      console_(shown),
      workers_(with.workers) {
  set_down_handler([this](const caf::down_msg& gone) {
    for (std::size_t number = 1; number <= workers_.size(); ++number)
      if (workers_[number - 1].counter.address() == gone.source)
        lose(number, gone.reason == caf::exit_reason::remote_link_unreachable
                         ? link_is_down
                         : "it ended: " + troupe::text_of(gone.reason));
  });
}

caf::behavior coordinator::make_behavior() {
  return {
      [this](start_job) {
        asked_ = make_response_promise();
        began_ = std::chrono::steady_clock::now();
        delayed_send(this, settings_.start_timeout, reminder::end_of_start);
        if (console_.shows_progress())
          send(this, reminder::show_progress);
        go_on();
        return asked_;
      },
      [this](const registration& from) { return on_registration(from); },
      [this](const worker_ended& what) {
        lose(what.worker, what.how);
        if (auto& how = workers_[what.worker - 1].lost_how; how == link_is_down)
          how = what.how; // The process's end says more than the link's.
      },
      [this](interrupted by) { finish("interrupted", by.signal); },
      [this](reminder of) { on_reminder(of); },
  };
}

void coordinator::on_exit() {
  workers_.clear();
  waiting_.clear();
}

// -- incoming messages --

caf::result<void> coordinator::on_registration(const registration& from) {
  if (from.worker < 1 || from.worker > workers_.size() || workers_[from.worker - 1].is != worker::state::starting)
    return caf::make_error(caf::sec::invalid_argument, "no worker " + std::to_string(from.worker) + " is awaited");
  auto& registered = workers_[from.worker - 1];
  registered.is = worker::state::ready;
  registered.counter = from.counter;
  registered.answers_with = from.serializers;
  for (auto& link : node_.links())
    if (link.peer_name() == worker_name(from.worker))
      registered.link = link;
  monitor(from.counter);
  go_on();
  return caf::unit;
}

void coordinator::on_block_read(block_read&& next) {
  is_reading_ = false;
  room_deadline_.reset();
  result_->read = next.totals;
  result_->problems = next.problems;
  if (next.text)
    waiting_.push_back({blocks_read_++, *std::move(next.text)});
  else
    all_read_ = true;
  go_on();
}

void coordinator::on_read_error(const caf::error& why) {
  if (!is_store_full(why))
    return finish("cannot go on reading: " + troupe::text_of(why));
  // Blocks in work make room once they are counted. Even if none is in work, a worker may release the last ones a
  // moment later.
  const auto now = std::chrono::steady_clock::now();
  if (blocks_in_work() > 0 || !room_deadline_)
    room_deadline_ = now + full_store_patience;
  if (now > *room_deadline_)
    return finish("cannot go on reading: " + troupe::text_of(why));
  delayed_send(this, full_store_interval, reminder::read_again);
}

void coordinator::on_counts(std::size_t number, std::uint64_t block, const block_counts& answer) {
  auto& from = workers_[number - 1];
  const auto found = std::ranges::find(from.blocks, block, &text_block::number);
  if (found == from.blocks.end())
    return; // The worker was given up meanwhile, and its block went to another worker.
  if (answer.block != block)
    return lose(number, "it answered block " + std::to_string(answer.block) + " instead of " + std::to_string(block));
  if (auto added = result_->totals.add(answer); !added)
    return lose(number, added.error());
  from.blocks.erase(found);
  ++from.blocks_counted;
  ++result_->blocks;
  go_on();
}

void coordinator::on_reminder(reminder of) {
  switch (of) {
  case reminder::read_again:
    is_reading_ = false;
    return go_on();
  case reminder::show_progress:
    show_progress();
    return delayed_send(this, progress_interval, reminder::show_progress);
  case reminder::end_of_start:
    for (std::size_t number = 1; number <= workers_.size(); ++number)
      if (workers_[number - 1].is == worker::state::starting)
        lose(number, fmt::format("it did not register within {} seconds", settings_.start_timeout.count()));
  }
}

void coordinator::lose(std::size_t number, const std::string& how) {
  auto& lost = workers_[number - 1];
  if (std::exchange(lost.is, worker::state::lost) == worker::state::lost)
    return;
  lost.lost_how = how;
  console_.note(fmt::format("worker {} is lost: {}; {} of its blocks go to others", number, how, lost.blocks.size()));
  // Ahead of the other blocks, because they were read first.
  std::ranges::move(lost.blocks, std::front_inserter(waiting_));
  lost.blocks.clear();
  if (lost.link)
    lost.link->close(); // If the worker still lives, this ends it.
  go_on();
}

// -- reactions --

void coordinator::go_on() {
  if (!asked_.pending())
    return; // Not started, or finished.
  if (count(worker::state::lost) == workers_.size()) {
    std::string reasons;
    for (std::size_t number = 1; number <= workers_.size(); ++number)
      reasons += fmt::format("{}worker {}: {}", number == 1 ? "" : "; ", number, workers_[number - 1].lost_how);
    return finish("no worker is left (" + reasons + ")");
  }
  // Wait for all workers, so that each gets its share even of a small folder.
  const auto all_there = count(worker::state::starting) == 0;
  if (all_there)
    hand_out();
  read_ahead();
  if (all_there && all_read_ && blocks_in_work() == 0)
    finish({});
}

void coordinator::hand_out() {
  for (auto* next = least_busy(); next != nullptr && !waiting_.empty(); next = least_busy()) {
    const auto number = static_cast<std::size_t>(next - workers_.data()) + 1;
    auto block = std::move(waiting_.front());
    waiting_.pop_front();
    request(next->counter, caf::infinite, block)
        .then([this, number, sent = block.number](const block_counts& answer) { on_counts(number, sent, answer); },
              [this, number](const caf::error& why) { lose(number, troupe::text_of(why)); });
    next->blocks.push_back(std::move(block));
  }
}

void coordinator::read_ahead() {
  const auto alive = workers_.size() - count(worker::state::lost);
  if (is_reading_ || all_read_ || blocks_in_work() >= alive * (blocks_per_worker + blocks_read_ahead))
    return;
  is_reading_ = true;
  request(reader_, caf::infinite, next_block{})
      .then([this](block_read& next) { on_block_read(std::move(next)); },
            [this](const caf::error& why) { on_read_error(why); });
}

/// The worker with the fewest blocks, or null if all workers have enough.
coordinator::worker* coordinator::least_busy() {
  worker* least = nullptr;
  for (auto& one : workers_)
    if (one.is == worker::state::ready && one.blocks.size() < blocks_per_worker
        && (least == nullptr || one.blocks.size() < least->blocks.size()))
      least = &one;
  return least;
}

std::size_t coordinator::count(worker::state is) const {
  return static_cast<std::size_t>(std::ranges::count(workers_, is, &worker::is));
}

/// Number of blocks that were read and whose counts have not been added.
std::size_t coordinator::blocks_in_work() const {
  return static_cast<std::size_t>(blocks_read_ - result_->blocks);
}

void coordinator::show_progress() {
  console_.progress(fmt::format("{} files, {:.0f} MB, {} of {}{} blocks counted, {} of {} workers", result_->read.files,
                                static_cast<double>(result_->read.bytes) / 1e6, result_->blocks, blocks_read_,
                                all_read_ ? "" : "+", count(worker::state::ready), workers_.size()));
}

void coordinator::finish(std::string failure, int signal) {
  if (!asked_.pending())
    return; // Already finished.
  console_.progress({});
  result_->failure = std::move(failure);
  result_->signal = signal;
  result_->time = std::chrono::steady_clock::now() - began_;
  for (std::size_t number = 1; number <= workers_.size(); ++number)
    result_->links.push_back(row_of(number));
  asked_.deliver(job_result_ptr{std::move(result_)});
  quit();
}

link_row coordinator::row_of(std::size_t number) const {
  const auto& of = workers_[number - 1];
  link_row row{.peer = worker_name(number),
               .sends_with = {},
               .answers_with = of.answers_with,
               .blocks = of.blocks_counted,
               .stats = {},
               .lost = of.lost_how};
  if (of.link) {
    row.sends_with = of.link->serializers();
    row.stats = of.link->stats();
  }
  return row;
}

} // namespace wordcount
