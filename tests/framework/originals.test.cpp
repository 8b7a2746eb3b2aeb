// A node needs objects that other nodes of its host have pulled or are pulling. The test acts as those other nodes and
// as the host that has the objects.
#include <filesystem>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>

#include <csignal>

#include <sys/stat.h>
#include <unistd.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/internal/objects/object_exchange.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>
#include <troupe/processes/process.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

constexpr handles::link_number number = 1;
constexpr std::uint64_t size_bytes = 100'000;
constexpr handles::node_name exporter{5, 6};

/// The exporter's end of the link. It takes the packets that the exchange writes.
class exporters_end final : public counted_link {
public:
  explicit exporters_end(object_exchange& of) : of_(of) {}

  void write_handles() override {
    for (auto& each : of_.take_messages(number)) {
      std::lock_guard guard{mutex_};
      if (const auto* asked = std::get_if<handles::pull>(&each))
        pulls_.push_back(*asked);
    }
  }
  void end_for_handles(const node_error& why) override { ADD_FAILURE() << why.message(); }
  [[nodiscard]] const std::string& peer_name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t object_bytes_max() const noexcept override { return 1_GiB; }

  [[nodiscard]] std::vector<handles::pull> pulls() {
    std::lock_guard guard{mutex_};
    return pulls_;
  }

private:
  object_exchange& of_;
  const std::string name_ = "exporter";
  std::mutex mutex_;
  std::vector<handles::pull> pulls_; // Guarded by mutex_.
};

class originals : public testing::Test {
protected:
  ~originals() override {
    if (exchange_)
      exchange_->end();
    work_.reset();
    if (runs_.joinable())
      runs_.join();
  }

  template <class Body>
  auto on_io_thread(Body body) {
    std::packaged_task<decltype(body())()> task{std::move(body)};
    auto result = task.get_future();
    asio::post(io_, [&task] { task(); });
    return result.get();
  }

  void open(std::chrono::milliseconds others_patience = 20s, std::chrono::milliseconds others_stall = 20s) {
    exchange_ = std::make_shared<object_exchange>(
        io_, store_,
        object_exchange::options{.self = {1, 2},
                                 .capacity_bytes = 16_MiB,
                                 .grace = 10s,
                                 .others = {.whole = others_patience, .stall = others_stall}});
    end_ = std::make_shared<exporters_end>(*exchange_);
    runs_ = std::thread{[this] { io_.run(); }};
    EXPECT_TRUE(on_io_thread([this] { return exchange_->link_up(end_, number, exporter, {}, std::nullopt); }));
  }

  [[nodiscard]] static store::object_id name_of(std::uint32_t which) { return {77, which, 1}; }
  [[nodiscard]] static store::object_origin origin_of(std::uint32_t which) {
    return internal::origin_of({exporter, name_of(which)}, size_bytes);
  }
  [[nodiscard]] static std::vector<std::byte> bytes_of(std::uint32_t which) {
    return std::vector<std::byte>(size_bytes, static_cast<std::byte>(which));
  }

  /// Makes the exporter send a handle to an object, with the given size.
  [[nodiscard]] object_source_ptr receive(std::uint32_t which, std::uint64_t claimed_bytes = size_bytes) {
    object_mention mention{object_mention::kind::counted,
                           {.name = name_of(which), .mode = handles::handle_mode::mine, .size_bytes = claimed_bytes}};
    return on_io_thread([&] { return exchange_->receive(number, {&mention, 1}).value()[0]; });
  }

  using outcome = std::expected<frame, node_error>;
  [[nodiscard]] std::future<outcome> fetch(const object_source_ptr& what, std::chrono::milliseconds within = 10s) {
    auto answered = std::make_shared<std::promise<outcome>>();
    auto result = answered->get_future();
    fetched_ = what->fetch(std::chrono::steady_clock::now() + within,
                           [answered](outcome bytes) { answered->set_value(std::move(bytes)); });
    return result;
  }

  /// Makes another node of this host begin to pull the object.
  [[nodiscard]] store::builder begin(std::uint32_t which) {
    auto made = store_.create_once(origin_of(which), size_bytes).value();
    std::ranges::copy(bytes_of(which), made.building->bytes().begin());
    return *std::move(made.building);
  }

  /// Waits until the exchange has sent `pulls` pulls in total, then answers the last one.
  void serve(std::size_t pulls, std::uint32_t which) {
    ASSERT_TRUE(eventually([&] { return end_->pulls().size() == pulls; }));
    const auto request = end_->pulls().back().request;
    const auto bytes = bytes_of(which);
    EXPECT_TRUE(on_io_thread([&] {
      return exchange_->on_message(number, handles::pull_head{request, size_bytes, {}})
             && exchange_->on_chunk(number, {{request, 0, size_bytes}, crc32c(0, bytes)}, bytes);
    }));
  }

  static void expect_bytes(std::future<outcome>& answer, std::uint32_t which) {
    const auto got = answer.get();
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_TRUE(std::ranges::equal(got->bytes(), bytes_of(which)));
  }

  asio::io_context io_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{asio::make_work_guard(io_)};
  const store::options settings_{.name = unique_name("originals"), .capacity_bytes = 16_MiB};
  store::object_store store_ = store::object_store::open(settings_).value();
  std::shared_ptr<object_exchange> exchange_;
  std::shared_ptr<exporters_end> end_;
  std::thread runs_;
  object_source::fetch_id fetched_ = 0;
};

TEST_F(originals, are_found_where_another_has_pulled_them) {
  open();
  const auto kept = begin(1).seal().value();
  auto what = receive(1);
  auto answer = fetch(what);
  expect_bytes(answer, 1);
  EXPECT_EQ(what->stored().id(), kept.id());
  EXPECT_TRUE(end_->pulls().empty());
}

TEST_F(originals, bring_what_they_capture_by_its_place) {
  open();
  const auto inner = store_.put(bytes_of(3)).value();
  auto building = begin(1);
  ASSERT_TRUE(building.capture(std::vector{inner.id()}));
  const auto kept = std::move(building).seal().value();
  auto what = receive(1);
  auto answer = fetch(what);
  expect_bytes(answer, 1);
  EXPECT_EQ(what->stored().captured(), std::vector{inner.id()});
}

TEST_F(originals, are_waited_for_while_another_pulls_them) {
  open();
  auto building = begin(1);
  auto what = receive(1);
  auto first = fetch(what);
  auto second = fetch(what);
  const auto kept = std::move(building).seal().value();
  expect_bytes(first, 1);
  expect_bytes(second, 1);
  EXPECT_TRUE(end_->pulls().empty());
}

TEST_F(originals, are_pulled_when_another_gives_up) {
  open();
  auto building = std::make_optional(begin(1));
  auto what = receive(1);
  auto answer = fetch(what);
  EXPECT_TRUE(end_->pulls().empty());
  building.reset();
  serve(1, 1);
  expect_bytes(answer, 1);
  EXPECT_EQ(store_.find(origin_of(1))->sealed.id(), what->stored().id()); // Other nodes find it.
}

TEST_F(originals, are_pulled_when_another_takes_too_long) {
  open(50ms);
  auto building = begin(1);
  auto what = receive(1);
  auto answer = fetch(what);
  serve(1, 1);
  expect_bytes(answer, 1);
  const auto others = std::move(building).seal().value();
  EXPECT_NE(others.id(), what->stored().id());
  EXPECT_EQ(store_.find(origin_of(1))->sealed.id(), others.id());
}

TEST_F(originals, are_pulled_when_another_gets_on_no_more) {
  open(20s, 100ms);
  const auto building = begin(1);
  auto what = receive(1);
  auto answer = fetch(what);
  serve(1, 1);
  expect_bytes(answer, 1);
}

TEST_F(originals, are_waited_for_as_long_as_another_gets_on) {
  open(20s, 1s);
  auto building = begin(1);
  auto what = receive(1);
  auto answer = fetch(what);
  const auto until = std::chrono::steady_clock::now() + 2500ms;
  while (std::chrono::steady_clock::now() < until && answer.wait_for(20ms) != std::future_status::ready)
    building.note_progress();
  EXPECT_TRUE(end_->pulls().empty());
  const auto kept = std::move(building).seal().value();
  expect_bytes(answer, 1);
}

TEST_F(originals, who_has_no_more_time_is_told_for_whom_it_waited) {
  open();
  const auto building = begin(1);
  auto what = receive(1);
  auto got = fetch(what, 50ms).get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), node_errc::fetch_timed_out);
  const auto& text = got.error().message();
  EXPECT_NE(text.find("process " + std::to_string(::getpid()) + " of this host"), std::string::npos) << text;
}

// Goal: a stopped process does not delay the other nodes of its host.
TEST_F(originals, are_pulled_when_the_process_that_pulls_them_is_stopped) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
#endif
  auto child = processes::process::fork([&] { // Forked before this process has threads.
                 auto mine = store::object_store::open(settings_);
                 const auto made =
                     mine ? mine->create_once(origin_of(1), size_bytes)
                          : std::expected<store::object_of_origin, store::store_error>{std::unexpect, mine.error()};
                 ::raise(SIGSTOP);
                 return made && made->building ? 0 : 1;
               })
                   .value();
  ASSERT_TRUE(child.is_stopped_within(10s));
  open(20s, 200ms);
  EXPECT_EQ(store_.find(origin_of(1))->writer, child.number());
  auto what = receive(1);
  auto answer = fetch(what);
  serve(1, 1);
  expect_bytes(answer, 1);
  child.go_on();
  EXPECT_EQ(child.ended_within(10s), processes::exited_with(0));
}

TEST_F(originals, are_pulled_where_what_another_has_cannot_be_the_same) {
  open();
  auto building = begin(1);
  building.shrink(10);
  const auto wrong = std::move(building).seal().value();
  auto what = receive(1);
  auto answer = fetch(what);
  serve(1, 1);
  expect_bytes(answer, 1);
}

// Goal: fetches that wait for other nodes do not keep other objects from being pulled.
TEST_F(originals, that_are_waited_for_do_not_hold_up_other_pulls) {
  open();
  std::vector<store::builder> begun;
  std::vector<object_source_ptr> all;
  std::vector<std::future<outcome>> answers;
  for (std::uint32_t which = 1; which <= 20; ++which) {
    begun.push_back(begin(which));
    all.push_back(receive(which));
    answers.push_back(fetch(all.back()));
  }
  auto other = receive(21);
  auto answer = fetch(other);
  serve(1, 21);
  expect_bytes(answer, 21);
  std::vector<store::handle> kept;
  for (auto& each : begun)
    kept.push_back(std::move(each).seal().value());
  for (std::uint32_t which = 1; which <= 20; ++which)
    expect_bytes(answers[which - 1], which);
  EXPECT_EQ(end_->pulls().size(), 1u);
}

TEST_F(originals, that_are_waited_for_may_be_cancelled) {
  open();
  auto building = std::make_optional(begin(1));
  auto what = receive(1);
  auto answer = fetch(what);
  what->cancel(fetched_);
  EXPECT_FALSE(answer.get());
  EXPECT_EQ(exchange_->tables().rooms, 0u);
  building.reset();
  auto other = receive(2);
  auto later = fetch(other);
  serve(1, 2); // The only object that is pulled.
  expect_bytes(later, 2);
}

TEST_F(originals, that_are_waited_for_do_not_hold_up_a_nodes_end) {
  open();
  const auto building = begin(1);
  auto what = receive(1);
  auto answer = fetch(what);
  const auto began = std::chrono::steady_clock::now();
  exchange_->end();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_EQ(answer.get().error().code(), node_errc::link_down);
}

// Goal: every caller gets an answer, even if the answer was on its way when the node ended.
// Method: one answer waits behind another one, which takes until the node has begun to end.
TEST_F(originals, answers_that_wait_their_turn_come_when_the_node_ends) {
  open();
  auto first = receive(1), second = receive(2);
  std::promise<void> told, go_on;
  first->cancel(first->fetch(std::chrono::steady_clock::now() + 10s, [&](outcome) {
    told.set_value();
    go_on.get_future().wait();
  }));
  told.get_future().wait();
  auto answer = fetch(second);
  second->cancel(fetched_);
  std::thread ends{[this] { exchange_->end(); }};
  EXPECT_TRUE(eventually([&] { return first->fetch(std::chrono::steady_clock::now(), [](outcome) {}) == 0; }));
  go_on.set_value();
  ends.join();
  ASSERT_EQ(answer.wait_for(0s), std::future_status::ready);
  EXPECT_FALSE(answer.get());
}

/// Returns the memory that the files of a store take, in bytes.
[[nodiscard]] std::uint64_t blocks_of(const std::string& store) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator{"/dev/shm"}) {
    struct stat status {};
    if (entry.path().filename().string().find('.' + store + '.') != std::string::npos
        && ::stat(entry.path().c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

// Goal: memory is allocated as bytes arrive, not as the peer claims; measured by the blocks of the store's files.
TEST_F(originals, an_object_takes_memory_as_its_bytes_come) {
  constexpr auto claimed = 14_MiB;
  open();
  const auto before = blocks_of(store_.summary().value().name);
  const auto source = receive(1, claimed);
  auto answer = fetch(source);
  ASSERT_TRUE(eventually([&] { return end_->pulls().size() == 1; }));
  EXPECT_LT(blocks_of(store_.summary().value().name), before + 1_MiB);
  const auto request = end_->pulls().back().request;
  std::vector<std::byte> bytes(claimed);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * 31 >> 7);
  EXPECT_TRUE(on_io_thread([&] { return exchange_->on_message(number, handles::pull_head{request, claimed, {}}); }));
  for (std::size_t at = 0; at < claimed; at += 256_KiB) {
    const auto piece = std::span{bytes}.subspan(at, 256_KiB);
    EXPECT_TRUE(on_io_thread([&] {
      return exchange_->on_chunk(number, {{request, at, piece.size()}, crc32c(0, std::span{bytes}.first(at + 256_KiB))},
                                 piece);
    }));
    EXPECT_LE(blocks_of(store_.summary().value().name), before + 2 * (at + 256_KiB) + 9_MiB); // In steps of 4 MiB.
  }
  const auto whole = answer.get();
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_TRUE(std::ranges::equal(whole->bytes(), bytes));
}

TEST_F(originals, an_object_beyond_the_links_limit_is_refused_with_both_numbers) {
  open();
  const auto before = blocks_of(store_.summary().value().name);
  const auto source = receive(1, 3'200'000'000);
  auto refused = fetch(source).get();
  ASSERT_FALSE(refused);
  for (const auto* part : {"3,200,000,000", "1,073,741,824", "receive_limits.object_bytes"})
    EXPECT_NE(refused.error().message().find(part), std::string::npos) << refused.error().message();
  EXPECT_TRUE(end_->pulls().empty());
  EXPECT_EQ(blocks_of(store_.summary().value().name), before);
}

} // namespace
} // namespace troupe::tests
