/* A program that ends itself when it sees half of a change. broken: crash */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int width = 1, height = 1;

static void *grow(void *arg) {
#ifndef BROKEN
    pthread_mutex_lock(&lock);
#endif
    width = 2;
    height = 2;
#ifndef BROKEN
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, grow, NULL);
    pthread_mutex_lock(&lock);
    if (width != height) {
        printf("width %d, height %d", width, height);
        abort(); /* found here */
    }
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
}
