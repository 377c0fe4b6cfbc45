/* A signal that comes between the look and the wait. broken: deadlock */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static _Atomic int finished;

static void *work(void *arg) {
#ifndef BROKEN
    pthread_mutex_lock(&lock);
#endif
    finished = 1;
    pthread_cond_signal(&done);
#ifndef BROKEN
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    while (!finished)
        pthread_cond_wait(&done, &lock); /* found here */
    pthread_mutex_unlock(&lock);
    pthread_join(worker, NULL);
}
