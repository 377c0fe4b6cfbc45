/* Two threads count without a lock. broken: panic */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void *count(void *arg) {
#ifndef BROKEN
    pthread_mutex_lock(&lock);
#endif
    hits++;
#ifndef BROKEN
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    (void)lock;
    assert(hits == 2); /* found here */
}
