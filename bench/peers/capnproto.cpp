#include "peers/capnproto.hpp"

#include "peers/large_values.hpp"

#include <deque>
#include <future>
#include <thread>

#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>
#include <unistd.h>

#include "capnproto.capnp.h"

namespace bench {

namespace {

using capnproto_far = capnp_peer::Far;

/// Accepts messages of any size: the library's bounds protect against strangers.
capnp::ReaderOptions without_bounds() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = kj::maxValue;
  return options;
}

void fill(capnp_peer::Small::Builder message, const small_fields& fields) {
  message.setNumber(fields.number);
  message.setSecond(fields.second);
  message.setThird(fields.third);
  message.setText(capnp::Text::Reader{fields.text.data(), fields.text.size()});
}

// The base class prevents deletion through a base without a virtual destructor, but g++ cannot tell.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class capnproto_far_end final : public capnproto_far::Server {
protected:
  kj::Promise<void> begin(BeginContext) override {
    consumed_ = echoed_ = 0;
    return kj::READY_NOW;
  }
  kj::Promise<void> consume(ConsumeContext context) override {
    const auto message = context.getParams();
    check_fields(message.getNumber(), message.getText().size(), consumed_++);
    return kj::READY_NOW;
  }
  kj::Promise<void> finish(FinishContext context) override {
    context.getResults().setCount(consumed_);
    return kj::READY_NOW;
  }
  kj::Promise<void> echo(EchoContext context) override {
    const auto message = context.getParams();
    check_fields(message.getNumber(), message.getText().size(), echoed_++);
    context.setResults(message);
    return kj::READY_NOW;
  }
  kj::Promise<void> take(TakeContext context) override {
    const auto value = context.getParams().getValue().asChars();
    context.getResults().setNumber(number_of_large({value.begin(), value.size()}));
    return kj::READY_NOW;
  }

private:
  std::uint64_t consumed_ = 0;
  std::uint64_t echoed_ = 0;
};

#pragma GCC diagnostic pop

/// Serves a single near end.
void serve_one(const std::string& address, std::promise<void>& listens) {
  auto io = kj::setupAsyncIo();
  auto receiver = io.provider->getNetwork().parseAddress(address).wait(io.waitScope)->listen();
  listens.set_value();
  auto stream = receiver->accept().wait(io.waitScope);
  capnp::TwoPartyVatNetwork network{*stream, capnp::rpc::twoparty::Side::SERVER, without_bounds()};
  const auto system = capnp::makeRpcServer(network, kj::heap<capnproto_far_end>());
  network.onDisconnect().wait(io.waitScope);
}

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_capnproto(const ready_report& ready) {
  const auto address = "unix-abstract:troupe-bench-capnproto-" + std::to_string(::getpid());
  std::promise<void> listens;
  std::thread{[&] {
    try {
      serve_one(address, listens);
    } catch (const kj::Exception& error) { // When the near end ends, the connection may be reset.
      if (error.getType() != kj::Exception::Type::DISCONNECTED)
        std::cerr << error.getDescription().cStr() << '\n';
    }
  }}.detach();
  listens.get_future().wait();
  ready(address);
  wait_for_end_of_input();
  std::_Exit(0); // Also ends the thread, which waits in its event loop.
}

/// The near end's connection to the far one.
class capnproto_connection {
public:
  explicit capnproto_connection(const std::string& address)
      : stream_(io_.provider->getNetwork().parseAddress(address).wait(io_.waitScope)->connect().wait(io_.waitScope)) {}

  capnproto_far::Client& far() { return far_; }
  kj::WaitScope& scope() { return io_.waitScope; }

private:
  capnproto_far::Client bootstrap() {
    capnp::MallocMessageBuilder message;
    auto vat = message.initRoot<capnp::rpc::twoparty::VatId>();
    vat.setSide(capnp::rpc::twoparty::Side::SERVER);
    return system_.bootstrap(vat).castAs<capnproto_far>();
  }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  kj::Own<kj::AsyncIoStream> stream_;
  capnp::TwoPartyVatNetwork network_{*stream_, capnp::rpc::twoparty::Side::CLIENT, without_bounds()};
  capnp::RpcSystem<capnp::rpc::twoparty::VatId> system_ = capnp::makeRpcClient(network_);
  capnproto_far::Client far_ = bootstrap();
};

class capnproto_near_end : public near_end {
public:
  explicit capnproto_near_end(const std::string& address)
      : connection_(std::make_unique<capnproto_connection>(address)),
        far_(connection_->far()),
        scope_(connection_->scope()) {}

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto began = bench_clock::now();
    far_.beginRequest().send().wait(scope_);
    for (std::uint64_t sent = 0; sent < count; ++sent) {
      auto request = far_.consumeRequest();
      fill(request, small_fields{sent});
      request.send().wait(scope_); // Waits until there is room for the next one.
    }
    const auto consumed = far_.finishRequest().send().wait(scope_).getCount();
    const seconds took = bench_clock::now() - began;
    if (consumed != count)
      return std::unexpected{std::to_string(consumed) + " messages came instead of " + std::to_string(count)};
    return took;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto began = bench_clock::now();
    far_.beginRequest().send().wait(scope_);
    std::deque<capnp::RemotePromise<capnp_peer::Small>> asked;
    std::uint64_t answered = 0;
    for (std::uint64_t sent = 0; answered < count;) {
      const auto sent_at = bench_clock::now();
      for (; sent < count && sent - answered < window; ++sent) {
        auto request = far_.echoRequest();
        fill(request, small_fields{sent});
        asked.push_back(request.send());
      }
      const auto answer = asked.front().wait(scope_);
      asked.pop_front();
      check_fields(answer.getNumber(), answer.getText().size(), answered++);
      if (round_trips != nullptr)
        round_trips->push_back(bench_clock::now() - sent_at);
    }
    return bench_clock::now() - began;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      auto request = far_.takeRequest(capnp::MessageSize{bytes.size() / sizeof(capnp::word) + 64, 0});
      request.setValue({reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()});
      return request.send().wait(scope_).getNumber();
    });
  }

private:
  std::unique_ptr<capnproto_connection> connection_;
  capnproto_far::Client& far_;
  kj::WaitScope& scope_;
};

} // namespace

subject capnproto_unix() {
  return {"capnproto-unix", serve_capnproto,
          [](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<capnproto_near_end>(address);
          }};
}

} // namespace bench
