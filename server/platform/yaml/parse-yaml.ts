import { onThread, work } from '../threads/pool.ts';

const YAML = work<string, unknown>('server/platform/yaml/yaml.thread.ts');

/**
 * Reads a stranger's YAML on a thread: it can take time and memory out of all proportion to its length (keys that are structures, brackets that never close).
 * `owner` is the workspace. @throws Error when it is no YAML, and what `onThread` throws
 */
export const parseYaml = (text: string, owner: string, ms = 3_000): Promise<unknown> => onThread(YAML, text, { owner, ms });
