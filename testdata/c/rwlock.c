/* A writer that takes the lock for reading. broken: panic */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int low, high;

static void *write_both(void *arg) {
#ifdef BROKEN
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    low++;
    high++;
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *read_both(void *arg) {
    pthread_rwlock_rdlock(&lock);
    int a = low, b = high;
    pthread_rwlock_unlock(&lock);
    assert(a == b); /* found here */
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, write_both, NULL);
    pthread_create(&b, NULL, read_both, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
