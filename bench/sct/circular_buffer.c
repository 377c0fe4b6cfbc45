/* A receiver counts its rounds where it should count what it received. */
#include <assert.h>
#include <pthread.h>

#define SIZE 8
#define ROUNDS 7

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int buffer[SIZE], first, next, may_send = 1, may_receive;

static void *send(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        if (may_send) {
            buffer[next++ % SIZE] = i;
            may_send = 0;
            may_receive = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *receive(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        if (may_receive) {
            assert(buffer[first++ % SIZE] == i);
            may_receive = 0;
            may_send = 1;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, send, NULL);
    pthread_create(&b, NULL, receive, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
