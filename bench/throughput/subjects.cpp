#include "throughput/subjects.hpp"

#include "peers/raw_asio.hpp"
#include "throughput/troupe_subjects.hpp"

#if TROUPE_BENCH_BASP
#include "peers/basp.hpp"
#endif
#if TROUPE_BENCH_ZEROMQ
#include "peers/zeromq.hpp"
#endif

#include <algorithm>

namespace bench {

namespace {

[[maybe_unused]] subject absent(std::string name, const std::string& library) {
  const auto reason = "built without " + library;
  return {std::move(name), [reason](const ready_report&) { return std::unexpected{reason}; },
          [reason](const std::string&) { return std::unexpected{reason}; }};
}

#if !TROUPE_BENCH_BASP
subject caf_basp() {
  return absent("caf-basp", "CAF's io module");
}
subject caf_basp_sharing() {
  return absent("caf-basp-sharing", "CAF's io module");
}
#endif
#if !TROUPE_BENCH_ZEROMQ
subject zeromq_ipc() {
  return absent("zeromq-ipc", "ZeroMQ");
}
#endif

} // namespace

const std::vector<subject>& all_subjects() {
  static const std::vector<subject> all{troupe_unix(),      troupe_tcp(), caf_basp(),
                                        caf_basp_sharing(), zeromq_ipc(), raw_asio_unix()};
  return all;
}

const std::vector<std::string>& all_peers() {
  static const std::vector<std::string> peers{"caf-basp", "caf-basp-sharing", "zeromq-ipc", "raw-asio-unix"};
  return peers;
}

const subject* find_subject(std::string_view name) {
  const auto found = std::ranges::find(all_subjects(), name, &subject::name);
  return found == all_subjects().end() ? nullptr : &*found;
}

} // namespace bench
