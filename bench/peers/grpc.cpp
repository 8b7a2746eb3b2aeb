#include "peers/grpc.hpp"

#include "peers/large_values.hpp"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include "grpc.grpc.pb.h"

namespace bench {

namespace {

using grpc_peer::Count;
using grpc_peer::Far;
using grpc_peer::Large;
using grpc_peer::Small;

void fill(Small& message, const small_fields& fields) {
  message.set_number(fields.number);
  message.set_second(fields.second);
  message.set_third(fields.third);
  message.set_text(fields.text.data(), fields.text.size());
}

class grpc_far_end final : public Far::Service {
public:
  grpc::Status Consume(grpc::ServerContext*, grpc::ServerReaderWriter<Count, Small>* stream) override {
    std::uint64_t consumed = 0;
    Count acknowledged;
    for (Small message; stream->Read(&message);) {
      check_fields(message.number(), message.text().size(), consumed++);
      acknowledged.set_count(consumed);
      if (consumed % acknowledged_every == 0)
        stream->Write(acknowledged);
    }
    acknowledged.set_count(consumed);
    stream->Write(acknowledged);
    return grpc::Status::OK;
  }

  grpc::Status Echo(grpc::ServerContext*, grpc::ServerReaderWriter<Small, Small>* stream) override {
    std::uint64_t echoed = 0;
    for (Small message; stream->Read(&message);) {
      check_fields(message.number(), message.text().size(), echoed++);
      stream->Write(message);
    }
    return grpc::Status::OK;
  }

  grpc::Status Take(grpc::ServerContext*, const Large* large, Count* answer) override {
    answer->set_count(number_of_large(large->value()));
    return grpc::Status::OK;
  }
};

/// Serves until standard input ends, and then ends the process.
std::expected<void, std::string> serve_grpc(const ready_report& ready) {
  const auto address = "unix-abstract:troupe-bench-grpc-" + std::to_string(::getpid());
  grpc_far_end far;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&far);
  builder.SetMaxReceiveMessageSize(-1); // No bound; the default is 4 MiB.
  const auto server = builder.BuildAndStart();
  if (server == nullptr)
    return std::unexpected{"gRPC cannot listen on " + address};
  ready(address);
  wait_for_end_of_input();
  std::_Exit(0); // Skips the shutdown of the server.
}

class grpc_near_end : public near_end {
public:
  explicit grpc_near_end(const std::string& address)
      : stub_(Far::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), without_bounds()))) {}

  std::expected<seconds, std::string> one_way(std::uint64_t count) override {
    const auto began = bench_clock::now();
    grpc::ClientContext context;
    const auto stream = stub_->Consume(&context);
    std::uint64_t acknowledged = 0;
    Count answer;
    for (std::uint64_t sent = 0; acknowledged < count;) {
      while (sent < count && sent - acknowledged < window_max) {
        Small message;
        fill(message, small_fields{sent++});
        // Buffer all messages except the last one before waiting.
        const auto is_last = sent == count || sent - acknowledged == window_max;
        if (!stream->Write(message, is_last ? grpc::WriteOptions{} : grpc::WriteOptions{}.set_buffer_hint()))
          return std::unexpected{stream->Finish().error_message()};
        if (sent == count)
          stream->WritesDone();
      }
      if (!stream->Read(&answer))
        return std::unexpected{stream->Finish().error_message()};
      acknowledged = answer.count();
    }
    const seconds took = bench_clock::now() - began;
    while (stream->Read(&answer)) // The last acknowledgement may come twice.
      continue;
    static_cast<void>(stream->Finish());
    return took;
  }

  std::expected<seconds, std::string> echo(std::uint64_t count, std::uint64_t window,
                                           std::vector<seconds>* round_trips) override {
    const auto began = bench_clock::now();
    grpc::ClientContext context;
    const auto stream = stub_->Echo(&context);
    std::uint64_t answered = 0;
    Small answer;
    for (std::uint64_t sent = 0; answered < count;) {
      const auto sent_at = bench_clock::now();
      while (sent < count && sent - answered < window) {
        Small message;
        fill(message, small_fields{sent++});
        if (!stream->Write(message))
          return std::unexpected{stream->Finish().error_message()};
      }
      if (!stream->Read(&answer))
        return std::unexpected{stream->Finish().error_message()};
      check_fields(answer.number(), answer.text().size(), answered++);
      if (round_trips != nullptr)
        round_trips->push_back(bench_clock::now() - sent_at);
    }
    const seconds took = bench_clock::now() - began;
    stream->WritesDone();
    static_cast<void>(stream->Finish());
    return took;
  }

  std::expected<std::vector<seconds>, std::string> hand_over(std::uint64_t count, std::size_t size_bytes) override {
    return time_large_values(count, size_bytes, [this](const std::vector<char>& bytes) {
      grpc::ClientContext context;
      Large large;
      large.set_value(bytes.data(), bytes.size());
      Count answer;
      if (const auto status = stub_->Take(&context, large, &answer); !status.ok())
        throw std::runtime_error{"gRPC: " + status.error_message()};
      return answer.count();
    });
  }

private:
  static grpc::ChannelArguments without_bounds() {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    return arguments;
  }

  std::unique_ptr<Far::Stub> stub_;
};

} // namespace

subject grpc_unix() {
  return {"grpc-unix", serve_grpc,
          [](const std::string& address) -> std::expected<std::unique_ptr<near_end>, std::string> {
            return std::make_unique<grpc_near_end>(address);
          }};
}

} // namespace bench
