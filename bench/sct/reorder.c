/* N - 1 threads set two variables one after the other; one more sees them in between. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif

static int a, b;

static void *set(void *arg) {
    a = 1;
    b = -1;
    return arg;
}

static void *check(void *arg) {
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    return arg;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], NULL, i < N - 1 ? set : check, NULL);
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
}
