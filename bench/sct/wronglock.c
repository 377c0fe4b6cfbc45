/* One thread guards a value with one lock, N others with another. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 7
#endif

static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER, other_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int value;

static void *with_its_lock(void *arg) {
    pthread_mutex_lock(&data_lock);
    int before = value;
    value++;
    assert(value == before + 1);
    pthread_mutex_unlock(&data_lock);
    return arg;
}

static void *with_another(void *arg) {
    pthread_mutex_lock(&other_lock);
    value++;
    pthread_mutex_unlock(&other_lock);
    return arg;
}

int main(void) {
    pthread_t threads[N + 1];
    for (int i = 0; i <= N; i++) pthread_create(&threads[i], NULL, i == 0 ? with_its_lock : with_another, NULL);
    for (int i = 0; i <= N; i++) pthread_join(threads[i], NULL);
}
