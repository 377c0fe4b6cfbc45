/* An atomic read and an atomic write are not an atomic addition. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct stats {
    long requests;
    atomic_long bytes;
};
static struct stats stats;

static void *serve(void *arg) {
#ifdef BROKEN
    long now = atomic_load(&stats.bytes);
    atomic_store(&stats.bytes, now + 100);
#else
    atomic_fetch_add(&stats.bytes, 100);
#endif
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, serve, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(atomic_load(&stats.bytes) == 200); /* found here */
}
