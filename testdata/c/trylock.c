/* An answer of trylock that nobody looks at. broken: panic */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void *visit(void *arg) {
    int got = pthread_mutex_trylock(&lock);
#ifndef BROKEN
    if (got != 0) return arg;
#endif
    int others = inside;
    inside = others + 1;
    assert(inside == 1); /* found here */
    inside--;
    if (got == 0) pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, visit, NULL);
    pthread_create(&b, NULL, visit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
