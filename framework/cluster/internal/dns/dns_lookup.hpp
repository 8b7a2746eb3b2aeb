// Asks DNS servers for the records of a name.
#pragma once

#include <troupe/framework/cluster/internal/dns/dns_message.hpp>

#include <chrono>
#include <expected>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

struct dns_query {
  std::string name;         // Completed by the search list of /etc/resolv.conf, unless it ends with a dot.
  std::string name_servers; // As directory_options::name_servers.
  std::chrono::milliseconds timeout{};
};

/// Asks for the records of each type at the same time, by c-ares. A name without such records, or that does not exist,
/// gives an answer without records. Fails, each for itself, with the reason: no server answered in time, a server
/// failed, or its answer is malformed. Returns early if `stop_descriptor` becomes readable.
[[nodiscard]] std::vector<std::expected<dns_answer, std::string>>
look_up(const dns_query& query, const std::vector<dns_type>& types, int stop_descriptor);

struct dns_question {
  std::string name; // As dns_query::name.
  dns_type type{};
};

/// The same for questions about many names, of which some are asked at the same time. The timeout is for all.
[[nodiscard]] std::vector<std::expected<dns_answer, std::string>>
look_up_all(const std::vector<dns_question>& questions, const std::string& name_servers,
            std::chrono::milliseconds timeout, int stop_descriptor);

/// Why the text is no list of name servers; empty if it is one.
[[nodiscard]] std::string problem_of_name_servers(const std::string& text);

} // namespace troupe::cluster_directories
