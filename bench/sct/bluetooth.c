/* A driver is stopped between a request's look at the flag and its count. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int stopping, stopped;
static atomic_int pending = 1;
static _Atomic int event;

static void done(void) {
    if (atomic_fetch_sub(&pending, 1) == 1) event = 1;
}

static int begin(void) {
    if (stopping) return -1;
    atomic_fetch_add(&pending, 1);
    return 0;
}

static void *stop(void *arg) {
    stopping = 1;
    done();
    if (event) stopped = 1;
    return arg;
}

int main(void) {
    pthread_t stopper;
    pthread_create(&stopper, NULL, stop, NULL);
    if (begin() == 0) {
        assert(!stopped);
        done();
    }
    pthread_join(stopper, NULL);
}
