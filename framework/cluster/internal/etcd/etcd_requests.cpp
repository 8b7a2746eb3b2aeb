#include <troupe/framework/cluster/internal/etcd/etcd_requests.hpp>

#include <troupe/framework/cluster/internal/etcd/base64.hpp>

#include <nlohmann/json.hpp>

namespace troupe::cluster_directories {

namespace {

std::string quoted(std::uint64_t number) {
  return '"' + std::to_string(number) + '"';
}

std::string quoted_bytes(std::string_view bytes) {
  return '"' + base64_of(bytes) + '"';
}

std::string quoted_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string compare_of(std::string_view prefix, const directory_condition& condition) {
  using enum directory_condition::kind;
  const auto key = R"({"key":)" + quoted_bytes(std::string{prefix} + condition.key);
  // Of an absent key, etcd compares the revisions as 0. No revision is less than 0.
  constexpr std::string_view never = R"(,"target":"CREATE","result":"LESS","create_revision":"0"})";
  const auto is_possible = condition.revision != 0 && condition.revision <= INT64_MAX;
  switch (condition.what) {
  case absent:
    return key + R"(,"target":"CREATE","result":"EQUAL","create_revision":"0"})";
  case created_at:
    if (is_possible)
      return key + R"(,"target":"CREATE","result":"EQUAL","create_revision":)" + quoted(condition.revision) + '}';
    break;
  case changed_at:
    if (is_possible)
      return key + R"(,"target":"MOD","result":"EQUAL","mod_revision":)" + quoted(condition.revision) + '}';
    break;
  }
  return key + std::string{never};
}

std::string operation_of(std::string_view prefix, const directory_write& write) {
  const auto key = quoted_bytes(std::string{prefix} + write.key);
  if (write.what == directory_write::kind::remove)
    return R"({"requestDeleteRange":{"key":)" + key + "}}";
  return R"({"requestPut":{"key":)" + key + R"(,"value":)" + quoted_bytes(write.value) + R"(,"lease":)"
         + quoted(write.lease) + "}}";
}

template <class Elements, class Text>
std::string joined(const Elements& elements, Text&& text) {
  std::string all = "[";
  for (const auto& each : elements) {
    if (all.size() > 1)
      all += ',';
    all += text(each);
  }
  return all + ']';
}

} // namespace

std::string end_of_prefix(std::string_view prefix) {
  std::string end{prefix};
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff)
    end.pop_back();
  if (end.empty())
    return std::string(1, '\0');
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

etcd_request range_request(std::string_view from, std::string_view end, std::size_t limit, std::uint64_t revision) {
  return {"kv/range", R"({"key":)" + quoted_bytes(from) + R"(,"range_end":)" + quoted_bytes(end) + R"(,"limit":)"
                          + quoted(limit) + R"(,"revision":)" + quoted(revision) + '}'};
}

etcd_request txn_request(std::string_view prefix, std::span<const directory_condition> conditions,
                         std::span<const directory_write> writes) {
  const auto compares = joined(conditions, [&](const auto& each) { return compare_of(prefix, each); });
  const auto operations = joined(writes, [&](const auto& each) { return operation_of(prefix, each); });
  const auto readings = joined(conditions, [&](const directory_condition& each) {
    return R"({"requestRange":{"key":)" + quoted_bytes(std::string{prefix} + each.key) + "}}";
  });
  return {"kv/txn", R"({"compare":)" + compares + R"(,"success":)" + operations + R"(,"failure":)" + readings + '}',
          writes.empty()};
}

etcd_request grant_request(std::uint64_t id, std::chrono::seconds time) {
  return {"lease/grant", R"({"TTL":")" + std::to_string(time.count()) + R"(","ID":)" + quoted(id) + '}'};
}

etcd_request keep_alive_request(std::uint64_t lease) {
  return {"lease/keepalive", R"({"ID":)" + quoted(lease) + '}'};
}

etcd_request revoke_request(std::uint64_t lease) {
  return {"lease/revoke", R"({"ID":)" + quoted(lease) + '}'};
}

etcd_request watch_request(std::string_view prefix, std::uint64_t first_revision) {
  // etcd then divides large answers, and tells an idle watch now and then (every 10 minutes) how far it has got.
  return {"watch", R"({"create_request":{"key":)" + quoted_bytes(prefix) + R"(,"range_end":)"
                       + quoted_bytes(end_of_prefix(prefix)) + R"(,"start_revision":)" + quoted(first_revision)
                       + R"(,"fragment":true,"progress_notify":true}})"};
}

etcd_request authenticate_request(std::string_view user, std::string_view password) {
  return {"auth/authenticate", R"({"name":)" + quoted_text(user) + R"(,"password":)" + quoted_text(password) + '}'};
}

etcd_request status_request() {
  return {"maintenance/status", "{}"};
}

} // namespace troupe::cluster_directories
