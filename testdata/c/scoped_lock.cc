// Two locks at once, or one after the other. broken: deadlock
#include <mutex>
#include <thread>

struct Pool {
    std::mutex mutex;
    int size = 10;
};
static Pool left, right;

static void move(Pool &from, Pool &to, int n) {
#ifdef BROKEN
    std::lock_guard<std::mutex> a(from.mutex);
    std::lock_guard<std::mutex> b(to.mutex);  // found here
#else
    std::scoped_lock both(from.mutex, to.mutex);
#endif
    from.size -= n;
    to.size += n;
}

int main() {
    std::thread a([] { move(left, right, 1); });
    std::thread b([] { move(right, left, 2); });
    a.join();  // found here
    b.join();
}
