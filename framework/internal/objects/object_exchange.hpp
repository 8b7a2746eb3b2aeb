// One node's counted handles: the ledger of the handle protocol between the node's store and its links.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/handles/ledger.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/objects/object_tables.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/builder.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// A link as the exchange sees it.
class exchange_link {
public:
  virtual ~exchange_link() = default;
  /// I/O thread. There is something for take_messages() or next_piece().
  virtual void write_handles() = 0;
  /// I/O thread. The peer has broken the protocol of handles, or has lost this link.
  virtual void end_for_handles(const node_error& why) = 0;
  /// Any thread, takes no lock. The node at its other end.
  [[nodiscard]] virtual const std::string& peer_name() const noexcept = 0;
  /// Any thread, takes no lock. The largest object that is brought here over it.
  [[nodiscard]] virtual std::uint64_t object_bytes_max() const noexcept { return UINT64_MAX; }
};

/// Where two ends of a link hand objects over that lie in a store of both.
struct exchange_channel {
  store::process_id peer;
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
};

class exchanged_object;

/// Threads: end once; link_up, link_down, receive and the on_ members on the I/O thread; the rest from any.
/// Locks: its own comes after a link's. Under it nothing is called that waits, but the store's table for moments where
/// a peer or a caller names objects in it; nothing of a link, and no answer.
/// Lifetime: every handle keeps it. After end() it answers what is asked with `link_down`, and what is here stays.
class object_exchange final : public std::enable_shared_from_this<object_exchange>, private handles::local_objects {
public:
  struct options {
    handles::node_name self;
    std::uint64_t capacity_bytes = 0; // Of the store.
    std::chrono::nanoseconds grace{};
    /// How long a pull of another node of this host may keep this one from pulling the same. Longer saves traffic and
    /// memory where that one is slow, shorter saves time. Less than `ledger_options::pull_patience`.
    std::chrono::nanoseconds others_patience = std::chrono::seconds(30);
    /// The same for one that has brought nothing for so long: it is stopped, or its link stands still.
    std::chrono::nanoseconds others_stall = std::chrono::seconds(5);
    /// Looks for a link to that node. On the I/O thread.
    std::function<void(const handles::node_name& who)> dial = nullptr;
  };

  object_exchange(asio::io_context& io, store::object_store store, const options& with);
  ~object_exchange() override;
  /// Makes the threads that wait for the store, so that none is missing later. Fails with `bad_option` where the system
  /// gives none; the text names `node`.
  [[nodiscard]] std::expected<void, node_error> start(const std::string& node);
  void end();

  [[nodiscard]] handles::node_name self() const noexcept { return self_; }

  // -- objects

  /// A handle that can be sent to other hosts. Null where it is no object of this node's store.
  [[nodiscard]] std::shared_ptr<exchanged_object> object_of(const object_source_ptr& source);

  /// What captures these, of which some are not here yet: an object of the store when they have come, for which they
  /// are fetched from now on. Until then its bytes stay in this process. Fails with `store_full` where they are too
  /// many, or the bytes of all such objects, and with `link_down` after the end.
  [[nodiscard]] std::expected<object_source_ptr, node_error>
  put_unfinished(frame bytes, std::vector<std::byte> metadata,
                 std::span<const std::shared_ptr<exchanged_object>> captured);

  // -- links

  /// False where that number is not to be used: the link has to end.
  [[nodiscard]] bool link_up(const std::shared_ptr<exchange_link>& link, handles::link_number number,
                             handles::node_name peer, bytes_view token, const std::optional<exchange_channel>& shared);
  /// Keeps the reason, for the errors of what is lost with the link.
  void link_down(handles::link_number number, std::string why);

  /// Fails with `protocol_violation`.
  std::expected<void, node_error> on_message(handles::link_number from, const handles::message& what);
  std::expected<void, node_error> on_chunk(handles::link_number from, const object_chunk_head& head, bytes_view bytes);
  /// The counted mentions of a message that has arrived, in order; null for the others. Fails with
  /// `protocol_violation`.
  [[nodiscard]] std::expected<std::vector<object_source_ptr>, node_error>
  receive(handles::link_number from, std::span<const object_mention> mentions);

  /// Counts one sending of each, in the order of the result. With the link's mutex held; the message must follow,
  /// behind what take_messages() gives.
  [[nodiscard]] std::vector<object_mention> count_out(handles::link_number to,
                                                      std::span<const std::shared_ptr<exchanged_object>> objects);

  /// What is to be written on that link, in order. With the link's mutex held.
  [[nodiscard]] std::vector<handles::message> take_messages(handles::link_number to);

  /// Bytes that the peer has asked for. With the link's mutex held.
  struct piece {
    byte_vector start;
    frame bytes;
  };
  [[nodiscard]] std::optional<piece> next_piece(handles::link_number to);
  [[nodiscard]] bool has_piece(handles::link_number to) const;

  /// How many rows are in use, for tests and summaries.
  [[nodiscard]] handles::ledger_tables tables() const;
  /// What this node has handles to, and who keeps it.
  [[nodiscard]] handles::ledger_rows rows(std::uint32_t first, std::uint32_t count) const;
  /// Of a link that has ended, with whom and why; empty where that is not known any more.
  [[nodiscard]] std::string why_ended(handles::link_number link) const;

private:
  friend class exchanged_object;

  // -- for handles
  void drop(handles::reference what);
  [[nodiscard]] store::handle stored(handles::reference what) const;
  [[nodiscard]] std::optional<node_error> why_lost(handles::reference what, std::uint64_t size_bytes) const;
  [[nodiscard]] std::optional<node_error> why_forked() const;
  [[nodiscard]] object_source::fetch_id fetch(handles::reference what, std::uint64_t size_bytes,
                                              std::chrono::steady_clock::time_point until, object_source::answer then);
  void cancel(object_source::fetch_id which);

  // -- local_objects, with mutex_ held
  void hold(const store::object_id& place) override;
  void drop(const store::object_id& place) override;
  [[nodiscard]] std::uint64_t size_of(const store::object_id& place) const override;
  [[nodiscard]] std::vector<store::object_id> captured_by(const store::object_id& place) const override;
  [[nodiscard]] handles::home_name home_of(const store::object_id& place) override;
  [[nodiscard]] bool hold_at_home(const handles::home_name& which, std::uint64_t size_bytes) override;
  [[nodiscard]] bool hand_over(const store::object_id& place, handles::link_number link) override;
  void take_back(const store::object_id& place, handles::link_number link) override;
  [[nodiscard]] adoption adopt(const store::object_id& place, handles::link_number link) override;
  void abandon(handles::link_number link) override;

  // -- the ledger's actions, with mutex_ held
  struct waiter {
    object_source::answer then;
    std::uint64_t size_bytes = 0;
    std::chrono::steady_clock::time_point since;
    std::chrono::steady_clock::time_point until;
    std::optional<node_error> why_late; // Where its time is over, and what it waited for is known.
  };
  /// One link that is up.
  struct lane {
    std::weak_ptr<exchange_link> link;
    std::optional<exchange_channel> shared;
    std::deque<handles::message> messages; // Not written yet.
    bool is_flushing = false;              // The I/O thread will come.
    std::optional<node_error> ending;
    // What is served, I/O thread but for the pieces.
    struct served {
      std::shared_ptr<const stored_bytes> bytes; // Null until they are pinned.
      std::uint32_t sum = 0;                     // Of what was cut so far.
    };
    std::map<handles::request_number, served> serving;
    std::optional<handles::send_bytes> next; // To be cut from its object.
    bool is_pinning = false;
    std::deque<piece> pieces;
  };
  struct room;
  void settle();
  void act(handles::send_message& what);
  void act(const handles::send_bytes& what);
  void act(const handles::bytes_wanted& what);
  void act(const handles::close_link& what);
  void act(const handles::connect_to& what);
  void act(const handles::answer_waiter& what);
  void act(const handles::make_room& what);
  void act(handles::seal_room& what);
  void act(const handles::drop_room& what);
  void act(const handles::forget_unfinished& what);
  void flush_soon(handles::link_number link);
  void arm();
  void flush(handles::link_number link);
  void tick();

  // -- exchange_rooms.cpp: where the bytes of others go
  void make_room(const std::shared_ptr<room>& wanted);
  void refuse_room(const std::shared_ptr<room>& wanted, std::uint64_t limit);
  [[nodiscard]] bool has_memory(const std::shared_ptr<room>& of, std::size_t more_bytes);
  void commit_ahead(const std::shared_ptr<room>& of, std::uint64_t come_bytes);
  [[nodiscard]] std::expected<store::object_of_origin, store::store_error> create(const room& wanted);
  [[nodiscard]] bool is_wanted(const room& which) const;
  void fail_room(const room& which, const store::store_error& why);
  void seal(const std::shared_ptr<room>& full, const std::vector<store::object_id>& captured);
  void end_sealing(const room& full, std::expected<store::handle, store::store_error> sealed);
  void release_reserve(room& of);
  void give_answer(const handles::answer_waiter& what);
  [[nodiscard]] node_error error_of(const waiter& who, const handles::fetch_error& error) const;
  [[nodiscard]] node_error loss_error(std::uint64_t size_bytes, const handles::fetch_error& error) const;
  [[nodiscard]] std::optional<node_error> why_late(const waiter& who, handles::room_id what) const;
  [[nodiscard]] std::string peer_of(const handles::fetch_error& error) const;
  void note_progress(room& of);

  void keep(store::handle object);

  // -- exchange_originals.cpp: what other nodes of this host have pulled, or are pulling
  [[nodiscard]] bool is_left_to_others(const std::shared_ptr<room>& wanted, store::object_of_origin found);
  void take_found(const room& wanted, store::handle found);
  void wait_for_writer(const std::shared_ptr<room>& wanted, const store::object_of_origin& found);
  void wait_for_writers();
  [[nodiscard]] bool has_stalled(room& waiting, std::chrono::steady_clock::time_point now) const;
  [[nodiscard]] std::vector<std::shared_ptr<room>> take_out_those_over();

  // -- exchange_unfinished.cpp: objects of this node's own that wait for what they capture
  struct unfinished {
    frame bytes;
    std::vector<std::byte> metadata;
  };
  void finish(handles::seal_room& what);
  void write_finished(const std::shared_ptr<room>& made, const unfinished& from,
                      const std::vector<store::object_id>& captured);

  // -- exchange_serving.cpp: giving bytes to peers
  void prepare(handles::link_number to);
  [[nodiscard]] bool prepare_next(handles::link_number to);
  void pin_for(handles::link_number to, const store::object_id& place);

  asio::io_context& io_;
  store::object_store store_;
  const handles::node_name self_;
  const pid_t pid_ = ::getpid();
  const std::uint64_t capacity_bytes_; // Rooms that are being filled take half of it at most.
  const std::chrono::nanoseconds others_patience_;
  const std::chrono::nanoseconds others_stall_;
  const std::function<void(const handles::node_name&)> dial_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  bool is_ended_ = false;
  struct held {
    store::handle object;
    std::uint64_t count = 0;
  };
  std::unordered_map<store::object_id, held> holds_;
  const store::handle* adding_ = nullptr; // The object that the ledger is told of.
  handles::ledger ledger_;
  std::map<handles::link_number, lane> lanes_;
  std::unordered_map<std::uint64_t, waiter> waiters_;
  std::uint64_t last_waiter_ = 0;
  std::map<handles::room_id, std::shared_ptr<room>> rooms_;
  std::vector<std::shared_ptr<room>> waiting_rooms_; // For other nodes of this host, which write what they want.
  bool is_waiting_ = false;                          // Whether writer_watch_ waits for those.
  std::uint64_t reserved_bytes_ = 0;                 // By rooms that are being filled.
  std::map<handles::reference, std::shared_ptr<const unfinished>> unfinished_;
  std::uint64_t unfinished_bytes_ = 0;
  std::condition_variable reserve_changed_;
  std::map<handles::link_number, std::string> ended_links_; // Why each of the last ones has ended, and with whom.
  std::deque<handles::link_number> ended_order_;
  std::string why_no_room_; // The last time.
  std::string full_now_;    // Why what room_maker_ makes just now finds no place, for those that wait behind it.
  std::chrono::steady_clock::time_point progress_noted_; // I/O thread. For all rooms that have their bytes.
  struct known_peer {
    byte_vector token;
    std::chrono::steady_clock::time_point seen;
  };
  std::map<handles::node_name, known_peer> peers_;
  handles::time_point armed_ = handles::never;
  std::vector<std::function<void()>> work_;      // For worker_, when the lock is released.
  std::vector<std::function<void()>> room_work_; // For room_maker_.

  std::unique_ptr<asio::steady_timer> timer_; // I/O thread; null after the end.
  job_queue worker_;                          // Seals, pins and answers.
  job_queue room_maker_;                      // Waits for room.
  job_queue writer_watch_;                    // Waits for others to write what is wanted here.
};

/// A counted reference of this process to one object, wherever it is.
class exchanged_object final : public object_source {
public:
  /// Takes over one reference.
  exchanged_object(std::shared_ptr<object_exchange> of, handles::reference what, std::uint64_t size_bytes)
      : of_(std::move(of)), what_(what), size_bytes_(size_bytes) {}
  ~exchanged_object() override { of_->drop(what_); }

  [[nodiscard]] handles::reference what() const noexcept { return what_; }
  [[nodiscard]] bool is_of(const object_exchange& which) const noexcept { return of_.get() == &which; }

  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }
  [[nodiscard]] std::optional<frame> here() const override { return mapped(std::nullopt); }
  [[nodiscard]] std::optional<frame> here_at_once() const override { return mapped(std::chrono::milliseconds{0}); }
  [[nodiscard]] std::optional<node_error> why_lost() const override { return of_->why_lost(what_, size_bytes_); }
  fetch_id fetch(std::chrono::steady_clock::time_point until, answer then) override;
  void cancel(fetch_id which) override { of_->cancel(which); }
  [[nodiscard]] store::handle stored() const override { return of_->stored(what_); }

private:
  [[nodiscard]] std::optional<frame> mapped(const std::optional<std::chrono::milliseconds>& within) const;

  const std::shared_ptr<object_exchange> of_;
  const handles::reference what_;
  const std::uint64_t size_bytes_;
  const shared_view view_;
};

} // namespace troupe::internal
