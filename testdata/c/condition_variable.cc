// A queue whose end is announced under the lock, or beside it. broken: deadlock
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

class Queue {
  public:
    void push(int item) {
        std::lock_guard<std::mutex> guard(mutex_);
        items_.push(item);
        changed_.notify_one();
    }
    void close() {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        closed_ = true;
        changed_.notify_all();
    }
    bool pop(int &item) {
        std::unique_lock<std::mutex> guard(mutex_);
        while (items_.empty() && !closed_)
            changed_.wait(guard);  // found here
        if (items_.empty()) return false;
        item = items_.front();
        items_.pop();
        return true;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::queue<int> items_;
    std::atomic<bool> closed_{false};
};

int main() {
    Queue queue;
    int sum = 0;
    std::thread consumer([&] {
        for (int item; queue.pop(item);) sum += item;
    });
    queue.push(20);
    queue.push(22);
    queue.close();
    consumer.join();  // found here
    assert(sum == 42);
}
