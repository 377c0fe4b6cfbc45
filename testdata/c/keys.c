/* A buffer of each thread's own, or one of all. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static _Atomic int freed;
#ifdef BROKEN
static int shared;
#endif

static void give_back(void *value) {
    free(value);
    freed++;
}

static int *own(void) {
    int *value = pthread_getspecific(key);
    if (!value) {
        value = malloc(sizeof *value);
        pthread_setspecific(key, value);
    }
#ifdef BROKEN
    return &shared;
#else
    return value;
#endif
}

static void *use(void *arg) {
    int me = *(int *)arg;
    *own() = me;
    assert(*own() == me); /* found here */
    return NULL;
}

int main(void) {
    int ids[2] = {1, 2};
    pthread_t threads[2];
    pthread_key_create(&key, give_back);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, use, &ids[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(freed == 2);
}
