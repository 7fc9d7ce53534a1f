// Normal traffic in a process of its own: calls of a route and of the API, begun at a steady rate whether the ones before are answered or not.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../machine.ts';

export type Target = { url: string; headers: Record<string, string>; perSecond: number };
export type NormalLoad = { calls: Target; api: Target };
/** 99th percentiles in milliseconds, and how many calls weren't answered with 2xx. */
export type NormalResult = { calls: number; api: number; failed: number };

const LONGEST_MS = 60_000;

if (process.send) {
  const { calls, api, seconds } = JSON.parse(process.argv[2] ?? '') as NormalLoad & { seconds: number };
  const [ofCalls, ofApi] = await Promise.all([drive(calls, seconds), drive(api, seconds)]);
  const result: NormalResult = { calls: ofCalls.p99, api: ofApi.p99, failed: ofCalls.failed + ofApi.failed };
  process.send(result, () => process.exit(0));
}

async function drive({ url, headers, perSecond }: Target, seconds: number): Promise<{ p99: number; failed: number }> {
  const agent = new http.Agent({ keepAlive: true });
  const taken: Promise<number | undefined>[] = [];
  const began = performance.now();
  for (let n = 0; n < seconds * perSecond; n++) {
    await sleep(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
    taken.push(once(url, headers, agent));
  }
  const all = await Promise.all(taken);
  agent.destroy();
  const good = all.filter((ms) => ms !== undefined);
  return { p99: percentile(good.length > 0 ? good : [LONGEST_MS], 0.99), failed: all.length - good.length };
}

/** Milliseconds; undefined when it wasn't answered with 2xx. */
function once(url: string, headers: Record<string, string>, agent: http.Agent): Promise<number | undefined> {
  const began = performance.now();
  return new Promise((resolve) => {
    const request = http.get(url, { headers, agent, timeout: LONGEST_MS }, (response) => {
      response.resume();
      response.on('end', () => resolve((response.statusCode ?? 500) < 300 ? performance.now() - began : undefined));
      response.on('error', () => resolve(undefined));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}
