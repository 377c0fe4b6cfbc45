/* Whoever checks an account after a deposit and a withdrawal expects the wrong balance. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 1, deposited, withdrawn;

static void *deposit(void *arg) {
    pthread_mutex_lock(&lock);
    balance += 2;
    deposited = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *withdraw(void *arg) {
    pthread_mutex_lock(&lock);
    balance -= 4;
    withdrawn = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *check(void *arg) {
    pthread_mutex_lock(&lock);
    if (deposited && withdrawn) assert(balance == 1 - 2 - 4);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, check, NULL);
    pthread_create(&threads[1], NULL, deposit, NULL);
    pthread_create(&threads[2], NULL, withdraw, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
