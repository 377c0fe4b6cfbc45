// std::thread and std::mutex. broken: panic
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

namespace bank {
class Account {
  public:
    void deposit(int amount) {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(mutex_);
#endif
        balance_ += amount;
    }
    int balance() const { return balance_; }

  private:
    mutable std::mutex mutex_;
    int balance_ = 0;
};
Account account;
}  // namespace bank

int main() {
    std::vector<std::thread> threads;
    for (int i = 1; i <= 2; i++) threads.emplace_back([i] { bank::account.deposit(i); });
    for (auto &thread : threads) thread.join();
    assert(bank::account.balance() == 3);  // found here
}
