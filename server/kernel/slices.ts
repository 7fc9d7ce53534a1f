/** Work that stops after every few thousand steps (`yield`), so that it can be done in slices; it returns its result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Bytes, or as many steps, between two stops of work that goes through what others sent. */
export const STRIDE = 16 * 1024;
/** What goes through fewer bytes takes a few milliseconds at most. */
const SMALL = 64 * 1024;
export const SLICE_MS = 1;

/** Does all of it now: for what a bound on its size keeps short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

/** Does it now when it goes through few bytes, which takes less than waiting, and in slices otherwise. */
export const paced = <T>(steps: Steps<T>, bytes: number): T | Promise<T> => (bytes <= SMALL ? atOnce(steps) : inSlices(steps));

/** What `make` makes of each: now for a few, in slices for many. */
export const mapped = <A, B>(items: readonly A[], make: (item: A, i: number) => B): B[] | Promise<B[]> =>
  items.length <= FEW ? items.map(make) : inSlices(mapSteps(items, make));
const FEW = 64;

function* mapSteps<A, B>(items: readonly A[], make: (item: A, i: number) => B): Steps<B[]> {
  const made: B[] = [];
  for (const [i, item] of items.entries()) {
    made.push(make(item, i));
    if (i % AT_A_TIME === 0) yield;
  }
  return made;
}
/** A few hundredths of a millisecond each. */
const AT_A_TIME = 8;

/** Whether one of the texts, in Latin-1, stands in the bytes. One search of megabytes that begin like it at every place takes a tenth of a second. */
export function* holdsAny(bytes: Buffer, texts: readonly string[]): Steps<boolean> {
  const longest = Math.max(...texts.map((text) => text.length));
  for (let from = 0; from < bytes.length; from += SMALL) {
    if (from > 0) yield;
    const part = bytes.subarray(from, from + SMALL + longest - 1);
    if (texts.some((text) => part.includes(text, 0, 'latin1'))) return true;
  }
  return false;
}

/** The text in parts of a stride or a little more, each of which begins with `mark`: what holds no other mark behind its beginning stands in one of them. */
export function* partsAt(text: string, mark: string): Generator<{ from: number; part: string }> {
  for (let from = 0; from < text.length; ) {
    const next = text.length - from > STRIDE ? text.indexOf(mark, from + STRIDE) : -1;
    const to = next < 0 ? text.length : next;
    yield { from, part: text.slice(from, to) };
    from = to;
  }
}

type Sliced = { steps: Steps<unknown>; resolve: (value: never) => void; reject: (error: unknown) => void };
const line: Sliced[] = [];

/** Does it in slices of a millisecond. All such work of the process takes turns and has one slice a turn of the event loop together, however much of it there is. */
export function inSlices<T>(steps: Steps<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    line.push({ steps, resolve, reject });
    if (line.length === 1) setImmediate(takeTurn);
  });
}

/** Waits for a slice of that line, for loops which wait for other things, too. */
export const nextSlice = (): Promise<void> => inSlices(nothing());
function* nothing(): Steps<void> {}

function takeTurn(): void {
  const [one] = line as [Sliced];
  const until = performance.now() + SLICE_MS;
  let ended = false;
  try {
    do {
      const { done, value } = one.steps.next();
      if (done) one.resolve(value as never);
      ended = done === true;
    } while (!ended && performance.now() < until);
  } catch (error) {
    ended = true;
    one.reject(error);
  }
  line.shift();
  if (!ended) line.push(one);
  if (line.length > 0) setImmediate(takeTurn);
}
