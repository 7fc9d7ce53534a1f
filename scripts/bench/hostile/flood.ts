import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** One request of an attack. */
export type HostileRequest = { url: string; method?: string; headers?: Record<string, string>; body?: string | Buffer };

const MOST_OPEN = 400;
const LONGEST_MS = 60_000;

/** Sends requests at a steady rate, whether the ones before are answered or not; how they were answered, in words. */
export async function flood(
  requestOf: (n: number) => HostileRequest,
  { perSecond, signal }: { perSecond: number; signal: AbortSignal },
): Promise<string> {
  const agent = new http.Agent({ keepAlive: true });
  const answers = new Map<string, number>();
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let n = 0; !signal.aborted; n++) {
    await sleep(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
    const sent =
      open.size < MOST_OPEN
        ? send({ ...requestOf(n) }, n, agent).then((status) => void answers.set(status, (answers.get(status) ?? 0) + 1))
        : Promise.resolve();
    open.add(sent);
    void sent.then(() => open.delete(sent));
  }
  agent.destroy();
  await Promise.all(open);
  const told = [...answers].sort(([, a], [, b]) => b - a).map(([status, count]) => `${count} x ${status}`);
  return `attack: ${told.join(', ') || 'no answer'}`;
}

function send({ url, method = 'POST', headers = {}, body }: HostileRequest, n: number, agent: http.Agent): Promise<string> {
  return new Promise((resolve) => {
    const from = `203.0.${(n >> 8) & 255}.${n & 255}`;
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const request = http.request(url, { method, agent, timeout: LONGEST_MS, headers: { 'X-Forwarded-For': from, ...length, ...headers } });
    request.on('response', (response) => {
      response.resume();
      const code = response.headers['x-svc-error'];
      response.on('close', () => resolve(`${response.statusCode}${code ? ` ${code}` : ''}`));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve('unanswered'));
    request.end(body);
  });
}
