import type { Command } from 'commander';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { errorOf } from '../error.ts';
import { createGateway, type GatewayCall, isUpstreams } from '../gateway.ts';
import { CliError, EXIT } from './exit.ts';
import { textOf } from './operation-input.ts';
import { type Chosen, CLI_USER_AGENT, openSession, type Session } from './session.ts';
import type { Shared } from './shared.ts';
import { plain } from './terminal.ts';

type CallFlags = Chosen & { method?: string; data?: string; header?: string[]; environment?: string; include?: boolean };

/** The address of the workspace's routes, as the service tells it. */
export async function gatewayOf(session: Session): Promise<{ proxy_url: string; call: ReturnType<typeof createGateway> }> {
  const { proxy_url } = (await session.sallyport.account.get()).data;
  return { proxy_url, call: createGateway({ proxy_url, credential: session.credential, user_agent: CLI_USER_AGENT }) };
}

export function addCallCommand(program: Command, { terminal, end }: Shared): void {
  program
    .command('call')
    .description('Call a route through the gateway and print what the upstream answers.')
    .argument('<route>', 'slug or ID of the route')
    .argument('[path]', 'path and query at the upstream', '/')
    .option('-X, --method <method>', 'HTTP method (default: GET, with --data POST)')
    .option('-d, --data <text>', 'the body: text, @file or - for standard input')
    .option('-H, --header <header>', 'header to send, as "Name: value". Repeat for several.', (one: string, all?: string[]) => [
      ...(all ?? []),
      one,
    ])
    .option('-e, --environment <name>', 'environment that answers')
    .option('-i, --include', 'print the status and headers too')
    .action(async (route: string, path: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CallFlags>();
      const request = await requestOf(flags);
      const { call } = await gatewayOf(openSession(terminal, flags));
      const response = await call(route, path, request).catch((error: unknown) => {
        throw error instanceof TypeError ? new CliError(error.message) : error;
      });
      if (!isUpstreams(response)) throw errorOf(response, await response.text());
      if (flags.include) {
        terminal.print(`HTTP ${response.status}`);
        for (const [name, value] of response.headers) terminal.print(`${name}: ${plain(value)}`);
        terminal.print('');
      }
      for await (const bytes of response.body ?? []) terminal.write(bytes);
      if (terminal.interactive) terminal.print('');
      if (response.status >= 400) {
        if (!flags.include) terminal.error(terminal.style.dim(`The upstream answered ${response.status}.`));
        end(EXIT.refused);
      }
    });

  async function requestOf(flags: CallFlags): Promise<GatewayCall> {
    const headers = new Headers();
    for (const line of flags.header ?? []) {
      const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(line) ?? [];
      if (!name) throw new CliError('A header is written as "Name: value".');
      headers.append(name, value ?? '');
    }
    const body = flags.data === undefined ? undefined : await textOf(flags.data, terminal);
    if (body !== undefined && !headers.has('content-type'))
      headers.set('content-type', isJson(body) ? 'application/json' : 'text/plain; charset=utf-8');
    const method = flags.method?.toUpperCase() ?? (body === undefined ? 'GET' : 'POST');
    if (body !== undefined && (method === 'GET' || method === 'HEAD'))
      throw new CliError(`${method} has no body. Choose another method with -X.`);
    return { method, headers, body, environment: flags.environment, signal: terminal.signal };
  }
}

function isJson(text: string): boolean {
  try {
    parseExact(text);
    return true;
  } catch {
    return false;
  }
}
