/** Settles as the promise does, or rejects with what `late` makes once the time is over; the promise may then do as it likes. */
export async function within<T>(milliseconds: number, promise: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  promise.catch(() => undefined);
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(late()), milliseconds);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds that are left of a time that began when this was made; at least one. */
export function countdown(milliseconds: number): () => number {
  const until = performance.now() + milliseconds;
  return () => Math.max(1, until - performance.now());
}
