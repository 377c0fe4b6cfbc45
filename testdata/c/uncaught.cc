// An exception that nobody catches. broken: crash
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex mutex;
static bool open_;

static void send() {
    std::lock_guard<std::mutex> guard(mutex);
    if (!open_)
        throw std::runtime_error("the channel is closed");  // found here
}

static void sender() {
#ifdef BROKEN
    send();
#else
    try {
        send();
    } catch (const std::runtime_error &) {
    }
#endif
}

int main() {
    std::thread opener([] {
        std::lock_guard<std::mutex> guard(mutex);
        open_ = true;
    });
    std::thread thread(sender);
    opener.join();
    thread.join();
}
