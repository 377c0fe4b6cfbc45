/* The last of two owners frees, or both do. broken: use-after-free */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int owners;
    int data;
};

static void *drop(void *arg) {
    struct shared *shared = arg;
#ifdef BROKEN
    int left = atomic_load(&shared->owners) - 1;
    atomic_store(&shared->owners, left);
#else
    int left = atomic_fetch_sub(&shared->owners, 1) - 1;
#endif
    if (left == 0) free(shared); /* found here */
    return NULL;
}

static void *lose(void *arg) {
#ifdef BROKEN
    /* Says that it is the only owner, which it is not. */
    struct shared *shared = arg;
    if (atomic_load(&shared->owners) == 2) atomic_store(&shared->owners, 1);
#endif
    return drop(arg);
}

int main(void) {
    struct shared *shared = malloc(sizeof *shared);
    atomic_init(&shared->owners, 2);
    pthread_t a, b;
    pthread_create(&a, NULL, drop, shared);
    pthread_create(&b, NULL, lose, shared);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
