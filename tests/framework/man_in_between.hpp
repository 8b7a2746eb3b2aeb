// A relay between the two ends of a TCP link that reads everything and may change one part of the handshake.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "raw_peer.hpp"

namespace troupe::tests {

class man_in_between {
public:
  /// Rewrites the first admin message with operation `op` from side `from`.
  struct change {
    link_side from = link_side::dialer;
    admin_op op = admin_op::greet;
    std::function<byte_vector(bytes_view)> rewrite = nullptr;
  };

  template <class Admin, class Edit>
  static std::function<byte_vector(bytes_view)> change_of(Edit edit) {
    return [edit](bytes_view body) {
      auto what = msgpack::decode_described<Admin>(body).value();
      edit(what);
      return msgpack::encode_described(what);
    };
  }

  /// Relays one connection to `target`.
  explicit man_in_between(std::string target) : man_in_between(std::move(target), change{}) {}
  man_in_between(std::string target, change what) : change_(std::move(what)) {
    relay_ = std::jthread{[this, target = std::move(target)] {
      int dialer = listener_.accept();
      int acceptor = connect_to(target);
      {
        std::jthread forward{[&] { pump(dialer, acceptor, link_side::dialer); }};
        std::jthread back{[&] { pump(acceptor, dialer, link_side::acceptor); }};
      }
      ::close(dialer);
      ::close(acceptor);
    }};
  }

  [[nodiscard]] std::string address() const { return listener_.address(); }

  struct record {
    byte_vector from_dialer;
  };

  /// Waits until both ends have closed. Returns what was recorded.
  const record& end() {
    relay_.join();
    return record_;
  }

private:
  void pump(int from, int to, link_side side) {
    auto forward = [&](std::size_t size) {
      byte_vector bytes(size);
      std::size_t have = 0;
      while (have < size) {
        auto count = ::recv(from, bytes.data() + have, size - have, 0);
        if (count <= 0)
          return byte_vector{};
        have += static_cast<std::size_t>(count);
      }
      return bytes;
    };
    auto send = [&](bytes_view bytes) {
      if (side == link_side::dialer)
        record_.from_dialer.insert(record_.from_dialer.end(), bytes.begin(), bytes.end());
      [[maybe_unused]] auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    };
    send(forward(preamble_bytes));
    for (bool changed = false;;) {
      auto head_bytes = forward(packet_head_bytes);
      if (head_bytes.empty())
        break;
      auto head = read_packet_head(std::span<const std::byte, packet_head_bytes>{head_bytes.data(), packet_head_bytes});
      auto body = forward(head.body_bytes);
      if (!changed && change_.rewrite && side == change_.from && head.kind == packet_kind::admin
          && head.detail == static_cast<std::uint8_t>(change_.op)) {
        body = change_.rewrite(body);
        changed = true;
      }
      send(raw_peer::packet(head.kind, head.detail, body));
    }
    ::shutdown(to, SHUT_WR);
  }

  raw_listener listener_;
  change change_;
  record record_;
  std::jthread relay_;
};

} // namespace troupe::tests
