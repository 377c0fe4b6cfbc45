/* A lock taken twice by one thread, if another has been there first. broken: deadlock */
#include <pthread.h>

static pthread_mutex_t lock;
static int set;

static void *setter(void *arg) {
    pthread_mutex_lock(&lock);
    set = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reader(void *arg) {
    pthread_mutex_lock(&lock);
    if (set) {
        pthread_mutex_lock(&lock); /* found here */
        set = 0;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifndef BROKEN
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
#endif
    pthread_mutex_init(&lock, &kind);
    pthread_t a, b;
    pthread_create(&a, NULL, setter, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL); /* found here */
    pthread_mutex_destroy(&lock);
}
