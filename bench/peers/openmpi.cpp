#include "peers/openmpi.hpp"

#include "peers/hand_coded.hpp"
#include "peers/large_values.hpp"
#include "peers/own_folder.hpp"
#include "peers/polling.hpp"

#include <troupe/processes/process.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#define OMPI_SKIP_MPICXX 1 // Only the C interface.
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bench {

namespace {

using troupe::processes::descriptor;
using troupe::processes::nothing;
using troupe::processes::process;

// The ranks of a job are children of mpirun, and only ranks of one job share memory. But the benchmark starts its ends
// itself. So mpirun starts two shells, each of which writes down the variables that make a process its rank. Each end
// takes the variables of one rank, and the shells wait until the far end is gone. The folder of the run contains all
// files of the job, including its shared memory. The near end removes it once both ends have opened everything in it.

constexpr int near_rank = 0;
constexpr int far_rank = 1;
constexpr int any_tag = 0; // One tag for all messages: each end knows what comes next.

/// Messages in a window of openmpi_windowed().
constexpr std::size_t window_messages = 64;

std::filesystem::path variables_of(const std::filesystem::path& folder, int rank) {
  return folder / ("rank" + std::to_string(rank));
}

/// Sets the variables from which MPI_Init takes this process's rank in the job.
void become(int rank, const std::filesystem::path& folder) {
  std::ifstream file{variables_of(folder, rank), std::ios::binary};
  for (std::string variable; std::getline(file, variable, '\0');)
    if (const auto middle = variable.find('=');
        middle != std::string::npos && (variable.starts_with("OMPI_") || variable.starts_with("PMIX_")))
      ::setenv(variable.substr(0, middle).c_str(), variable.substr(middle + 1).c_str(), 1);
}

/// The near end's request. Structs are sent, and echoes answered, in groups of `group`: as one message each, or as one
/// message for the group.
struct openmpi_command {
  hand_coded_command::kind what = hand_coded_command::kind::consume;
  std::uint64_t count = 0;
  std::uint64_t group = 1;
  load carried = load::one_struct;
};

/// One rank. Threads: only the one that created it. MPI errors end the process, as by default.
class openmpi_end {
public:
  /// Returns once both ends exist and have opened the shared memory.
  openmpi_end(const std::filesystem::path& folder, int rank) : other_(rank == near_rank ? far_rank : near_rank) {
    become(rank, folder);
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    const pid_t own = ::getpid();
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, other_, any_tag, &others_process_, sizeof others_process_, MPI_BYTE,
                 other_, any_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  /// To be called when the ends may have moved to other cores.
  void look_at_cores() { is_polite_ = share_one_core(others_process_); }

  void send(std::span<const char> bytes) const {
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, other_, any_tag, MPI_COMM_WORLD);
  }
  template <class T>
  void send_object(const T& object) const {
    send({reinterpret_cast<const char*>(&object), sizeof object});
  }

  template <class T>
  T receive_object() const {
    T object{};
    wait_for_one();
    MPI_Recv(&object, sizeof object, MPI_BYTE, other_, any_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return object;
  }

  /// Receives the next message, of any size.
  void receive(std::vector<char>& into) const {
    MPI_Status status;
    wait_for_one();
    MPI_Probe(other_, any_tag, MPI_COMM_WORLD, &status);
    into.resize(size_of(status));
    MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_BYTE, other_, any_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  /// Sends the structs with these numbers. Requires: `count` is at most `window_messages`, or `structs_together` if one
  /// message carries them.
  void send_group(std::uint64_t first, std::size_t count, load carried) {
    if (carried == load::one_struct)
      send_messages(first, count);
    else
      send({reinterpret_cast<const char*>(together_.data()),
            hand_coded::encode_each(numbered_together(first, first + count), together_.data())});
  }

  /// Waits for `count` structs, numbered from `first` on, and passes each to `handle`. Requires: as for send_group().
  template <class Handle>
  void receive_group(std::uint64_t first, std::size_t count, load carried, const Handle& handle) {
    if (carried == load::one_struct)
      receive_messages(first, count, handle);
    else
      receive_together(first, handle);
  }

private:
  void send_messages(std::uint64_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = static_cast<int>(hand_coded::encode(numbered(first + i), buffers_[i].data()));
      if (count == 1)
        MPI_Send(buffers_[i].data(), size, MPI_BYTE, other_, any_tag, MPI_COMM_WORLD);
      else
        MPI_Isend(buffers_[i].data(), size, MPI_BYTE, other_, any_tag, MPI_COMM_WORLD, &requests_[i]);
    }
    if (count > 1)
      wait_for_all(count);
  }

  template <class Handle>
  void receive_messages(std::uint64_t first, std::size_t count, const Handle& handle) {
    constexpr auto room = static_cast<int>(hand_coded::bytes_max);
    if (count == 1) {
      wait_for_one();
      MPI_Recv(buffers_[0].data(), room, MPI_BYTE, other_, any_tag, MPI_COMM_WORLD, statuses_.data());
    } else {
      for (std::size_t i = 0; i < count; ++i)
        MPI_Irecv(buffers_[i].data(), room, MPI_BYTE, other_, any_tag, MPI_COMM_WORLD, &requests_[i]);
      wait_for_all(count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      hand_coded::decode(std::span{buffers_[i]}.first(size_of(statuses_[i])), message_);
      check_number(message_, first + i);
      handle(message_);
    }
  }

  template <class Handle>
  void receive_together(std::uint64_t first, const Handle& handle) {
    MPI_Status status;
    wait_for_one();
    MPI_Recv(together_.data(), static_cast<int>(together_.size()), MPI_BYTE, other_, any_tag, MPI_COMM_WORLD, &status);
    hand_coded::decode_each(std::span{together_}.first(size_of(status)), message_, [&](const small_message& message) {
      check_number(message, first++);
      handle(message);
    });
  }

  static std::size_t size_of(const MPI_Status& status) {
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    return static_cast<std::size_t>(size);
  }

  // MPI's own waiting polls without end. For a shared core, mpirun could make it call sched_yield(), but decides that
  // only once, when the job begins.
  void wait_for_one() const {
    for (int has_come = is_polite_ ? 0 : 1; has_come == 0;) {
      MPI_Iprobe(other_, any_tag, MPI_COMM_WORLD, &has_come, MPI_STATUS_IGNORE);
      if (has_come == 0)
        ::sched_yield();
    }
  }

  void wait_for_all(std::size_t count) {
    const auto all = static_cast<int>(count);
    for (int are_done = is_polite_ ? 0 : 1; are_done == 0;) {
      MPI_Testall(all, requests_.data(), &are_done, statuses_.data());
      if (are_done == 0)
        ::sched_yield();
      else
        return;
    }
    MPI_Waitall(all, requests_.data(), statuses_.data());
  }

  int other_;
  pid_t others_process_ = 0;
  bool is_polite_ = false;
  std::array<std::array<std::byte, hand_coded::bytes_max>, window_messages> buffers_{};
  std::array<MPI_Request, window_messages> requests_{};
  std::array<MPI_Status, window_messages> statuses_{};
  std::vector<std::byte> together_ = std::vector<std::byte>(hand_coded::bytes_max_together);
  small_message message_;
};

/// The number of structs in the next group, after `done` of `count`.
std::size_t next_group(std::uint64_t done, std::uint64_t count, std::uint64_t group) {
  return static_cast<std::size_t>(std::min(group, count - done));
}

[[noreturn]] void serve_near_rank(openmpi_end& end) {
  using kind = hand_coded_command::kind;
  std::vector<char> value; // Reused.
  for (;;) {
    const auto asked = end.receive_object<openmpi_command>();
    end.look_at_cores();
    if (asked.what == kind::take) {
      for (std::uint64_t taken = 0; taken < asked.count; ++taken) {
        end.receive(value);
        end.send_object(number_of_large(value));
      }
      continue;
    }
    for (std::uint64_t received = 0; received < asked.count;) {
      const auto first = received;
      end.receive_group(first, next_group(first, asked.count, asked.group), asked.carried, [&](const small_message&) {
        if (is_acknowledged(++received, asked.count) && asked.what == kind::consume)
          end.send_object(received);
      });
      if (asked.what == kind::echo)
        end.send_group(first, received - first, asked.carried);
    }
  }
}

class openmpi_near_end : public near_end {
public:
  openmpi_near_end(const std::string& folder, std::uint64_t group, load carried)
      : end_(folder, near_rank), group_(group), carried_(carried) {
    own_folder::remove(folder); // Both ends have opened everything in it.
  }

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto begin = bench_clock::now();
    ask(hand_coded_command::kind::consume, count, group_);
    std::uint64_t acknowledged = 0;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged + group_ <= window_max) {
        const auto together = next_group(sent, count, group_);
        end_.send_group(sent, together, carried_);
        sent += together;
      }
      acknowledged = end_.receive_object<std::uint64_t>();
    }
    return bench_clock::now() - begin;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto begin = bench_clock::now();
    const auto group = std::clamp<std::uint64_t>(window / 2, 1, group_); // Lets both ends work at the same time.
    ask(hand_coded_command::kind::echo, count, group);
    std::uint64_t answered = 0;
    for (std::uint64_t sent = 0; answered < count;) {
      const auto sent_at = bench_clock::now();
      while (sent < count && sent - answered + group <= window) {
        const auto together = next_group(sent, count, group);
        end_.send_group(sent, together, carried_);
        sent += together;
      }
      const auto first = answered;
      end_.receive_group(first, next_group(first, count, group), carried_, [&](const small_message&) { ++answered; });
      if (round_trips != nullptr)
        round_trips->push_back(bench_clock::now() - sent_at);
    }
    return bench_clock::now() - begin;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    ask(hand_coded_command::kind::take, count, 1);
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      end_.send(bytes);
      return end_.receive_object<std::uint64_t>();
    });
  }

private:
  void ask(hand_coded_command::kind what, std::uint64_t count, std::uint64_t group) {
    end_.look_at_cores();
    end_.send_object(openmpi_command{what, count, group, carried_});
  }

  openmpi_end end_;
  std::uint64_t group_;
  load carried_;
};

/// Runs mpirun. On SIGTERM, the script makes mpirun end the ranks, and removes all files of the job. The only allowed
/// transport is shared memory, and the benchmark itself places the ranks on cores.
constexpr const char* keep_job = R"sh(
folder=$1
keep_rank=$2
trap 'kill $!; wait; rm -rf "$folder"; exit' TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$0" --mca pml ob1 --mca btl vader,self --mca btl_vader_backing_directory "$folder" \
  --mca orte_tmpdir_base "$folder" --mca oob_tcp_if_include lo --bind-to none --oversubscribe \
  -np 2 sh -c "$keep_rank" "$folder" &
wait
)sh";

/// The shell of a rank. The shell ends when the far end releases the file `alive`: at its exit, or when it is killed.
constexpr const char* keep_rank = R"sh(
exec 3<"$0/alive" &&
  env -0 >"$0/new$OMPI_COMM_WORLD_RANK" && mv "$0/new$OMPI_COMM_WORLD_RANK" "$0/rank$OMPI_COMM_WORLD_RANK" && flock -s 3
)sh";

/// Starts the job. The job ends after this process exits or is killed.
std::expected<process, std::string> start_job(const std::filesystem::path& folder) {
  auto job = process::start({.program = "/bin/sh",
                             .words = {"sh", "-c", keep_job, TROUPE_BENCH_MPIRUN, folder.string(), keep_rank},
                             .input = nothing{},
                             .output = nothing{},
                             .errors = nothing{},
                             .environment = {},
                             .parting_signal = SIGTERM});
  if (!job)
    return job;
  constexpr std::chrono::seconds patience{15};
  const auto deadline = bench_clock::now() + patience;
  while (!exists(variables_of(folder, near_rank)) || !exists(variables_of(folder, far_rank))) {
    if (!job->runs() || bench_clock::now() > deadline)
      return std::unexpected{"mpirun starts no job"};
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return job;
}

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_openmpi(const ready_report& ready) {
  const own_folder folder{"troupe-bench-openmpi", "/dev/shm"};
  const auto place = folder.path();
  const descriptor alive{::open((place / "alive").c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (::flock(alive.number(), LOCK_EX) != 0)
    return std::unexpected{"cannot lock a file in " + place.string()};
  const auto job = start_job(place);
  if (!job)
    return std::unexpected{job.error()};
  ready(place.string());
  std::thread{[place] {
    openmpi_end far{place, far_rank};
    serve_near_rank(far);
  }}.detach();
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits for a message.
}

subject openmpi(std::string name, std::uint64_t group, load carried = load::one_struct) {
  return {std::move(name), serve_openmpi,
          [group, carried](const std::string& folder) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<openmpi_near_end>(folder, group, carried);
          }};
}

} // namespace

subject openmpi_blocking() {
  return openmpi("openmpi-blocking", 1);
}

subject openmpi_windowed() {
  return openmpi("openmpi-windowed", window_messages);
}

subject batches_openmpi() {
  return openmpi("batches-openmpi", structs_together, load::many_structs);
}

} // namespace bench
