/* The threads of C11: a lost signal. broken: deadlock */
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t mine;
static _Atomic int stage;

static void begin(void) { tss_create(&mine, NULL); }

static int next(void *arg) {
    call_once(&once, begin);
    tss_set(mine, arg);
#ifndef BROKEN
    mtx_lock(&lock);
#endif
    stage = 1;
    cnd_signal(&changed);
#ifndef BROKEN
    mtx_unlock(&lock);
#endif
    assert(tss_get(mine) == arg);
    return 3;
}

int main(void) {
    thrd_t thread;
    int result;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&thread, next, &result);
    call_once(&once, begin);
    mtx_lock(&lock);
    while (stage != 1)
        cnd_wait(&changed, &lock); /* found here */
    mtx_unlock(&lock);
    thrd_join(thread, &result);
    assert(result == 3);
    mtx_destroy(&lock);
    cnd_destroy(&changed);
}
