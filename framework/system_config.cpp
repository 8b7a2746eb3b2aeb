#include <troupe/framework/system_config.hpp>

#include <troupe/framework/internal/caf_port/caf_threads.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

system_config::system_config() {
  set("scheduler.policy", caf::atom("sharing"));
  internal::add_system_module(*this);
  internal::mark_threads(*this);
  add_error_category(error_category, [](std::uint8_t code, caf::atom_value, const caf::message& context) {
    auto text = to_string(static_cast<node_errc>(code));
    if (context.match_elements<std::string>())
      text += ": " + context.get_as<std::string>(0);
    return text;
  });
}

} // namespace troupe
