import type { Environment } from '../settings.ts';

/** Where a command reads and writes. */
export type Terminal = {
  /** Results, one text a line. */
  print: (text: string) => void;
  /** Everything that isn't a result: progress, warnings, errors. */
  error: (text: string) => void;
  write: (bytes: Uint8Array) => void;
  /** A person reads the results as they are printed. */
  interactive: boolean;
  /** A person can be asked. */
  canAsk: boolean;
  width: number;
  style: Style;
  ask: (question: string) => Promise<string>;
  /** Without showing what is typed. */
  askSecret: (question: string) => Promise<string>;
  readInput: () => Promise<string>;
  env: Environment;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
};

export type Style = Record<'bold' | 'dim' | 'red' | 'green' | 'yellow', (text: string) => string>;

export function styleOf(coloured: boolean): Style {
  const sgr = (on: number, off: number) => (text: string) => (coloured ? `\x1b[${on}m${text}\x1b[${off}m` : text);
  return { bold: sgr(1, 22), dim: sgr(2, 22), red: sgr(31, 39), green: sgr(32, 39), yellow: sgr(33, 39) };
}

/** Text of others can't move the cursor or change what the screen shows. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
