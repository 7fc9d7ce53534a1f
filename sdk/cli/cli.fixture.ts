import type { Environment } from '../settings.ts';
import { runCommand } from './program.ts';
import { styleOf, type Terminal } from './terminal.ts';

export type Ended = { code: number; out: string; err: string };

/** Runs a command line in this process, at a terminal that is none: nothing can be asked. `input` is standard input. */
export async function cli(
  args: readonly string[],
  {
    env = {},
    input = '',
    until,
    signal = new AbortController().signal,
  }: { env?: Environment; input?: string; until?: (out: string) => void; signal?: AbortSignal } = {},
): Promise<Ended> {
  let [out, err] = ['', ''];
  const terminal: Terminal = {
    print: (text) => {
      out += `${text}\n`;
      until?.(out);
    },
    error: (text) => {
      err += `${text}\n`;
    },
    write: (bytes) => {
      out += Buffer.from(bytes).toString();
    },
    interactive: false,
    canAsk: false,
    width: 100,
    style: styleOf(false),
    ask: () => Promise.reject(new Error('nobody is there')),
    askSecret: () => Promise.reject(new Error('nobody is there')),
    readInput: () => Promise.resolve(input),
    env,
    signal,
  };
  return { code: await runCommand(args, terminal), out, err };
}
