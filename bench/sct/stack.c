/* A flag says that there is something on the stack, and nobody takes it back. */
#include <assert.h>
#include <pthread.h>

#define SIZE 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stack[SIZE], top, filled;

static void *push(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        stack[top++] = i;
        filled = 1;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *pop(void *arg) {
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock);
        if (filled) {
            assert(top > 0);
            top--;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
