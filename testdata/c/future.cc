// A promise kept before all of the work is done. broken: panic
#include <cassert>
#include <future>
#include <thread>

struct Result {
    int value = 0, checksum = 0;
};

static Result result;

int main() {
    std::promise<void> done;
    std::future<void> ready = done.get_future();
    std::thread worker([&] {
        result.value = 6;
#ifdef BROKEN
        done.set_value();
        result.checksum = 6;
#else
        result.checksum = 6;
        done.set_value();
#endif
    });
    ready.wait();
    int value = result.value, checksum = result.checksum;
    worker.join();
    assert(value == checksum);  // found here
    assert(std::async(std::launch::async, [] { return 1; }).get() == 1);
}
