/* A lock of one's own: test and set in one step, or in two. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int taken;
static int inside;

static void lock(void) {
#ifdef BROKEN
    while (atomic_load(&taken)) sched_yield();
    atomic_store(&taken, 1);
#else
    while (atomic_exchange(&taken, 1)) sched_yield();
#endif
}

static void *enter(void *arg) {
    lock();
    inside++;
    assert(inside == 1); /* found here */
    inside--;
    atomic_store(&taken, 0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, enter, NULL);
    pthread_create(&b, NULL, enter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
