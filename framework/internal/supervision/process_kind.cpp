#include <troupe/framework/internal/supervision/process_kind.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/supervision/process_run.hpp>
#include <troupe/framework/internal/workers/worker_start.hpp>
#include <troupe/framework/system_config.hpp>

namespace troupe::internal {

namespace {

class worker_kind final : public child_kind {
public:
  worker_kind(const std::shared_ptr<node_core>& node, worker_options options, hosted_actor hosts)
      : node_(node), options_(std::move(options)), hosts_(std::move(hosts)) {}

  std::shared_ptr<child_run> start(caf::event_based_actor& supervisor, const std::string& name,
                                   std::chrono::milliseconds within, news_sink news) const override {
    auto run = std::make_shared<process_run>(supervisor, hosts_, within, std::move(news));
    auto options = options_;
    options.name = name;
    options.start_timeout = std::min(options.start_timeout, within);
    if (const auto node = node_.lock())
      run->begin(node, std::move(options));
    else
      run->fail({node_errc::link_down, "the node has ended"});
    return run;
  }

  std::string_view name() const override { return "process"; }

  /// The worker is killed after its own time. Its end may take a moment more.
  std::chrono::milliseconds stop_within() const override { return options_.stop_timeout + std::chrono::seconds(1); }

private:
  const std::weak_ptr<node_core> node_;
  const worker_options options_;
  const hosted_actor hosts_;
};

} // namespace

std::expected<std::shared_ptr<const child_kind>, node_error> process_kind(const std::shared_ptr<node_core>& node,
                                                                          worker_options options, hosted_actor hosts) {
  if (auto good = check_worker(options); !good)
    return std::unexpected{std::move(good).error()};
  if (const auto* config = config_of(node->system()); config != nullptr) {
    auto complete = config->link_options_for(options.name, node->families(), options.link);
    if (!complete)
      return std::unexpected{std::move(complete).error()};
    options.link = *std::move(complete);
  }
  return std::make_shared<const worker_kind>(node, std::move(options), std::move(hosts));
}

} // namespace troupe::internal
