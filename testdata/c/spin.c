/* A spin lock around one of two sections. broken: panic */
#include <assert.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int balance = 10;

static void *add(void *arg) {
    pthread_spin_lock(&lock);
    balance += 5;
    pthread_spin_unlock(&lock);
    return arg;
}

static void *take(void *arg) {
#ifndef BROKEN
    pthread_spin_lock(&lock);
#endif
    balance -= 3;
#ifndef BROKEN
    pthread_spin_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, take, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(balance == 12); /* found here */
    pthread_spin_destroy(&lock);
}
