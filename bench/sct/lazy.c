/* A sum that is too large once both others have added. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *add(void *amount) {
    pthread_mutex_lock(&lock);
    data += *(int *)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *check(void *arg) {
    pthread_mutex_lock(&lock);
    assert(data < 3);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    int one = 1, two = 2;
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, add, &one);
    pthread_create(&threads[1], NULL, add, &two);
    pthread_create(&threads[2], NULL, check, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
