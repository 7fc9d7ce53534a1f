/** A value, or a promise of it where something has to be waited for. */
export type Waits<T> = T | Promise<T>;
/** Steps of which some may have to be waited for. */
export type Steps<T> = Generator<Promise<unknown>, T, never>;

/** Within steps: the value, once it is there. */
export function* ready<T>(value: Waits<T>): Generator<Promise<unknown>, T, never> {
  return value instanceof Promise ? yield value : value;
}

/** Takes the steps: at once as far as none waits, so that a stream that no thread looks at pays nothing. */
export function taken<T>(steps: Steps<T>): Waits<T> {
  const next = steps.next();
  return next.done ? next.value : takeRest(steps, next.value);
}

async function takeRest<T>(steps: Steps<T>, first: Promise<unknown>): Promise<T> {
  for (let waiting = first; ; ) {
    let next: IteratorResult<Promise<unknown>, T>;
    try {
      next = steps.next((await waiting) as never);
    } catch (error) {
      next = steps.throw(error);
    }
    if (next.done) return next.value;
    waiting = next.value;
  }
}
