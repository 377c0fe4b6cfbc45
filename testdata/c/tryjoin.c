/* A thread that may not have ended when it is asked after. broken: panic */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int result;

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    result = 7;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    int running = pthread_tryjoin_np(worker, NULL);
#ifdef BROKEN
    assert(result == 7); /* found here */
#endif
    if (running) pthread_join(worker, NULL);
    assert(result == 7); /* found here */
}
