// What `troupe cluster doctor` has found.
#pragma once

#include <troupe/framework/cluster/cluster_observer.hpp>
#include <troupe/framework/cluster/member_account.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace troupe::tools {

/// Something to know. A problem makes the doctor's status 1.
struct finding {
  bool is_problem = true;
  std::string about; // A member, or "directory".
  std::string text;
};

/// What came of a try to reach an address of a member.
struct tried_address {
  enum class outcome {
    proven,    // The node there has proven that it is the member.
    reachable, // Something accepts connections there; text says why it was not asked for a proof.
    elsewhere, // The address means another process on this host.
    failed,    // Text says why.
  };

  std::string address;
  outcome what = outcome::failed;
  std::string text = {};
  std::chrono::nanoseconds time{0};
};

struct examined_member {
  cluster_member member;
  std::vector<tried_address> addresses;
  std::optional<member_account> account = {};
  std::string no_account = {}; // Why there is none.
};

struct examined_directory {
  std::string address;
  std::string identity;
  std::chrono::nanoseconds answer_time{0}; // Of the fastest of three lists.
  std::uint64_t revision = 0;
  bool is_writable = false; // The kind of directory.
  bool was_written = false; // A try has succeeded.
};

struct diagnosis {
  examined_directory where;
  std::vector<examined_member> members;
  std::vector<finding> findings;

  [[nodiscard]] bool is_healthy() const;
};

[[nodiscard]] std::string text_of(const diagnosis& of);
[[nodiscard]] nlohmann::ordered_json document_of(const diagnosis& of);

} // namespace troupe::tools
