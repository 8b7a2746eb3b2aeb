#include "peers/all.hpp"

#if TROUPE_BENCH_BASP
#include "peers/basp.hpp"
#endif
#if TROUPE_BENCH_ZEROMQ
#include "peers/zeromq.hpp"
#endif
#if TROUPE_BENCH_NNG
#include "peers/nng.hpp"
#endif
#if TROUPE_BENCH_GRPC
#include "peers/grpc.hpp"
#endif
#if TROUPE_BENCH_CAPNPROTO
#include "peers/capnproto.hpp"
#endif
#if TROUPE_BENCH_REDIS
#include "peers/redis.hpp"
#endif
#if TROUPE_BENCH_ERLANG
#include "peers/erlang.hpp"
#endif
#if TROUPE_BENCH_OPENMPI
#include "peers/openmpi.hpp"
#endif
#if TROUPE_BENCH_ICEORYX
#include "peers/iceoryx.hpp"
#endif
#if TROUPE_BENCH_CYCLONEDDS
#include "peers/cyclonedds.hpp"
#endif
#if TROUPE_BENCH_NATS
#include "peers/nats.hpp"
#endif

namespace bench {

namespace {

[[maybe_unused]] subject absent(std::string name, const std::string& package) {
#if TROUPE_BENCH_SANITIZED
  const auto reason = "not built: with sanitizers, or " + package + " not found";
#else
  const auto reason = "not built: " + package + " not found";
#endif
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
subject batches_caf_basp() {
  return absent("batches-caf-basp", "CAF's io module");
}
#endif
#if !TROUPE_BENCH_ZEROMQ
subject zeromq_ipc() {
  return absent("zeromq-ipc", "libzmq3-dev or cppzmq-dev");
}
subject batches_zeromq_ipc() {
  return absent("batches-zeromq-ipc", "libzmq3-dev or cppzmq-dev");
}
#endif
#if !TROUPE_BENCH_NNG
subject nng_ipc() {
  return absent("nng-ipc", "libnng-dev");
}
#endif
#if !TROUPE_BENCH_GRPC
subject grpc_unix() {
  return absent("grpc-unix", "libgrpc++-dev or protobuf-compiler-grpc");
}
#endif
#if !TROUPE_BENCH_CAPNPROTO
subject capnproto_unix() {
  return absent("capnproto-unix", "libcapnp-dev or capnproto");
}
#endif
#if !TROUPE_BENCH_REDIS
subject redis_unix() {
  return absent("redis-unix", "libhiredis-dev or redis-tools");
}
#endif
#if !TROUPE_BENCH_ERLANG
subject erlang_tcp() {
  return absent("erlang-tcp", "erlang-base");
}
#endif
#if !TROUPE_BENCH_OPENMPI
subject openmpi_blocking() {
  return absent("openmpi-blocking", "libopenmpi-dev or openmpi-bin");
}
subject openmpi_windowed() {
  return absent("openmpi-windowed", "libopenmpi-dev or openmpi-bin");
}
subject batches_openmpi() {
  return absent("batches-openmpi", "libopenmpi-dev or openmpi-bin");
}
#endif
#if !TROUPE_BENCH_ICEORYX
subject iceoryx_polling() {
  return absent("iceoryx-polling", "libiceoryx-posh-dev or iceoryx");
}
subject iceoryx_waitset() {
  return absent("iceoryx-waitset", "libiceoryx-posh-dev or iceoryx");
}
#endif
#if !TROUPE_BENCH_CYCLONEDDS
subject cyclonedds_udp() {
  return absent("cyclonedds-udp", "cyclonedds-dev or cyclonedds-tools");
}
#endif
#if !TROUPE_BENCH_NATS
subject nats_tcp() {
  return absent("nats-tcp", "libnats-dev or nats-server");
}
#endif

} // namespace

std::vector<subject> all_peers() {
  return {caf_basp(),         caf_basp_sharing(), zeromq_ipc(),      nng_ipc(),        grpc_unix(),
          capnproto_unix(),   redis_unix(),       nats_tcp(),        cyclonedds_udp(), erlang_tcp(),
          openmpi_blocking(), openmpi_windowed(), iceoryx_polling(), iceoryx_waitset()};
}

std::vector<subject> peers_with_batches() {
  return {batches_caf_basp(), batches_zeromq_ipc(), batches_openmpi()};
}

} // namespace bench
