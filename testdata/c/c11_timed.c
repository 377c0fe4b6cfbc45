/* C11's lock with a limit, and its sleep. broken: panic */
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t lock;
static int busy;

static int keep(void *arg) {
    mtx_lock(&lock);
    busy = 1;
    thrd_sleep(&(struct timespec){.tv_sec = 5}, NULL);
    busy = 0;
    mtx_unlock(&lock);
    return arg != NULL;
}

static int hasty(void *arg) {
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec++;
    int got = mtx_timedlock(&lock, &until);
#ifndef BROKEN
    if (got == thrd_timedout) return 0;
#endif
    assert(!busy); /* found here */
    if (got == thrd_success) mtx_unlock(&lock);
    return arg != NULL;
}

int main(void) {
    thrd_t a, b;
    mtx_init(&lock, mtx_timed | mtx_recursive);
    thrd_create(&a, keep, NULL);
    thrd_create(&b, hasty, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
}
