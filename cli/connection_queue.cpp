#include "cli/connection_queue.hpp"

#include <utility>

namespace ringside {

ConnectionQueue::ConnectionQueue(std::size_t threads, std::size_t waiting) : most_waiting_(waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

ConnectionQueue::~ConnectionQueue() {
  shutdown();
}

void ConnectionQueue::enqueue(std::function<void()> connection) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < most_waiting_ || closed_; });
  waiting_.push_back(std::move(connection));
  changed_.notify_all();
}

void ConnectionQueue::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ConnectionQueue::work() {
  for (;;) {
    std::function<void()> connection;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !waiting_.empty() || closed_; });
      if (waiting_.empty()) return;
      connection = std::move(waiting_.front());
      waiting_.pop_front();
    }
    changed_.notify_all();
    connection();
  }
}

}  // namespace ringside
