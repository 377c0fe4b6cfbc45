/* What the other side writes is read after the barrier, or before. broken: panic */
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t both;
static int slots[2], seen[2];

static void *side(void *arg) {
    int me = *(int *)arg;
    slots[me] = 1;
#ifdef BROKEN
    seen[me] = slots[1 - me];
    pthread_barrier_wait(&both);
#else
    pthread_barrier_wait(&both);
    seen[me] = slots[1 - me];
#endif
    assert(seen[me] == 1); /* found here */
    return NULL;
}

int main(void) {
    int sides[2] = {0, 1};
    pthread_t threads[2];
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, side, &sides[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&both);
}
