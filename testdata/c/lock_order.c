/* Two locks in two orders. broken: deadlock */
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *there(void *arg) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second); /* found here */
    moved++;
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return arg;
}

static void *back(void *arg) {
#ifdef BROKEN
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first); /* found here */
#else
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
#endif
    moved--;
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, there, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL); /* found here */
    pthread_join(b, NULL);
}
