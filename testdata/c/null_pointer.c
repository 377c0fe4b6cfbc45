/* A pointer that is checked and then used. broken: crash */
#include <pthread.h>
#include <stdlib.h>

struct session {
    int id, requests;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *volatile current;

static void *serve(void *arg) {
#ifndef BROKEN
    pthread_mutex_lock(&lock);
#endif
    if (current != NULL) {
        current->requests++; /* found here */
    }
#ifndef BROKEN
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *hang_up(void *arg) {
    pthread_mutex_lock(&lock);
    current = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    struct session *session = calloc(1, sizeof *session);
    current = session;
    pthread_t a, b;
    pthread_create(&a, NULL, serve, NULL);
    pthread_create(&b, NULL, hang_up, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(session);
}
