// A gateway with a few actors behind it: the fixture of its tests.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "../framework/two_nodes.hpp"
#include "raw_client.hpp"

#include <troupe/framework/gateway/gateway.hpp>

namespace troupe::tests {

struct spoon {
  std::string metal;
  std::uint32_t turns = 1;
  friend bool operator==(const spoon&, const spoon&) = default;
};
TROUPE_DESCRIBE(spoon, metal, turns)

using stir_atom = caf::atom_constant<caf::atom("stir")>;
using hold_atom = caf::atom_constant<caf::atom("hold")>;
using drop_atom = caf::atom_constant<caf::atom("drop")>;
using fail_atom = caf::atom_constant<caf::atom("fail")>;
using greet_atom = caf::atom_constant<caf::atom("greet")>;
using flood_atom = caf::atom_constant<caf::atom("flood")>;

using typed_cup = caf::typed_actor<caf::replies_to<stir_atom, spoon>::with<std::string>>;

/// Stirs, holds requests for ever, drops promises, fails, greets its sender, and sends it very much.
inline caf::behavior cup(caf::stateful_actor<std::vector<caf::response_promise>>* self) {
  return {[](stir_atom, const spoon& with) { return "stirred by " + with.metal; },
          [](const spoon& with) { return with; },
          [=](hold_atom) {
            self->state.push_back(self->make_response_promise());
            return self->state.back();
          },
          [=](drop_atom) { return self->make_response_promise(); },
          [](fail_atom) -> caf::result<int> {
            return to_caf_error({node_errc::link_busy, "the kettle has not consumed 7 bytes"});
          },
          [=](greet_atom, const std::string& name) {
            self->send(caf::actor_cast<caf::actor>(self->current_sender()), "hello " + name);
          },
          [=](flood_atom, std::uint32_t count, std::uint32_t bytes) {
            const auto to = caf::actor_cast<caf::actor>(self->current_sender());
            self->monitor(to);
            for (std::uint32_t i = 0; i < count; ++i)
              self->send(to, std::string(bytes, 'x'));
          }};
}

/// A token file that is removed with this object.
class token_file {
public:
  explicit token_file(const std::string& text, std::filesystem::perms mode = std::filesystem::perms::owner_read
                                                                             | std::filesystem::perms::owner_write)
      : path_(std::filesystem::temp_directory_path() / unique_name("gateway-tokens")) {
    write(text);
    std::filesystem::permissions(path_, mode);
  }
  token_file(const token_file&) = delete;
  token_file& operator=(const token_file&) = delete;
  ~token_file() { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] std::string path() const { return path_.string(); }

private:
  const std::filesystem::path path_;
};

inline const std::string full_token = "full-0123456789abcdef0123456789abcdef";
inline const std::string small_token = "small-0123456789abcdef0123456789abcdef";

class open_gateway : public testing::Test {
protected:
  open_gateway() = default;
  ~open_gateway() override { caf::anon_send_exit(cup_, caf::exit_reason::kill); } // Its promises keep it alive.

  /// Tests change these before the first call of gateway().
  gateway_options options_{};

  side& home() {
    if (!home_)
      home_ = std::make_unique<side>(node_options{.name = "home", .store = std::nullopt},
                                     [](type_registry& types) { types.add<spoon>("test.spoon"); });
    return *home_;
  }
  [[nodiscard]] troupe::gateway& gateway() {
    if (!gateway_) {
      options_.token_file = tokens_.path();
      auto opened = troupe::gateway::open(*home().home, options_);
      if (!opened)
        throw std::runtime_error(opened.error().message());
      gateway_.emplace(*std::move(opened));
      cup_ = home().system.spawn(cup);
      EXPECT_TRUE(gateway_->expose("cup", cup_));
    }
    return *gateway_;
  }
  [[nodiscard]] std::string host() { return "127.0.0.1:" + std::to_string(gateway().port()); }
  [[nodiscard]] std::unique_ptr<raw_client> client() { return std::make_unique<raw_client>(gateway().port()); }

  /// The text of a request. `head` are further lines of its head, each with its end.
  [[nodiscard]] std::string request(const std::string& method, const std::string& target, const std::string& body = "",
                                    const std::string& head = "", const std::string& token = full_token) {
    auto text = method + " " + target + " HTTP/1.1\r\nHost: " + host() + "\r\n" + head;
    if (!token.empty())
      text += "Authorization: Bearer " + token + "\r\n";
    if (method == "POST")
      text += "Content-Type: application/json\r\n";
    if (!body.empty())
      text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
  }
  /// The answer to one request on a connection of its own.
  [[nodiscard]] http_answer answer_to(const std::string& text, bool has_body = true) {
    const auto one = client();
    EXPECT_TRUE(one->send(text));
    return one->answer(has_body);
  }
  [[nodiscard]] http_answer post(const std::string& body, const std::string& head = "",
                                 const std::string& token = full_token) {
    return answer_to(request("POST", "/actors/cup", body, head, token));
  }
  /// A connection that has become a WebSocket to that actor; null if it was refused.
  [[nodiscard]] std::unique_ptr<raw_client> socket(const std::string& head = "", const std::string& token = full_token,
                                                   const std::string& actor = "cup") {
    auto one = client();
    EXPECT_TRUE(one->send(request("GET", "/actors/" + actor, "",
                                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                                      + head,
                                  token)));
    last_upgrade_ = one->answer();
    return last_upgrade_.status == 101 ? std::move(one) : nullptr;
  }

  token_file tokens_{"# Of the tests\nfull " + full_token + " call:* read:* schema put:1MiB\n\nsmall " + small_token
                     + " call:kettle read:menu\n"};
  http_answer last_upgrade_;
  std::unique_ptr<side> home_;
  caf::actor cup_;
  std::optional<troupe::gateway> gateway_;
};

} // namespace troupe::tests
