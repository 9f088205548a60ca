// The threads that answer HTTP connections, and a queue of the ones that wait: when it is full, accepting waits, and
// further clients stay with the kernel, which turns them away in the end.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ringside {

class ConnectionQueue : public httplib::TaskQueue {
 public:
  ConnectionQueue(std::size_t threads, std::size_t waiting);
  ~ConnectionQueue() override;

  /// Waits while the queue is full.
  void enqueue(std::function<void()> connection) override;
  /// Ends the threads, after what is queued: the server has been told to hang up on it.
  void shutdown() override;

 private:
  void work();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ringside
