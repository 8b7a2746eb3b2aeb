#include "throughput/troupe_subjects.hpp"

#include "peers/caf_ends.hpp"
#include "peers/troupe_process.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <caf/all.hpp>

namespace bench {

namespace {

/// How to open an end.
struct end_options {
  seeing what = seeing::as_users_get_it;
  troupe::wait_mode wait = troupe::wait_mode::adaptive;
  load carried = load::one_struct; // For streams one way.
  bool is_recorded = false;        // By the near end.
};

void add_message_types(troupe::type_registry& types) {
  types.add<small_message>("bench.small_message").add<small_messages>("bench.small_messages");
}

std::expected<void, std::string> serve_at(const std::string& address, const ready_report& ready,
                                          const end_options& how = {}) {
  troupe_process process;
  process.what = how.what;
  process.wait = how.wait;
  add_message_types(process.types);
  if (auto opened = process.open({address}); !opened)
    return opened;
  for (const auto& [name, actor] :
       {std::pair{"consumer", spawn_consumer(process.system)}, std::pair{"echoer", spawn_echoer(process.system)}})
    if (auto published = process.node->publish(name, actor); !published)
      return std::unexpected{published.error().message()};
  ready(process.node->addresses().front());
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the actors.
}

/// The path of a file in a new folder. Empty if there can be none.
std::string path_for_a_tape() {
  auto folder = (std::filesystem::temp_directory_path() / "troupe-bench-XXXXXX").string();
  return ::mkdtemp(folder.data()) == nullptr ? "" : folder + "/tape";
}

class troupe_near_end : public near_end {
public:
  std::expected<void, std::string> connect(const std::string& address, const end_options& how) {
    process_.what = how.what;
    process_.wait = how.wait;
    if (how.is_recorded) {
      process_.tape = path_for_a_tape();
      if (process_.tape.empty())
        return std::unexpected{"no folder for a tape can be made"};
    }
    add_message_types(process_.types);
    auto link = process_.connect(address);
    if (how.is_recorded) { // The process may be killed. The tape has no name from now on.
      std::error_code ignored;
      std::filesystem::remove_all(std::filesystem::path(process_.tape).parent_path(), ignored);
    }
    if (!link)
      return std::unexpected{std::move(link).error()};
    auto consumer = link->find("consumer");
    auto echoer = link->find("echoer");
    if (!consumer || !echoer)
      return std::unexpected{(consumer ? echoer : consumer).error().message()};
    near_ = make_caf_near_end(process_.system, *std::move(consumer), *std::move(echoer), how.carried);
    return {};
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override { return near_->one_way(count); }
  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    return near_->echo(count, window, round_trips);
  }

private:
  troupe_process process_;
  std::unique_ptr<near_end> near_;
};

std::expected<std::unique_ptr<near_end>, std::string> connect_to(const std::string& address, const end_options& how) {
  auto near = std::make_unique<troupe_near_end>();
  if (auto connected = near->connect(address, how); !connected)
    return std::unexpected{std::move(connected).error()};
  return near;
}

std::expected<std::unique_ptr<near_end>, std::string> connect(const std::string& address) {
  return connect_to(address, {});
}

subject over_unix_socket(std::string name, const end_options& how = {}) {
  return {std::move(name), [how](const ready_report& ready) { return serve_at(unix_address(), ready, how); },
          [how](const std::string& address) { return connect_to(address, how); }};
}

subject through_rings(std::string name, const end_options& how = {}) {
  return {std::move(name), [how](const ready_report& ready) { return serve_at(shm_address(), ready, how); },
          [how](const std::string& address) { return connect_to(address, how); }};
}

} // namespace

subject troupe_unix() {
  return over_unix_socket("troupe-unix");
}

subject troupe_shm() {
  return through_rings("troupe-shm");
}

subject troupe_shm_polling() {
  return through_rings("troupe-shm-polling", {.wait = troupe::wait_mode::poll});
}

subject troupe_tcp() {
  return {"troupe-tcp", [](const ready_report& ready) { return serve_at(tcp_address(), ready); }, connect};
}

subject troupe_unix_seen() {
  return over_unix_socket("troupe-unix-seen", {.what = seeing::all});
}

subject troupe_unix_unseen() {
  return over_unix_socket("troupe-unix-unseen", {.what = seeing::nothing});
}

subject troupe_unix_recorded() {
  return over_unix_socket("troupe-unix-recorded", {.is_recorded = true});
}

subject troupe_unix_unrecorded() {
  return over_unix_socket("troupe-unix-unrecorded");
}

subject troupe_unix_unrecorded_again() {
  return over_unix_socket("troupe-unix-unrecorded-again");
}

subject batches_troupe_unix() {
  return over_unix_socket("batches-troupe-unix", {.carried = load::many_structs});
}

subject batches_troupe_shm() {
  return through_rings("batches-troupe-shm", {.carried = load::many_structs});
}

} // namespace bench
