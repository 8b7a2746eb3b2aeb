// A DNS server on loopback whose answers the test chooses, also wrong ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::tests {

/// The bytes of a DNS message, as a server writes them.
class dns_bytes {
public:
  dns_bytes& number_16(unsigned value) {
    bytes_ += static_cast<char>(value >> 8 & 0xff);
    bytes_ += static_cast<char>(value & 0xff);
    return *this;
  }
  dns_bytes& number_32(std::uint32_t value) { return number_16(value >> 16).number_16(value & 0xffff); }
  dns_bytes& name(std::string_view text);
  dns_bytes& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  /// A record of class IN.
  dns_bytes& record(std::string_view owner, unsigned type, std::uint32_t ttl_s, std::string_view value) {
    name(owner).number_16(type).number_16(1).number_32(ttl_s).number_16(static_cast<unsigned>(value.size()));
    return raw(value);
  }

  [[nodiscard]] const std::string& text() const noexcept { return bytes_; }

private:
  std::string bytes_;
};

/// What a server answers to one question.
struct dns_response {
  unsigned rcode = 0;           // 2: SERVFAIL, 3: NXDOMAIN.
  unsigned count = 0;           // Of the records, as the head says it.
  std::string records;          // The bytes behind the question.
  bool is_silent = false;       // Answers nothing.
  std::string whole;            // If not empty: the bytes behind the message's number.
  bool is_question_kept = true; // Whether the question comes back.
};

/// Threads: any. Answers UDP and TCP on the same port of 127.0.0.1; UDP only as far as 1,232 bytes go.
class fake_dns_server {
public:
  fake_dns_server();
  ~fake_dns_server();
  fake_dns_server(const fake_dns_server&) = delete;
  fake_dns_server& operator=(const fake_dns_server&) = delete;

  /// For directory_options::name_servers.
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  /// Sets the response to questions for that name and type. Others are answered with NXDOMAIN.
  void set(const std::string& name, unsigned type, dns_response response);
  /// Sets A records, and no AAAA records.
  void set_addresses(const std::string& name, const std::vector<std::string>& addresses, std::uint32_t ttl_s = 1);
  void set_services(const std::string& name, const std::vector<std::pair<std::string, unsigned>>& targets,
                    std::uint32_t ttl_s = 1);
  void set_all_silent(bool is_silent) { is_silent_ = is_silent; }

  [[nodiscard]] int questions() const noexcept { return questions_; }
  [[nodiscard]] int streams() const noexcept { return streams_; }

private:
  void run();
  [[nodiscard]] std::string answer_to(std::string_view question);
  void serve_datagram();
  void serve_stream();

  int datagrams_ = -1;
  int listener_ = -1;
  int stops_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_silent_{false};
  std::atomic<int> questions_{0};
  std::atomic<int> streams_{0};
  std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, dns_response> responses_; // Guarded by mutex_.
  std::thread thread_;
};

} // namespace troupe::tests
