/* A semaphore that lets one in, or two. broken: panic */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t room;
static int guests;

static void *visit(void *arg) {
    sem_wait(&room);
    int now = ++guests;
    assert(now == 1); /* found here */
    guests--;
    sem_post(&room);
    return arg;
}

int main(void) {
#ifdef BROKEN
    sem_init(&room, 0, 2);
#else
    sem_init(&room, 0, 1);
#endif
    pthread_t a, b;
    pthread_create(&a, NULL, visit, NULL);
    pthread_create(&b, NULL, visit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    sem_destroy(&room);
}
