// std::call_once, and a static local variable, or a flag of one's own. broken: panic
#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag once;
static int made;
static bool flag;

static int number() {
    static int value = [] { return 4; }();
    return value;
}

static void ensure() {
#ifdef BROKEN
    if (!flag) {
        flag = true;
        made++;
    }
#else
    std::call_once(once, [] { made++; });
    (void)flag;
#endif
    assert(number() == 4);
}

int main() {
    std::thread a(ensure), b(ensure);
    a.join();
    b.join();
    assert(made == 1);  // found here
}
