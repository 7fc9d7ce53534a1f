import { format, stripVTControlCharacters } from 'node:util';
import { log } from './log.ts';

const LEVELS = { log: 'debug', info: 'debug', debug: 'debug', trace: 'warn', warn: 'warn', error: 'error' } as const;

/** Makes what packages print into lines of the log: Next and graphile-worker have no other way to say some things. For processes that have started. */
export function logConsole(): void {
  for (const [method, level] of Object.entries(LEVELS))
    console[method as keyof typeof LEVELS] = (...printed: unknown[]) => {
      const err = printed.find((one) => one instanceof Error);
      const text = stripVTControlCharacters(format(...printed.filter((one) => one !== err))).trim();
      if (err) log[level]({ err, ...(text !== '' && { printed: text }) }, 'a package reported a failure');
      else if (text !== '') log[level](text);
    };
}
