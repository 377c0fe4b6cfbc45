/* A wait by the monotonic clock that may end without a signal. broken: panic */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int answer;

static void *slow(void *arg) {
    pthread_mutex_lock(&lock);
    answer = 0;
    pthread_mutex_unlock(&lock);
    sleep(3);
    pthread_mutex_lock(&lock);
    answer = 42;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, slow, NULL);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&lock);
    int late = 0;
    while (!answer && late == 0) late = pthread_cond_clockwait(&ready, &lock, CLOCK_MONOTONIC, &until);
#ifdef BROKEN
    assert(answer == 42); /* found here */
#else
    assert(answer == 42 || late == ETIMEDOUT);
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
}
