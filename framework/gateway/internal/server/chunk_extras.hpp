// What a chunked body has besides its bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include <troupe/framework/gateway/internal/server/request_head.hpp>

namespace troupe::web {

/// Bounds the extensions of all chunks and the trailers of one request together, which nobody uses here.
///
/// Threads: one at a time.
class chunk_extras {
public:
  explicit chunk_extras(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Counts the head of a chunk. `buffered` are the bytes around it that have come; `extension` views them. Those of
  /// the last chunk contain the trailers. Complete: the body may go on. Else the request is to be refused.
  [[nodiscard]] head_state note(bool is_last, std::string_view extension, std::string_view buffered);

private:
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
};

} // namespace troupe::web
