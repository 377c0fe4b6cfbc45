/* Threads that share a local variable of main. broken: panic */
#include <assert.h>
#include <pthread.h>

struct job {
    pthread_mutex_t lock;
    int done;
};

static void *work(void *arg) {
    struct job *job = arg;
#ifndef BROKEN
    pthread_mutex_lock(&job->lock);
#endif
    job->done++;
#ifndef BROKEN
    pthread_mutex_unlock(&job->lock);
#endif
    return NULL;
}

int main(void) {
    struct job job = {PTHREAD_MUTEX_INITIALIZER, 0};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &job);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(job.done == 2); /* found here */
}
