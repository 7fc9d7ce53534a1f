import { setImmediate } from 'node:timers/promises';
import { assertJsonShape } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { parseExactSteps } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { atOnce, inSlices, type Steps } from '#server/kernel/slices.ts';
import { isObject, withDoubles } from '../messages.ts';
import { type Reply, upstreamFault } from './reply.ts';

/** What one message of an upstream's may be made of; its size has a bound on the wire. */
export const MESSAGE_SHAPE = { levels: 100, values: 100_000, members: 50_000 };
/** Messages of an upstream's before the answer to one request. */
const MOST_MESSAGES = 10_000;
/** Longer ones have turns of the event loop of their own. */
const LONG = 64 * 1024;

const TOO_MUCH = upstreamFault(
  'result_too_large',
  `The MCP server sent a message with more than ${grouped(MESSAGE_SHAPE.values)} members and list entries, or nested deeper than ${MESSAGE_SHAPE.levels} levels.`,
);
const TOO_MANY = upstreamFault(
  'upstream_invalid_response',
  `The MCP server sent more than ${grouped(MOST_MESSAGES)} messages for one request.`,
);

export type MessageReader = {
  /** The next text. Each is read after those before it. */
  push(text: string): void;
  /** Every text so far was read. */
  done(): Promise<void>;
};

/** Reads messages of an upstream's in their order; what isn't JSON is left out. One that is more than a message may be, or comes after too many, is refused. */
export function messageReader(take: (value: unknown) => void, refuse: (why: Reply) => void): MessageReader {
  let count = 0;
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  return {
    push(text) {
      if (++count > MOST_MESSAGES) {
        if (count === MOST_MESSAGES + 1) refuse(TOO_MANY);
        return;
      }
      if (waiting === 0 && text.length <= LONG) {
        if (fits(text)) take(atOnce(parsing(text)));
        else refuse(TOO_MUCH);
        return;
      }
      waiting++;
      last = last.then(async () => {
        await setImmediate();
        const good = fits(text);
        await setImmediate();
        if (good) take(await inSlices(parsing(text)));
        else refuse(TOO_MUCH);
        await setImmediate();
        waiting--;
      });
    },
    done: () => last,
  };
}

function fits(text: string): boolean {
  try {
    assertJsonShape(text, MESSAGE_SHAPE);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** Undefined for what isn't JSON. What is passed on or sent back keeps the digits of its numbers; an error has doubles. */
function* parsing(text: string): Steps<unknown> {
  try {
    const value = yield* parseExactSteps(text);
    return isObject(value) ? withDoubles(value, 'result', 'id', 'params') : value;
  } catch {
    return undefined;
  }
}
