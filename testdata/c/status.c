/* A program that says by its exit status that something was lost. broken: panic */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *arg) {
#ifndef BROKEN
    pthread_mutex_lock(&lock);
#endif
    int now = sum;
    sum = now + 21;
#ifndef BROKEN
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    (void)lock;
    fprintf(stderr, "the sum is %d\n", sum);
    if (sum != 42) exit(3); /* found here */
    return 0;
}
