/* A thread may end the program, and main may end before its threads. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int parts;

static void *finish(void *arg) {
    pthread_mutex_lock(&lock);
    int last = ++parts == 2;
    pthread_mutex_unlock(&lock);
#ifdef BROKEN
    assert(parts == 2 || !last);
    assert(last); /* found here */
#endif
    if (last) exit(0);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, finish, NULL);
    pthread_create(&b, NULL, finish, NULL);
    pthread_exit(NULL);
}
