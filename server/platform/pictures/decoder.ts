import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type Answer, FAULTS } from './answer.ts';

/** A picture of the largest size takes two seconds on a slow machine. */
const LONGEST_MS = 10_000;
/** Kept for the next picture, since it takes a while to begin; most come in ones. */
const REST_MS = 30_000;
/** Pictures that are worked on or wait, 2 MB each. */
const MOST_WAITING = 16;
/** Of these, how many may be one person's: nobody keeps everybody else out. */
const MOST_OF_ONE = 2;
/** What a square of 256 x 256 can never need. */
const MOST_BYTES = 512 * 1024;

/** `resting` ends it when no picture comes any more. */
type Decoder = { child: ChildProcess; ready: Promise<boolean>; resting?: NodeJS.Timeout };
type State = {
  decoder?: Decoder | undefined;
  last: Promise<unknown>;
  /** The owner of each picture that is being decoded or waits. */
  waiting: string[];
  /** Settles the one decode that is running. */
  tell?: ((answer: Answer) => void) | undefined;
};
const state = processState('pictures', (): State => ({ last: Promise.resolve(), waiting: [] }));

/**
 * A PNG, JPEG or WebP as a square of 256 x 256 pixels in WebP, turned upright and without any metadata, or why not. Decoded in another process, one
 * picture at a time. `person` is who sent it. @throws Refusal rate_limited when as many of that person's wait as may, dependency_unavailable when too many
 * of all do, or when this machine has no decoder
 */
export async function squareOf(bytes: Uint8Array, person: string): Promise<Answer> {
  if (state.waiting.filter((one) => one === person).length >= MOST_OF_ONE)
    throw new Refusal('rate_limited', 'Your other pictures are still being processed. Nothing was saved. Try again.', { retryAfter: 5 });
  if (state.waiting.length >= MOST_WAITING)
    throw new Refusal('dependency_unavailable', 'Other pictures are still being processed. Nothing was saved. Try again.', {
      retryAfter: 5,
    });
  state.waiting.push(person);
  const turn = state.last.then(() => decode(bytes)).finally(() => state.waiting.splice(state.waiting.indexOf(person), 1));
  state.last = turn.catch(() => undefined);
  return turn;
}

async function decode(bytes: Uint8Array): Promise<Answer> {
  state.decoder ??= begin();
  const { decoder } = state;
  clearTimeout(decoder.resting);
  const { child, ready } = decoder;
  const answer = new Promise<Answer>((resolve) => {
    state.tell = resolve;
  });
  const timer = setTimeout(() => {
    end(child, 'SIGKILL');
    state.tell?.({ fault: 'slow' });
  }, LONGEST_MS);
  try {
    if (!(await ready))
      throw new Refusal('dependency_unavailable', "This installation can't process pictures: the image decoder doesn't start.");
    child.send(bytes, () => undefined); // one that has just ended says so by its end
    return await answer;
  } finally {
    state.tell = undefined;
    clearTimeout(timer);
    decoder.resting = setTimeout(() => end(child, 'SIGTERM'), REST_MS).unref();
  }
}

function begin(): Decoder {
  const main = path.join(process.cwd(), 'server/platform/pictures/decoder-main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: { NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const ready = new Promise<boolean>((resolve) => {
    child.once('message', () => resolve(true));
    child.once('error', () => resolve(false));
    child.once('exit', () => resolve(false));
  });
  // The last word of a process that was given up would be taken for the answer to the next person's picture.
  void ready.then(() =>
    child.on('message', (message) => {
      if (state.decoder?.child === child) state.tell?.(checked(message));
    }),
  );
  const ended = () => {
    if (state.decoder?.child !== child) return;
    state.decoder = undefined;
    state.tell?.({ fault: 'damaged' });
  };
  child.on('exit', ended);
  child.on('error', ended);
  // Neither it nor the way to it keeps this process alive.
  child.unref();
  child.channel?.unref();
  return { child, ready };
}

/** The process has read what anybody may send, so what it says is not believed either: this goes to other people's browsers as a WebP. */
function checked(message: unknown): Answer {
  const { webp, fault } = (message ?? {}) as { webp?: unknown; fault?: unknown };
  if (
    webp instanceof Uint8Array &&
    webp.byteLength <= MOST_BYTES &&
    /^RIFF.{4}WEBP/s.test(Buffer.from(webp.subarray(0, 12)).toString('latin1'))
  )
    return { webp };
  return { fault: FAULTS.find((one) => one === fault) ?? 'damaged' };
}

/** Forgotten before it is told to stop: the next picture gets another one. */
function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (state.decoder?.child === child) state.decoder = undefined;
  child.kill(signal);
}
