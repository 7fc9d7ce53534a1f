import { ConnectionError, SallyportError } from '../error.ts';
import { environmentSettings } from '../settings.ts';
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

/** Says what went wrong and what to do about it on standard error; `profile` is the one that the command named. @returns the exit code */
export function report(error: unknown, terminal: Terminal, profile?: string): number {
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
    const login = code === EXIT.not_signed_in ? 'service-cli login' : /service-cli login(?: --confirm)?/.exec(error.message)?.[0];
    say(error.message, [login ? loginStep(login, terminal, profile) : error.next_step, request]);
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

/** The login that helps: of the profile that was used, and without the variable that would be used in its place. */
function loginStep(login: string, { env }: Terminal, profile: string | undefined): string {
  const { access_token, profile: ofEnvironment } = environmentSettings(env);
  const instead = access_token && !profile && !ofEnvironment ? '. Then unset SERVICE_ACCESS_TOKEN, which is used in place of a login.' : '';
  return `Run: ${login}${profile ? ` --profile ${profile}` : ''}${instead}`;
}

/** A message may quote a name that somebody else chose. */
const plainLines = (text: string) => text.split('\n').map(plain).join('\n');

function codeOf({ status, type }: SallyportError): number {
  if (status === 401 || type === 'invalid_grant') return EXIT.not_signed_in;
  return status === 404 ? EXIT.not_found : EXIT.refused;
}
