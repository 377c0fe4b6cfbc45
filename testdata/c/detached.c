/* A detached thread that outlives what it uses. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t done;
static int *slot;

static void *store(void *arg) {
    *slot = 5;
    sem_post(&done);
    return arg;
}

int main(void) {
    static int result;
    pthread_attr_t attributes;
    pthread_t thread;
    slot = &result;
    sem_init(&done, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, store, NULL);
#ifndef BROKEN
    sem_wait(&done);
#endif
    assert(result == 5); /* found here */
}
