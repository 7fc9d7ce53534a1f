import path from 'node:path';
import { parentPort } from 'node:worker_threads';

type Request = { id: number; file: string; input: unknown };

parentPort?.on('message', async ({ id, file, input }: Request) => {
  const { run } = (await import(path.resolve(file))) as { run: (input: unknown) => unknown };
  parentPort?.postMessage({ began: true });
  const outcome = await attempt(run, input);
  parentPort?.postMessage({ id, outcome });
});

/** Errors cross as they are: a structured clone keeps name, message and cause of built-in kinds. */
async function attempt(run: (input: unknown) => unknown, input: unknown): Promise<{ value: unknown } | { error: Error }> {
  try {
    return { value: await run(input) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
