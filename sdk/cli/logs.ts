import { type Command, InvalidArgumentError } from 'commander';
import { paginateFeed } from '../paginate.ts';
import { jsonOf } from './output.ts';
import { type Chosen, openSession } from './session.ts';
import type { Shared } from './shared.ts';
import { plain, type Style } from './terminal.ts';

type LogsFlags = Chosen & { follow?: boolean; since: number; route?: string; environment?: string; status?: string; json?: boolean };
type Row = {
  request_id: string;
  ts: string | null;
  method?: string | null;
  status_code?: number | null;
  path?: string | null;
  slug?: string | null;
  environment?: string | null;
  latency_ms?: number | null;
  error?: string | null;
  cursor: string;
};

/** The calls of the last minutes, or those that come in. The feed trails by some seconds, so that it never skips a call. */
export function addLogsCommand(program: Command, { terminal }: Shared): void {
  program
    .command('logs')
    .description('Show the calls through your routes, and what happened to them.')
    .option('-f, --follow', 'keep showing calls as they come in, about ten seconds later')
    .option('--since <duration>', 'how far back: 30s, 15m, 6h, 2d (default: 15m; with --follow: now)', durationOf)
    .option('--route <route>', 'only calls of this route (slug or ID)')
    .option('--environment <name>', 'only calls in this environment')
    .option('--status <code>', 'only calls with this status')
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<LogsFlags>();
      const { sallyport } = openSession(terminal, flags);
      const route_id = flags.route === undefined ? undefined : (await sallyport.routes.get({ path: { id: flags.route } })).data.id;
      const since = new Date(Date.now() - (flags.since ?? (flags.follow ? 0 : 15 * 60_000))).toISOString();
      const filters = {
        ...(route_id ? { route_id } : {}),
        ...(flags.environment ? { environment: flags.environment } : {}),
        ...(flags.status ? { status_code: flags.status } : {}),
      };
      if (flags.follow) terminal.error(terminal.style.dim('Waiting for calls. Ctrl-C ends it.'));
      const list = (query: { cursor?: string; limit: number }) =>
        sallyport.request<Row[]>('GET', '/logs', {
          query: { ...filters, ...query, ...(query.cursor ? {} : { since }) },
          signal: terminal.signal,
        }) as Promise<{ data: Row[]; meta: { next_cursor?: string | null } }>;
      let shown = 0;
      for await (const row of paginateFeed(list, { follow: flags.follow === true, signal: terminal.signal })) {
        shown++;
        terminal.print(flags.json ? jsonOf(row) : lineOf(row, terminal.style));
      }
      if (shown === 0) terminal.error(terminal.style.dim('No calls in this time. --since looks further back.'));
    });
}

function lineOf(row: Row, style: Style): string {
  const status = plain(String(row.status_code ?? '---'));
  const coloured = /^[23]/.test(status) ? style.green(status) : /^5|-/.test(status) ? style.red(status) : style.yellow(status);
  const time = style.dim(
    plain(row.ts ?? '')
      .replace('T', ' ')
      .replace('Z', ''),
  );
  const duration = row.latency_ms == null ? '' : `${row.latency_ms} ms`;
  const what = `${(row.method ?? '-').padEnd(6)} ${row.slug ?? '-'} ${row.path ?? ''}`;
  return `${time} ${coloured} ${plain(what)} ${style.dim(plain([row.environment, duration, row.request_id].filter(Boolean).join(' ')))}${
    row.error ? ` ${style.red(plain(row.error))}` : ''
  }`;
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `15m` in milliseconds. */
function durationOf(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (!amount || !unit) throw new InvalidArgumentError('It is a number with s, m, h or d, such as 15m.');
  return Number(amount) * (UNITS[unit] ?? 1) * 1_000;
}
