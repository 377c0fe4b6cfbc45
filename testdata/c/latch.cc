// A latch that opens when all are there, or when the first is. broken: panic
#include <atomic>
#include <cassert>
#include <latch>
#include <semaphore>
#include <thread>

static std::atomic<int> ready{0};

int main() {
#ifdef BROKEN
    std::latch all(1);
#else
    std::latch all(2);
#endif
    std::counting_semaphore<2> finished(0);
    auto prepare = [&](bool counts) {
        ready++;
        if (counts) all.count_down();
        finished.release();
    };
#ifdef BROKEN
    std::jthread a(prepare, true), b(prepare, false);
#else
    std::jthread a(prepare, true), b(prepare, true);
#endif
    all.wait();
    assert(ready == 2);  // found here
    finished.acquire();
    finished.acquire();
}
