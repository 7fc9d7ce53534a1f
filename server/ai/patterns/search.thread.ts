import { compilePattern, type Engine, UnsupportedPattern } from './compile.ts';

export type Search = { pattern: string; text: string };
/** Whether the text has a match, and the milliseconds of processor time that this took; or why the pattern isn't accepted. */
export type Searched = { found: boolean; ms: number } | { problem: string };

/** Searches a text for a pattern. The deadline of the thread ends what takes too long. */
export function run({ pattern, text }: Search): Searched {
  const began = process.threadCpuUsage();
  let engine: Engine;
  try {
    engine = compilePattern(pattern);
  } catch (error) {
    if (error instanceof UnsupportedPattern) return { problem: error.message };
    throw error;
  }
  const found = engine.test(text);
  const { user, system } = process.threadCpuUsage(began);
  return { found, ms: (user + system) / 1_000 };
}
