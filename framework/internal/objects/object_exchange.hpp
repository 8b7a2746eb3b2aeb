// One node's counted handles: connects the core of the exchange with the node's store, links and threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include <troupe/framework/internal/objects/exchange_surroundings.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/objects/mapped_answers.hpp>
#include <troupe/framework/internal/objects/object_serving.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/objects/replica_rooms.hpp>
#include <troupe/framework/internal/objects/shared_core.hpp>
#include <troupe/framework/internal/objects/unfinished_bytes.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Gives the core of the exchange its threads, its timer and its links.
///
/// Threads: as handle_counter says; end once; the others from any thread.
/// Locks: shared_core's.
/// Lifetime: every handle keeps the exchange alive. After end() requests fail with `link_down`, and objects that are
/// here stay.
class object_exchange final : public handle_counter,
                              public std::enable_shared_from_this<object_exchange>,
                              private core_errands {
public:
  struct options {
    handles::node_name self;
    std::uint64_t capacity_bytes = 0; // Of the store.
    std::chrono::nanoseconds grace{};
    originals::patience others = {};
    /// Finds or makes a link to that node. Called on the thread of `io`.
    std::function<void(const handles::node_name& who)> dial = nullptr;
  };

  object_exchange(asio::io_context& io, const store::object_store& store, const options& with);
  ~object_exchange() override;
  /// Starts the threads that wait for the store, so that later calls need no new thread. If the system refuses a
  /// thread, fails with `bad_option`; the text names `node`.
  [[nodiscard]] std::expected<void, node_error> start(const std::string& node);
  void end();

  // -- objects

  /// Makes an object that captures `captured`, some of which are not here yet. They are fetched from now on. When all
  /// have come, the object is written to the store. Until then its bytes stay in this process. Fails with `store_full`
  /// if its bytes, or those of all such objects together, are too many, and with `link_down` after the end.
  [[nodiscard]] std::expected<object_source_ptr, node_error>
  put_unfinished(frame bytes, std::vector<std::byte> metadata,
                 std::span<const std::shared_ptr<exchanged_object>> captured);

  // -- for exchanged_object

  void drop(handles::reference what);
  [[nodiscard]] store::handle stored(handles::reference what) const;
  [[nodiscard]] std::optional<node_error> why_lost(handles::reference what, std::uint64_t size_bytes) const;
  [[nodiscard]] object_source::fetch_id fetch(handles::reference what, std::uint64_t size_bytes,
                                              std::chrono::steady_clock::time_point until, object_source::answer then);
  void cancel(object_source::fetch_id which);

  // -- handle_counter

  [[nodiscard]] handles::node_name self() const noexcept override { return self_; }
  [[nodiscard]] std::shared_ptr<exchanged_object> object_of(const object_source_ptr& source) override;
  [[nodiscard]] bool link_up(const std::shared_ptr<counted_link>& link, handles::link_number number,
                             handles::node_name peer, bytes_view token,
                             const std::optional<exchange_channel>& shared) override;
  void link_down(handles::link_number number, std::string why) override;
  std::expected<void, node_error> on_message(handles::link_number from, const handles::message& what) override;
  std::expected<void, node_error> on_chunk(handles::link_number from, const object_chunk_head& head,
                                           bytes_view bytes) override;
  [[nodiscard]] std::expected<std::vector<object_source_ptr>, node_error>
  receive(handles::link_number from, std::span<const object_mention> mentions) override;
  [[nodiscard]] std::vector<object_mention>
  count_out(handles::link_number to, std::span<const std::shared_ptr<exchanged_object>> objects) override;
  [[nodiscard]] std::vector<handles::message> take_messages(handles::link_number to) override;
  [[nodiscard]] bool is_used(handles::link_number link) const override { return core_.lock()->is_used(link); }
  [[nodiscard]] std::optional<object_piece> next_piece(handles::link_number to) override { return serving_.next(to); }
  [[nodiscard]] bool has_piece(handles::link_number to) const override { return serving_.has_piece(to); }

  // -- for summaries and tests

  /// The number of table rows in use.
  [[nodiscard]] handles::ledger_tables tables() const { return core_.lock()->tables(); }
  /// The objects to which this node has handles, and their holders.
  [[nodiscard]] handles::ledger_rows rows(std::uint32_t first, std::uint32_t count) const {
    return core_.lock()->rows(first, count);
  }
  /// The peer of an ended link, and why the link ended. Empty if that is no longer known.
  [[nodiscard]] std::string why_ended(handles::link_number link) const;

private:
  // -- core_errands
  void write_soon(core_turn, handles::link_number link) override;
  void wake_at(core_turn, handles::time_point when) override;
  void dial(core_turn, const handles::node_name& who) override;

  [[nodiscard]] std::optional<node_error> why_forked() const;
  void write(handles::link_number link);
  void set_timer();
  void tick();

  asio::io_context& io_;
  store::object_store store_;
  const handles::node_name self_;
  const pid_t pid_ = ::getpid();
  const std::function<void(const handles::node_name&)> dial_;

  // Guarded by the core's lock.
  struct writer {
    std::weak_ptr<counted_link> link;
    asio::io_context* io = nullptr; // The link's.
    bool is_called = false;         // A call to write() is queued on its I/O thread.
  };
  std::map<handles::link_number, writer> writers_;
  handles::time_point wakes_at_ = handles::never;

  std::unique_ptr<io_timer> timer_; // The thread of `io`; null after the end.
  // Order of destruction: members that the core uses stand before the core. Members with jobs in the queues stand
  // before the queues, because the queues end first.
  object_serving serving_;
  mapped_answers callers_;
  unfinished_bytes unfinished_;
  replica_rooms rooms_;
  shared_core core_;
  job_queue worker_; // Seals, pins and answers.
  job_queue maker_;  // Waits for room.
};

} // namespace troupe::internal
