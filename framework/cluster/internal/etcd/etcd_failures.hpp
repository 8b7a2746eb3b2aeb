// What can be done about a request to etcd that failed.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>
#include <troupe/framework/cluster/internal/etcd/http_connection.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

struct etcd_failure {
  enum class kind : std::uint8_t {
    final,       // Every endpoint would say the same.
    not_applied, // Another endpoint, or the same one later, may do it.
    unknown,     // Like not_applied, but the request may have been applied, or may still be.
    token,       // Not applied, because the token is missing or has expired.
    has_lease,   // Not applied, because there is a lease with this id.
    no_users,    // Not applied, because this etcd knows no users.
  };

  kind what = kind::final;
  directory_error error;
};

/// Of an answer whose status is not 200.
[[nodiscard]] etcd_failure failure_of_answer(const std::string& endpoint, const http_answer& answer);

/// Of a message of a stream. `text` begins with what etcd calls the failure.
[[nodiscard]] etcd_failure failure_of_refusal(const std::string& endpoint, int code, std::string_view text);

/// Of a request without an answer.
[[nodiscard]] etcd_failure failure_of_exchange(const std::string& endpoint, const http_failure& failure);

/// Of an answer that is not one of etcd.
[[nodiscard]] etcd_failure failure_of_reading(const std::string& endpoint, std::string_view what, std::string_view why);

} // namespace troupe::cluster_directories
