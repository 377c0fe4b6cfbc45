/* The first of a kind takes a lock for all of them while it has the lock of their count. */
#include <pthread.h>

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER, work_lock = PTHREAD_MUTEX_INITIALIZER;
static int readers, writers;

static void enter(int *kind) {
    pthread_mutex_lock(&count_lock);
    if (++*kind == 1) pthread_mutex_lock(&work_lock);
    pthread_mutex_unlock(&count_lock);
}

static void leave(int *kind) {
    pthread_mutex_lock(&count_lock);
    if (--*kind == 0) pthread_mutex_unlock(&work_lock);
    pthread_mutex_unlock(&count_lock);
}

static void *visit(void *kind) {
    enter(kind);
    leave(kind);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, visit, &readers);
    pthread_create(&b, NULL, visit, &writers);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
