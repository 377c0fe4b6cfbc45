/* A queue of which the owner takes the newest and a thief the oldest, and that forgets to look again at the last. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define ITEMS 4
#define MASK 7

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int head, tail;
static int slots[MASK + 1], taken[ITEMS];

static void push(int item) {
    int t = atomic_load(&tail);
    slots[t & MASK] = item;
    atomic_store(&tail, t + 1);
}

static int pop(void) {
    int t = atomic_load(&tail) - 1;
    /* The thief has to see this before the owner looks at the head; here it is stored too late. */
    int h = atomic_load(&head);
    if (h > t) return -1;
    atomic_store(&tail, t);
    return slots[t & MASK];
}

static int steal(void) {
    int item = -1;
    pthread_mutex_lock(&lock);
    int h = atomic_load(&head);
    atomic_store(&head, h + 1);
    if (h < atomic_load(&tail)) item = slots[h & MASK];
    else atomic_store(&head, h);
    pthread_mutex_unlock(&lock);
    return item;
}

static void take(int item) {
    if (item >= 0) assert(__atomic_add_fetch(&taken[item], 1, __ATOMIC_SEQ_CST) == 1);
}

static void *thief(void *arg) {
    for (int i = 0; i < 2; i++) take(steal());
    return arg;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, thief, NULL);
    for (int i = 0; i < ITEMS; i += 2) {
        push(i);
        push(i + 1);
        take(pop());
    }
    take(pop());
    take(pop());
    pthread_join(other, NULL);
}
