/* A semaphore posted once for two waits, unless the work came first. broken: deadlock */
#include <pthread.h>
#include <semaphore.h>

static sem_t work;
static _Atomic int queued;

static void *push(void *arg) {
#ifdef BROKEN
    if (queued++ == 0) sem_post(&work);
#else
    queued++;
    sem_post(&work);
#endif
    return arg;
}

static void *pop(void *arg) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&work); /* found here */
        queued--;
    }
    return arg;
}

int main(void) {
    pthread_t a, b, c;
    sem_init(&work, 0, 0);
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, push, NULL);
    pthread_create(&c, NULL, pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL); /* found here */
}
