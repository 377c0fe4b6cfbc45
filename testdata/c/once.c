/* Something made once, or twice. broken: panic */
#include <assert.h>
#include <pthread.h>

static int made;
static void make(void) { made++; }

#ifdef BROKEN
static _Atomic int is_made;
static void ensure(void) {
    if (!is_made) {
        make();
        is_made = 1;
    }
}
#else
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void ensure(void) { pthread_once(&once, make); }
#endif

static void *use(void *arg) {
    ensure();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(made == 1); /* found here */
}
