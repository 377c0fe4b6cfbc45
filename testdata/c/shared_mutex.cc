// A cache filled under a lock for readers. broken: panic
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex mutex;
static int cached, fills;

static int get() {
    {
        std::shared_lock<std::shared_mutex> reading(mutex);
        if (cached) return cached;
#ifdef BROKEN
        fills++;
        cached = 7;
        return cached;
#endif
    }
    std::unique_lock<std::shared_mutex> writing(mutex);
    if (!cached) {
        fills++;
        cached = 7;
    }
    return cached;
}

int main() {
    std::thread a(get), b(get);
    a.join();
    b.join();
    assert(fills == 1);  // found here
}
