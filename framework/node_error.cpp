#include <troupe/framework/node_error.hpp>

#include <caf/actor_system_config.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

namespace troupe {

caf::error to_caf_error(const node_error& error) {
  return caf::error{static_cast<std::uint8_t>(error.code()), error_category, caf::make_message(error.message())};
}

node_error to_node_error(const caf::error& error) {
  if (!error) // CAF's accessors require an error. An actor that ends normally has an empty error as its reason.
    return {node_errc::task_failed, text_of(error)};
  if (error.category() == error_category)
    return {static_cast<node_errc>(error.code()), text_of(error)};
  if (error == caf::sec::request_timeout)
    return {node_errc::timed_out, "no answer came in time"};
  if (error == caf::sec::request_receiver_down || error == caf::exit_reason::remote_link_unreachable)
    return {node_errc::link_down, "the receiver of the request is gone: " + text_of(error)};
  return {node_errc::task_failed, text_of(error)};
}

std::string text_of(const caf::error& error) {
  if (!error)
    return "no error";
  if (error.category() == error_category && error.context().match_elements<std::string>())
    return error.context().get_as<std::string>(0);
  return caf::actor_system_config::render(error);
}

} // namespace troupe
