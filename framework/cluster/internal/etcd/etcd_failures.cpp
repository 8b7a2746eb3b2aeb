#include <troupe/framework/cluster/internal/etcd/etcd_failures.hpp>

#include <troupe/framework/cluster/internal/etcd/etcd_answers.hpp>

#include <array>

namespace troupe::cluster_directories {

namespace {

constexpr int grpc_invalid_argument = 3;
constexpr int grpc_permission_denied = 7;
constexpr int grpc_resource_exhausted = 8;
constexpr int grpc_unimplemented = 12;
constexpr int grpc_unauthenticated = 16;

/// A text of etcd's, which is the same in all its versions, and what it means.
struct known_text {
  std::string_view text;
  etcd_failure::kind what;
  directory_errc code;
  std::string_view advice;
};

constexpr std::array known_texts{
    known_text{"requested lease not found", etcd_failure::kind::final, directory_errc::lease_gone,
               "the lease is gone: grant another"},
    known_text{"lease already exists", etcd_failure::kind::has_lease, directory_errc::invalid_argument, ""},
    known_text{"too large lease TTL", etcd_failure::kind::final, directory_errc::invalid_argument,
               "ask for a shorter time"},
    known_text{"required revision has been compacted", etcd_failure::kind::final, directory_errc::compacted,
               "list, then watch anew"},
    known_text{"required revision is a future revision", etcd_failure::kind::final, directory_errc::another_cluster,
               "its data was lost or restored from a backup: open the directory again"},
    known_text{"database space exceeded", etcd_failure::kind::final, directory_errc::full,
               "compact and defragment it, raise --quota-backend-bytes, then run `etcdctl alarm disarm`"},
    known_text{"request is too large", etcd_failure::kind::final, directory_errc::invalid_argument,
               "divide the commit, or raise --max-request-bytes of etcd"},
    known_text{"too many operations in txn request", etcd_failure::kind::final, directory_errc::invalid_argument,
               "set --max-txn-ops of etcd to at least 128"},
    known_text{"authentication failed", etcd_failure::kind::final, directory_errc::refused,
               "check `user` and `password` of the options"},
    known_text{"user name is empty", etcd_failure::kind::token, directory_errc::refused,
               "set `user` and `password` of the options"},
    known_text{"invalid auth token", etcd_failure::kind::token, directory_errc::refused,
               "check `user` and `password` of the options"},
    known_text{"revision of auth store is old", etcd_failure::kind::token, directory_errc::unavailable, "try again"},
    known_text{"revision in header is old", etcd_failure::kind::token, directory_errc::unavailable, "try again"},
    known_text{"authentication is not enabled", etcd_failure::kind::no_users, directory_errc::refused,
               "it knows no users"},
    known_text{"permission denied", etcd_failure::kind::final, directory_errc::refused,
               "grant the user read and write permission for all keys below the prefix"},
    known_text{"etcdserver: no leader", etcd_failure::kind::not_applied, directory_errc::unavailable,
               "a majority of its members must run"},
    known_text{"etcdserver: too many requests", etcd_failure::kind::not_applied, directory_errc::unavailable,
               "try again later"},
    known_text{"rpc not supported for learner", etcd_failure::kind::not_applied, directory_errc::unavailable,
               "name voting members as endpoints"},
};

etcd_failure failure_of(etcd_failure::kind what, directory_errc code, const std::string& endpoint, std::string_view did,
                        std::string_view advice) {
  auto text = "etcd at " + endpoint + ' ' + std::string{did};
  if (!advice.empty())
    text += "; " + std::string{advice};
  return {what, {code, std::move(text)}};
}

} // namespace

etcd_failure failure_of_refusal(const std::string& endpoint, int code, std::string_view text) {
  const auto did = "answered \"" + one_line(text, 256) + '"';
  for (const auto& known : known_texts)
    if (text.find(known.text) != std::string_view::npos)
      return failure_of(known.what, known.code, endpoint, did, known.advice);
  switch (code) {
  case grpc_invalid_argument:
    return failure_of(etcd_failure::kind::final, directory_errc::invalid_argument, endpoint, did, "");
  case grpc_resource_exhausted: // A message too large for gRPC.
    return failure_of(etcd_failure::kind::final, directory_errc::invalid_argument, endpoint, did, "divide the request");
  case grpc_permission_denied:
    return failure_of(etcd_failure::kind::final, directory_errc::refused, endpoint, did,
                      "check the rights of the user");
  case grpc_unauthenticated:
    return failure_of(etcd_failure::kind::token, directory_errc::refused, endpoint, did,
                      "check `user` and `password` of the options");
  case grpc_unimplemented:
    return failure_of(etcd_failure::kind::final, directory_errc::version_mismatch, endpoint, did,
                      "etcd 3.4 or newer is needed");
  default:
    return failure_of(etcd_failure::kind::unknown, directory_errc::unavailable, endpoint, did, "see its log");
  }
}

etcd_failure failure_of_answer(const std::string& endpoint, const http_answer& answer) {
  const auto refusal = read_refusal(answer.body);
  if (refusal)
    return failure_of_refusal(endpoint, refusal->code, refusal->text);
  // A proxy, or an etcd without a gateway for this version.
  return failure_of(etcd_failure::kind::final, directory_errc::version_mismatch, endpoint,
                    "answered with HTTP status " + std::to_string(answer.status) + " and \""
                        + one_line(std::string_view{answer.body}.substr(0, 48), 64) + '"',
                    "it must be the client port of an etcd 3.4 or newer, without --enable-grpc-gateway=false");
}

etcd_failure failure_of_exchange(const std::string& endpoint, const http_failure& failure) {
  switch (failure.what) {
  case http_failure::kind::not_sent:
    return failure_of(etcd_failure::kind::not_applied, directory_errc::unavailable, endpoint,
                      "cannot be reached: " + failure.text, "");
  case http_failure::kind::no_answer:
    return failure_of(etcd_failure::kind::unknown, directory_errc::unavailable, endpoint,
                      "gave no answer: " + failure.text, "");
  case http_failure::kind::untrusted:
    return failure_of(etcd_failure::kind::final, directory_errc::refused, endpoint,
                      "has no trusted TLS connection to this process: " + failure.text,
                      "check `ca_file`, `certificate_file` and `key_file` of the options");
  case http_failure::kind::too_large:
    return failure_of(etcd_failure::kind::final, directory_errc::version_mismatch, endpoint,
                      "gave too large an answer: " + failure.text,
                      "only this program's entries may lie below the prefix");
  case http_failure::kind::not_http:
    return failure_of(etcd_failure::kind::final, directory_errc::version_mismatch, endpoint,
                      "does not speak HTTP as etcd does: " + failure.text,
                      "it must be the client port of an etcd 3.4 or newer");
  case http_failure::kind::stopped:
    return {etcd_failure::kind::final, {directory_errc::closed, "the directory was closed"}};
  case http_failure::kind::broken:
    break;
  }
  return {etcd_failure::kind::final, {directory_errc::system_failure, "libcurl failed: " + failure.text}};
}

etcd_failure failure_of_reading(const std::string& endpoint, std::string_view what, std::string_view why) {
  return failure_of(etcd_failure::kind::final, directory_errc::version_mismatch, endpoint,
                    "answered a " + std::string{what} + " with what " + std::string{why},
                    "it must be an etcd 3.4 or newer");
}

} // namespace troupe::cluster_directories
