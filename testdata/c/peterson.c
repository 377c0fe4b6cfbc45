/* Peterson's lock, and the same with the turn given away too early. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int inside;

static void *enter(void *arg) {
    int me = *(int *)arg;
#ifdef BROKEN
    atomic_store(&turn, 1 - me);
    atomic_store(&wants[me], 1);
#else
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
#endif
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me) sched_yield();
    inside++;
    assert(inside == 1); /* found here */
    inside--;
    atomic_store(&wants[me], 0);
    return NULL;
}

int main(void) {
    int ids[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, enter, &ids[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
