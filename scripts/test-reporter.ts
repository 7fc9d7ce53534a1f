import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import type { FromWorker } from './test-pool.ts';

/** Sends the results of a test process to the one that started it, which prints and counts them. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const thrown: unknown[] = [];
  for (const happening of ['uncaughtException', 'unhandledRejection']) process.on(happening, (error) => thrown.push(error));
  for await (const event of events) {
    if (event.type === 'test:diagnostic' && LATE.test(event.data.message)) process.send?.(late(event.data.message, thrown));
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { name, nesting, file, line, details, skip, todo } = event.data;
    const skipped = skip !== undefined || todo !== undefined;
    const failure = event.type === 'test:fail' && !skipped ? reason(event.data.details.error) : undefined;
    process.send?.({
      type: 'result',
      name,
      nesting,
      where: file ? `${file}:${line ?? 1}` : '',
      suite: details.type === 'suite',
      ms: details.duration_ms,
      skipped,
      failure,
    } satisfies FromWorker);
    yield '';
  }
}

/** What was thrown after its test had ended: the runner tells so when all files are over, with the name of that test if it knows it. */
const LATE = /asynchronous activity after the test ended/;

function late(message: string, thrown: readonly unknown[]): FromWorker {
  const stacks = thrown.filter((error) => message.includes(String(error))).map((error) => inspect(error, { depth: 6 }));
  return {
    type: 'result',
    name: 'nothing happens after the tests',
    nesting: 1,
    where: / at (\S+:\d+):\d+ generated/.exec(message)?.[1] ?? '',
    suite: false,
    ms: 0,
    skipped: false,
    failure: [message, ...new Set(stacks)].join('\n'),
  };
}

/** The runner wraps what was thrown; the cause is what a reader wants. */
function reason(error: Error & { cause?: unknown }): string {
  const cause = error.cause ?? error;
  return cause instanceof Error && cause.stack && 'generatedMessage' in cause ? cause.stack : inspect(cause, { depth: 6 });
}
