// A maximum kept by compare-exchange, or by a look and a store. broken: panic
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> highest{0};

static void offer(int value) {
#ifdef BROKEN
    if (highest.load() < value) highest.store(value);
#else
    int now = highest.load();
    while (now < value && !highest.compare_exchange_weak(now, value)) {
    }
#endif
}

int main() {
    std::thread a(offer, 5), b(offer, 9);
    a.join();
    b.join();
    assert(highest == 9);  // found here
}
