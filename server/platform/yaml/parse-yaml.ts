import { once } from 'node:events';
import path from 'node:path';
import { processState } from '#server/kernel/process-state.ts';

/** A text that takes longer to read than any honest one. */
export class YamlTooSlow extends Error {
  override readonly name = 'YamlTooSlow';
}
/** Too many texts are waiting to be read. */
export class YamlBusy extends Error {
  override readonly name = 'YamlBusy';
}

// The bundler must see neither the class nor the path: it would bundle the thread too, and that does not start. It runs from its source.
const { Worker } = process.getBuiltinModule('node:worker_threads');
const THREAD = path.resolve('server/platform/yaml/thread.ts');
const MOST_WAITING = 20;
const MEGABYTES = 128;

const line = processState('yaml', () => ({ last: Promise.resolve() as Promise<unknown>, waiting: 0 }));

/**
 * Reads a stranger's YAML on a thread of its own, one text at a time: it can take time and memory out of all proportion to its length (keys that are structures,
 * brackets that never close). `ms` includes the start of the thread. @throws Error when it is no YAML, YamlTooSlow, YamlBusy
 */
export function parseYaml(text: string, ms = 3_000): Promise<unknown> {
  if (line.waiting >= MOST_WAITING) return Promise.reject(new YamlBusy('too many documents are waiting to be parsed'));
  line.waiting++;
  const parsed = line.last.then(() => onThread(text, ms));
  line.last = parsed.catch(() => undefined).finally(() => line.waiting--);
  return parsed;
}

async function onThread(text: string, ms: number): Promise<unknown> {
  const thread = new Worker(THREAD, {
    workerData: text,
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: MEGABYTES },
  });
  const limit = AbortSignal.timeout(ms);
  try {
    const [parsed] = await once(thread, 'message', { signal: limit });
    return parsed;
  } catch (error) {
    throw limit.aborted ? new YamlTooSlow('the document takes too long to parse') : error;
  } finally {
    await thread.terminate();
  }
}
