// Another process that uses a directory of kind host://, for tests that kill it, stop it or look from outside.
//   host_peer hold NAME KEY TIME_MS     puts KEY under a lease that nobody keeps alive
//   host_peer write NAME NUMBER SEED    writes until it is killed, and says what it is about to do and has done
//   host_peer watch NAME                watches everything
//   host_peer stop NAME                 stops itself inside a write transaction
//   host_peer stop-reading NAME         stops itself inside a read transaction
// All but `write` say "ready" and wait for the end of their input.
#include <troupe/framework/cluster/internal/host/host_directory.hpp>
#include <troupe/framework/cluster/internal/host/sqlite.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using namespace troupe;

[[noreturn]] void fail(const directory_error& why) {
  std::cout << "failed " << to_string(why.code()) << ' ' << why.message() << std::endl;
  std::exit(1);
}

template <class Value>
Value value_of(std::expected<Value, directory_error> result) {
  if (!result)
    fail(result.error());
  return *std::move(result);
}

std::shared_ptr<directory> open(const std::string& name) {
  return value_of(cluster_directories::open_host_directory(name, {}));
}

void be_ready() {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    ;
}

void hold(const std::string& name, const std::string& key, int time_ms) {
  const auto opened = open(name);
  const auto lease = value_of(opened->grant(std::chrono::milliseconds{time_ms}));
  const std::vector<directory_write> writes{{.key = key, .value = "held", .lease = lease.id}};
  static_cast<void>(value_of(opened->commit({}, writes)));
  be_ready();
}

/// Says "about KIND KEY VALUE" before each commit, and "done REVISION CREATED" after it. Each writer has keys of its
/// own.
void write(const std::string& name, const std::string& number, unsigned seed) {
  std::mt19937 random{seed};
  const auto opened = open(name);
  const auto lease = value_of(opened->grant(std::chrono::minutes{1}));
  for (unsigned count = 0;; ++count) {
    const auto is_leased = random() % 3 == 0;
    const auto is_removal = random() % 4 == 0;
    const auto key = number + (is_leased ? "/leased/" : "/lasting/") + std::to_string(random() % 4);
    const auto value = std::to_string(seed) + '-' + std::to_string(count);
    using enum directory_write::kind;
    const std::vector<directory_write> writes{
        {.key = key, .what = is_removal ? remove : put, .value = value, .lease = is_leased ? lease.id : 0}};
    std::cout << "about " << (is_removal ? "remove " : "put ") << key << ' ' << value << std::endl;
    const auto done = value_of(opened->commit({}, writes));
    std::uint64_t created = 0;
    const auto listing = value_of(opened->list(key));
    for (const auto& entry : listing.entries)
      created = entry.created_revision;
    std::cout << "done " << done.revision << ' ' << created << std::endl;
    if (random() % 8 == 0)
      static_cast<void>(value_of(opened->keep_alive(lease.id)));
  }
}

void watch(const std::string& name) {
  const auto opened = open(name);
  const auto from = value_of(opened->list("")).revision + 1;
  const auto watch = value_of(opened->watch("", from, {}));
  be_ready();
}

void stop_inside(const std::string& name, const char* begin) {
  cluster_directories::sqlite_connection connection{value_of(cluster_directories::settings_of_host(name, {})).path};
  connection.execute(begin);
  std::cout << "ready" << std::endl;
  ::raise(SIGSTOP);
  connection.execute("ROLLBACK");
}

} // namespace

int main(int count, char** texts) {
  const std::vector<std::string> words{texts, texts + count};
  if (words.size() < 3)
    return 2;
  const auto& what = words[1];
  if (what == "hold")
    hold(words[2], words.at(3), std::stoi(words.at(4)));
  else if (what == "write")
    write(words[2], words.at(3), static_cast<unsigned>(std::stoul(words.at(4))));
  else if (what == "watch")
    watch(words[2]);
  else if (what == "stop")
    stop_inside(words[2], "BEGIN IMMEDIATE");
  else if (what == "stop-reading")
    stop_inside(words[2], "BEGIN; SELECT count(*) FROM entries");
  else
    return 2;
  return 0;
}
