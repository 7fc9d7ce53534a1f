import { fork } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';

// Processes of tests that end without a word (kill -9) at a statement they send to the database.

/** Where a process dies: at the last of these statements, once the others have gone by in this order. Each is a part of its text, in lower case, but `commit`, which is all of it and on the connection of the one before. */
export type Death = { at: readonly string[]; when: 'before' | 'after' };

/** Ends this process at the named statement of any of its connections: before it is sent, or when it has been answered. */
export function dieAt({ at, when }: Death): void {
  let passed = 0;
  let last: pg.Client | undefined;
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [string | { text?: string } | undefined];
    const text = (typeof asked === 'string' ? asked : asked?.text) ?? '';
    if (passed === at.length || !isAt(text.toLowerCase(), at[passed] as string) || (at[passed] === 'commit' && last !== this))
      return Reflect.apply(query, this, args);
    passed++;
    last = this;
    if (passed < at.length) return Reflect.apply(query, this, args);
    if (when === 'before') kill();
    const done = args.findIndex((one) => typeof one === 'function');
    if (done === -1) return (Reflect.apply(query, this, args) as unknown as Promise<unknown>).then(kill);
    return Reflect.apply(query, this, args.with(done, kill));
  } as typeof query;
}

const isAt = (text: string, part: string): boolean => (part === 'commit' ? text === part : text.includes(part));

const kill = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still here');
};

/** Runs a file until it dies. @returns the signal it died of; null if it came to its end */
export async function died(file: URL, death: Death, ...args: string[]): Promise<NodeJS.Signals | null> {
  const child = fork(file, [JSON.stringify(death), ...args]);
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

/** What `died` asked for, in the process that dies. */
export const deathOf = (argv: readonly string[]): Death => JSON.parse(argv[2] ?? '') as Death;
