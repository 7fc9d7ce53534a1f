import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import type { FromWorker } from './test-pool.ts';

/** Sends the results of a test process to the one that started it, which prints and counts them. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
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

/** The runner wraps what was thrown; the cause is what a reader wants. */
function reason(error: Error & { cause?: unknown }): string {
  const cause = error.cause ?? error;
  return cause instanceof Error && cause.stack && 'generatedMessage' in cause ? cause.stack : inspect(cause, { depth: 6 });
}
