// The actor that hands out the text and adds up the counts.
#pragma once

#include "console.hpp"
#include "job_result.hpp"
#include "messages.hpp"
#include "text_reader.hpp"

#include <troupe/framework/link.hpp>
#include <troupe/framework/node.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/response_promise.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wordcount {

/// Starts the job. The coordinator answers once, with a job_result_ptr, and then ends. This message and the ones below
/// stay within the process.
struct start_job {};

/// A worker's process has ended or could not be started.
struct worker_ended {
  std::size_t worker = 0;
  std::string how;
};

/// The user interrupts the job.
struct interrupted {
  int signal = 0;
};

/// Messages that the coordinator sends to itself with a delay.
enum class reminder : std::uint8_t { show_progress, end_of_start, read_again };

/// Gives each worker a few blocks at a time and collects the counts. Every block is in one place: in the queue, or with
/// one worker until its answer is added. When a worker is lost, its blocks return to the queue. Therefore each block is
/// added exactly once, whichever workers die.
class coordinator : public caf::event_based_actor {
public:
  struct settings {
    std::size_t workers = 1;
    std::chrono::seconds start_timeout{10}; // Time for all workers to register.
  };

  /// `node`, to which the workers connect, and `shown` must outlive the actor.
  coordinator(caf::actor_config& config, settings with, caf::actor reader, troupe::node& node, console& shown);

  caf::behavior make_behavior() override;

  /// Releases all text and links, because others may still hold references to the actor.
  void on_exit() override;

private:
  struct worker {
    enum class state { starting, ready, lost };

    state is = state::starting;
    std::string lost_how;
    caf::actor counter;
    std::optional<troupe::link> link;
    std::vector<std::string> answers_with; // Families of its answers.
    std::vector<text_block> blocks;        // Handed out and not yet answered.
    std::uint64_t blocks_counted = 0;
  };

  // Incoming messages.
  caf::result<void> on_registration(const registration& from);
  void on_reminder(reminder of);
  void on_block_read(block_read&& next);
  void on_read_error(const caf::error& why);
  void on_counts(std::size_t number, std::uint64_t block, const block_counts& answer);
  void lose(std::size_t number, const std::string& how);

  // Reactions.
  void go_on();
  void hand_out();
  void read_ahead();
  [[nodiscard]] worker* least_busy();
  [[nodiscard]] std::size_t count(worker::state is) const;
  [[nodiscard]] std::size_t blocks_in_work() const;
  void show_progress();
  void finish(std::string failure, int signal = 0);
  [[nodiscard]] link_row row_of(std::size_t number) const;

  const settings settings_;
  const caf::actor reader_;
  troupe::node& node_;
  console& console_;

  std::vector<worker> workers_;    // Worker 1 comes first.
  std::deque<text_block> waiting_; // Read and not handed out.
  bool is_reading_ = false;        // The reader has been asked and has not answered, or will be asked again soon.
  bool all_read_ = false;
  std::uint64_t blocks_read_ = 0;
  std::optional<std::chrono::steady_clock::time_point> room_deadline_; // While the store is full: when to give up.
  std::shared_ptr<job_result> result_ = std::make_shared<job_result>();
  caf::response_promise asked_; // The response to start_job.
  std::chrono::steady_clock::time_point began_{};
};

} // namespace wordcount

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::start_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::worker_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::interrupted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::reminder)
