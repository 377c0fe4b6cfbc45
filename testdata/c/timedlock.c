/* A lock that is not had in time. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int busy;

static void *keeper(void *arg) {
    pthread_mutex_lock(&lock);
    busy = 1;
    sleep(5);
    busy = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *hasty(void *arg) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    int late = pthread_mutex_timedlock(&lock, &until);
#ifndef BROKEN
    if (late) return arg;
#endif
    assert(!busy); /* found here */
    if (!late) pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, keeper, NULL);
    pthread_create(&b, NULL, hasty, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
