import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, json } from './running-system.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export type Load = {
  /** Name to id of everything the API said it has made. */
  acknowledged: Map<string, string>;
  /** Names whose key an earlier attempt still held when the next one came. */
  interrupted: Set<string>;
  /** Error types the API gave, with how often. */
  refusals: Map<string, number>;
  /** Answers that no caller should ever get. */
  garbage: string[];
  /** Proxied calls that were answered 200, by request id, and the others in the order they happened. */
  proxied: { at: number; id: string }[];
  unproxied: { at: number; what: string }[];
  stop: () => Promise<void>;
};

/**
 * What a well-behaved machine does all day: writes with idempotency keys, repeating what got no good answer with the same key, and calls through
 * a route. Keeps a record of everything it was told.
 */
export function startLoad(system: { api: string; callUrl: string; key: string; writers: number; callers: number }): Load {
  const load: Load = {
    acknowledged: new Map(),
    interrupted: new Set(),
    refusals: new Map(),
    garbage: [],
    proxied: [],
    unproxied: [],
    stop: async () => {},
  };
  let running = true;
  let serial = 0;

  const write = async () => {
    const name = `write-${++serial}`;
    for (;;) {
      const answer = await json(`${system.api}/v1/clients`, {
        key: system.key,
        body: { name, ip_address: '203.0.113.7' },
        headers: { 'idempotency-key': name },
        timeout: 20_000,
      }).catch(() => null);
      if (answer) note(load, answer);
      if (answer?.status === 201) return void load.acknowledged.set(name, answer.body.data.id);
      if (answer?.body?.error?.type === 'request_in_progress') {
        load.interrupted.add(name);
        await sleep(200);
        continue;
      }
      if (answer && answer.status < 500) return void load.garbage.push(`${answer.status} ${answer.text}`);
      await sleep(100);
    }
  };
  const call = async () => {
    const at = Date.now();
    try {
      const answer = await json(system.callUrl, { headers: { 'x-svc-key': system.key }, timeout: 20_000 });
      if (answer.status === 200) load.proxied.push({ at, id: answer.headers.get('x-svc-request-id') ?? '' });
      else load.unproxied.push({ at, what: `${answer.status} ${answer.text}` });
    } catch (error) {
      load.unproxied.push({ at, what: String((error as Error).cause ?? error) });
    }
    await sleep(10);
  };
  const loop = async (work: () => Promise<void>) => {
    while (running) await work();
  };
  const loops = [...Array.from({ length: system.writers }, () => loop(write)), ...Array.from({ length: system.callers }, () => loop(call))];
  load.stop = async () => {
    running = false;
    await Promise.all(loops);
  };
  return load;
}

/** Whatever is broken behind it, the API answers in its envelope, with one request id in header and body. */
function note(load: Load, { status, headers, body, text }: Answer): void {
  const id = headers.get('x-request-id') ?? '';
  const said = body?.error?.request_id ?? body?.meta?.request_id;
  if (!UUID.test(id) || said !== id) load.garbage.push(`${status} ${id} ${text.slice(0, 300)}`);
  const type = body?.error?.type;
  if (type) load.refusals.set(type, (load.refusals.get(type) ?? 0) + 1);
  if (type === 'dependency_unavailable' && headers.get('retry-after') !== '5') load.garbage.push(`no Retry-After: ${text}`);
}
