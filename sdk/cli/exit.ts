import { ConnectionError, SallyportError } from '../error.ts';
import { plain, type Terminal } from './terminal.ts';

/** How a command ended. Scripts may rely on these numbers. */
export const EXIT = { ok: 0, refused: 1, usage: 2, not_signed_in: 3, not_found: 4, network: 5, interrupted: 130 } as const;

/** Something that the person at the terminal can put right. */
export class CliError extends Error {
  readonly code: number;
  readonly next_step: string | undefined;

  constructor(message: string, options: { code?: number; next_step?: string } = {}) {
    super(message);
    this.code = options.code ?? EXIT.usage;
    this.next_step = options.next_step;
  }
}

/** Says what went wrong and what to do about it on standard error. @returns the exit code */
export function report(error: unknown, terminal: Terminal): number {
  if (terminal.signal.aborted) return EXIT.interrupted;
  const { red, dim } = terminal.style;
  const say = (message: string, details: readonly (string | undefined)[]) =>
    terminal.error(
      [`${red('Error:')} ${plainLines(message)}`, ...details.flatMap((line) => (line ? [dim(plainLines(line))] : []))].join('\n'),
    );
  if (error instanceof CliError) {
    say(error.message, [error.next_step]);
    return error.code;
  }
  if (error instanceof SallyportError) {
    const request = error.request_id ? `${error.status} ${error.type}, request ${error.request_id}` : `${error.status} ${error.type}`;
    const code = codeOf(error);
    say(error.message, [code === EXIT.not_signed_in ? 'Run: service-cli login' : error.next_step, request]);
    return code;
  }
  if (error instanceof ConnectionError) {
    say(error.message, ['Check the address and your connection. --host and profiles say where a command goes.']);
    return EXIT.network;
  }
  if (error instanceof TypeError && /over https only|base URL|^The credential has/.test(error.message)) {
    say(error.message, []);
    return EXIT.usage;
  }
  say(error instanceof Error ? (error.stack ?? error.message) : String(error), ['This is a defect of service-cli.']);
  return EXIT.refused;
}

/** A message may quote a name that somebody else chose. */
const plainLines = (text: string) => text.split('\n').map(plain).join('\n');

function codeOf({ status, type }: SallyportError): number {
  if (status === 401 || type === 'invalid_grant') return EXIT.not_signed_in;
  return status === 404 ? EXIT.not_found : EXIT.refused;
}
