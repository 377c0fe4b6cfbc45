/* Two consumers and one item at a time: who is woken has to look again. broken: panic */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consume(void *arg) {
    pthread_mutex_lock(&lock);
#ifdef BROKEN
    if (items == 0) pthread_cond_wait(&filled, &lock);
#else
    while (items == 0) pthread_cond_wait(&filled, &lock);
#endif
    items--;
    assert(items >= 0); /* found here */
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *produce(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, consume, NULL);
    pthread_create(&threads[1], NULL, consume, NULL);
    pthread_create(&threads[2], NULL, produce, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}
