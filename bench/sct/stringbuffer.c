/* A buffer gets shorter between the look at its length and the copy. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t lock;
    int count;
    char value[32];
};
static struct buffer source = {PTHREAD_MUTEX_INITIALIZER, 3, "abc"}, target = {PTHREAD_MUTEX_INITIALIZER, 0, ""};

static int length(struct buffer *b) {
    pthread_mutex_lock(&b->lock);
    int count = b->count;
    pthread_mutex_unlock(&b->lock);
    return count;
}

static void copy(struct buffer *b, int end, char *to) {
    pthread_mutex_lock(&b->lock);
    assert(end <= b->count);
    memcpy(to, b->value, end);
    pthread_mutex_unlock(&b->lock);
}

static void append(struct buffer *b, struct buffer *other) {
    pthread_mutex_lock(&b->lock);
    int more = length(other);
    copy(other, more, b->value + b->count);
    b->count += more;
    pthread_mutex_unlock(&b->lock);
}

static void *erase(void *arg) {
    pthread_mutex_lock(&source.lock);
    source.count = 0;
    pthread_mutex_unlock(&source.lock);
    return arg;
}

int main(void) {
    pthread_t eraser;
    pthread_create(&eraser, NULL, erase, NULL);
    append(&target, &source);
    pthread_join(eraser, NULL);
}
