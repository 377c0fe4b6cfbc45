/* A lock that says when it is held already by the same thread. broken: panic */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int open_;

static void *opener(void *arg) {
    pthread_mutex_lock(&lock);
    open_ = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *user(void *arg) {
    pthread_mutex_lock(&lock);
    if (open_) {
        int again = pthread_mutex_lock(&lock);
#ifdef BROKEN
        assert(again == 0); /* found here */
#else
        assert(again == EDEADLK);
#endif
    }
    pthread_mutex_unlock(&lock);
    assert(pthread_mutex_unlock(&lock) == EPERM);
    return arg;
}

int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &kind);
    pthread_t a, b;
    pthread_create(&a, NULL, opener, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
