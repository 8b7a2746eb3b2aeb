#include <troupe/framework/cluster/internal/entities/state_saver.hpp>

#include <exception>
#include <utility>
#include <vector>

namespace troupe::membership {

namespace {

constexpr std::chrono::seconds save_pause{1};

} // namespace

void state_saver::save(const std::string& key, std::string state) {
  {
    const std::lock_guard guard{mutex_};
    auto& of = all_[key];
    of.newest = std::move(state);
    if (of.is_saving || clock::now() < of.next)
      return;
    of.is_saving = true;
  }
  begin(key);
}

bool state_saver::has(const std::string& key) const {
  const std::lock_guard guard{mutex_};
  return all_.contains(key);
}

bool state_saver::end(const std::string& key) {
  const std::lock_guard guard{mutex_};
  const auto found = all_.find(key);
  if (found == all_.end())
    return false;
  found->second.has_ended = true;
  return true;
}

void state_saver::lose() {
  const std::lock_guard guard{mutex_};
  is_lost_ = true;
}

void state_saver::retry(clock::time_point now) {
  std::vector<std::string> due;
  {
    const std::lock_guard guard{mutex_};
    for (auto& [key, of] : all_)
      if (!of.is_saving && now >= of.next) {
        of.is_saving = true;
        due.push_back(key);
      }
  }
  for (const auto& key : due)
    begin(key);
}

void state_saver::begin(const std::string& key) {
  of_.run([this, key] { run(key); });
}

/// On a thread that may block. Saves the newest state until there is none.
void state_saver::run(const std::string& key) {
  for (;;) {
    std::string state;
    {
      std::unique_lock guard{mutex_};
      auto& of = all_.at(key); // It stays while it is being saved.
      if (!of.newest) {
        all_.erase(key);
        guard.unlock();
        return of_.on_done(key);
      }
      state = *std::exchange(of.newest, std::nullopt);
    }
    std::expected<void, std::string> saved;
    try {
      saved = of_.save(key, state);
    } catch (const std::exception& thrown) {
      saved = std::unexpected{std::string{"the function threw: "} + thrown.what()};
    } catch (...) {
      saved = std::unexpected{std::string{"the function threw an object that is not a std::exception"}};
    }
    of_.problem(saved ? std::string{} : key + ": its state could not be saved: " + saved.error());
    std::unique_lock guard{mutex_};
    auto& of = all_.at(key);
    if (saved) {
      of.failing_since = {};
      continue;
    }
    const auto now = clock::now();
    if (of.failing_since == clock::time_point{})
      of.failing_since = now;
    if (of.has_ended && (is_lost_ || now - of.failing_since >= of_.patience)) {
      all_.erase(key);
      guard.unlock();
      of_.problem(key + ": its last state is lost: " + saved.error());
      return of_.on_done(key);
    }
    if (!of.newest)
      of.newest = std::move(state);
    of.is_saving = false;
    of.next = now + save_pause; // retry() tries again.
    return;
  }
}

} // namespace troupe::membership
