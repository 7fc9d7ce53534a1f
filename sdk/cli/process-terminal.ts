import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { environmentSettings } from '../settings.ts';
import { CliError } from './exit.ts';
import { styleOf, type Terminal } from './terminal.ts';

/** The terminal of this process. Ctrl-C at a prompt aborts `interrupted`, as it does elsewhere. */
export function processTerminal(interrupted: AbortController): Terminal {
  const { signal } = interrupted;
  const { stdin, stdout, stderr } = process;
  const interactive = stdout.isTTY === true;
  const ask = async (question: string, shown: boolean) => {
    if (!stdin.isTTY) throw new CliError('There is no terminal to ask at.', { next_step: 'Send the value on standard input.' });
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    stderr.write(question);
    const lines = createInterface({ input: stdin, output: shown ? stderr : silent, terminal: true });
    lines.on('SIGINT', () => interrupted.abort()); // a prompt takes Ctrl-C for itself
    try {
      return await lines.question('', { signal });
    } finally {
      lines.close();
      if (!shown) stderr.write('\n');
    }
  };
  return {
    print: (text) => void stdout.write(`${text}\n`),
    error: (text) => void stderr.write(`${text}\n`),
    write: (bytes) => void stdout.write(bytes),
    interactive,
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    width: stdout.columns ?? 100,
    style: styleOf(interactive && stderr.isTTY === true && !environmentSettings().no_color),
    ask: (question) => ask(question, true),
    askSecret: (question) => ask(question, false),
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
    env: process.env,
    signal,
  };
}
