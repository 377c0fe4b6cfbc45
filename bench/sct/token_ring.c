/* Three threads hand a number on; another one sees that they did not do so in order. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x1 = 1, x2 = 2, x3 = 1, done;

#define STEP(name, effect)                                                                                   \
    static void *name(void *arg) {                                                                           \
        pthread_mutex_lock(&lock);                                                                           \
        effect;                                                                                              \
        done++;                                                                                              \
        pthread_mutex_unlock(&lock);                                                                         \
        return arg;                                                                                          \
    }

STEP(first, x1 = (x3 + 1) % 4)
STEP(second, x2 = x1)
STEP(third, x3 = x2)

static void *check(void *arg) {
    pthread_mutex_lock(&lock);
    assert(done < 3 || (x1 == x2 && x2 == x3));
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    void *(*all[])(void *) = {first, second, third, check};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, all[i], NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}
