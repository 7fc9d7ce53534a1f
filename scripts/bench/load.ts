import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Problem } from '../command.ts';
import { cores, findTool } from './machine.ts';

// Closed-loop load from the other core: wrk when it is installed, else a generator of our own, which is slower but counts the same.

export type Load = {
  url: string;
  headers?: Readonly<Record<string, string>>;
  method?: 'GET' | 'POST';
  bodyBytes?: number;
  /** Instead of bodyBytes. */
  body?: string;
  /** A header whose value changes from request to request, in turn, and with it the path of the URL if there are `paths`, one a value. */
  rotating?: { name: string; values: readonly string[]; paths?: readonly string[] };
  connections: number;
  seconds: number;
};
export type LoadResult = { requests: number /** Milliseconds. */; p50: number; p99: number };

/** Drives the load to its end. Throws when any answer was not 2xx: refusals are quick and would look like speed. */
export async function drive(load: Load, directory: string): Promise<LoadResult> {
  const wrk = findTool('wrk');
  const text = wrk ? await run(wrk, wrkArguments(load, directory)) : await run(process.execPath, [generator, JSON.stringify(load)]);
  const [, json] = /^result (.*)$/m.exec(text) ?? [];
  if (!json) throw new Problem(`The load test of ${load.url} printed no result:\n${text}`);
  const { requests, bad, p50_us, p99_us } = JSON.parse(json) as { requests: number; bad: number; p50_us: number; p99_us: number };
  if (bad > 0 || requests === 0) throw new Problem(`${bad} of ${requests} calls to ${load.url} failed, so there is nothing to compare.`);
  return { requests, p50: p50_us / 1000, p99: p99_us / 1000 };
}

const generator = path.join(import.meta.dirname, 'load-generator.ts');

function wrkArguments(
  { url, headers = {}, method = 'GET', bodyBytes = 0, body: text, rotating, connections, seconds }: Load,
  directory: string,
): string[] {
  const script = path.join(directory, `wrk-${method}-${bodyBytes}${text === undefined ? '' : '-form'}.lua`);
  const body = text !== undefined ? `wrk.body = ${JSON.stringify(text)}` : bodyBytes > 0 ? `wrk.body = string.rep("x", ${bodyBytes})` : '';
  fs.writeFileSync(
    script,
    `wrk.method = "${method}"
${body}
${rotating ? rotation(rotating) : ''}
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('result {"requests":%d,"bad":%d,"p50_us":%d,"p99_us":%d}\\n', summary.requests,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99)))
end
`,
  );
  const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  return ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '-s', script, ...sent, url];
}

/** Requests are built once: building one for each call would be measured as latency of the server. */
const rotation = ({ name, values, paths }: NonNullable<Load['rotating']>) => `local made, at = {}, 0
local paths = { ${(paths ?? []).map((value) => JSON.stringify(value)).join(', ')} }
function init()
  for i, value in ipairs({ ${values.map((value) => JSON.stringify(value)).join(', ')} }) do
    wrk.headers[${JSON.stringify(name)}] = value
    made[i] = wrk.format(nil, paths[i])
  end
end
function request() at = at % #made + 1; return made[at] end
`;

function run(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('taskset', ['-c', cores.others, command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', () => resolve(text));
  });
}
