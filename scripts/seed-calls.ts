import { setTimeout as sleep } from 'node:timers/promises';

/** How many calls were sent and what came of them, or why none was. */
export type Sent = { answered: number; refused: number } | { problem: string };

type Call = { path: string; method?: string; environment?: string; body?: object; keyless?: true };

const repeated = (times: number, call: (at: number) => Call): Call[] => Array.from({ length: times }, (_, at) => call(at));

/** A morning of a small business, mistakes included: a wrong method, an unknown route, a missing key, and more weather than its limit allows. */
const CALLS: readonly Call[] = [
  ...repeated(6, (at) => ({ path: `/echo/hello?visit=${at + 1}` })),
  ...repeated(10, (at) => ({ path: '/payments-charges/charges', method: 'POST', body: { amount: 1_000 + 250 * at, currency: 'eur' } })),
  ...repeated(8, (at) => ({ path: `/payments-charges/charges/ch_${at + 1}` })),
  ...repeated(4, (at) => ({ path: `/payments-charges/charges/ch_${at + 1}/refunds`, method: 'POST', environment: 'staging', body: {} })),
  ...repeated(13, (at) => ({ path: `/weather/forecast?city=${['Berlin', 'London', 'Tokyo'][at % 3]}` })),
  ...repeated(2, () => ({ path: '/weather/forecast', method: 'POST', body: { city: 'Berlin' } })),
  ...repeated(2, () => ({ path: '/wether/forecast?city=Berlin' })),
  { path: '/payments-charges/charges', keyless: true },
];
const AT_ONCE = 4;
/** A gateway hears of a new key and of new routes within two seconds. */
const WAIT_MS = 5_000;

/** Sends calls of a caller through the gateway that runs at `proxyUrl`, so that what is in the log was really called. Never throws. */
export async function makeCalls(proxyUrl: string, key: string): Promise<Sent> {
  const send = async ({ path, method = 'GET', environment, body, keyless }: Call): Promise<Response> => {
    const response = await fetch(`${proxyUrl}${path}`, {
      method,
      headers: {
        'user-agent': 'sallyport-seed',
        ...(keyless ? {} : { 'x-svc-key': key }),
        ...(environment ? { 'x-svc-environment': environment } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(WAIT_MS),
    });
    await response.arrayBuffer();
    return response;
  };
  try {
    const [first = { path: '/' }, ...rest] = CALLS;
    const until = performance.now() + WAIT_MS;
    let known = await send(first);
    while (!known.ok && performance.now() < until) {
      await sleep(250);
      known = await send(first);
    }
    if (!known.ok) return { problem: `the gateway at ${proxyUrl} responded to the first call with ${known.status}` };
    const answers = [known];
    for (let at = 0; at < rest.length; at += AT_ONCE) answers.push(...(await Promise.all(rest.slice(at, at + AT_ONCE).map(send))));
    const refused = answers.filter(({ headers }) => headers.has('x-svc-error')).length;
    return { answered: answers.length - refused, refused };
  } catch {
    return { problem: `nothing is listening at ${proxyUrl}` };
  }
}
