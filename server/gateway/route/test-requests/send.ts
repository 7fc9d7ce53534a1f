import { request } from 'node:http';
import type { TrialOrder } from '#server/domain/routes/trial/schema.ts';

/** How much of a body is shown. More is read, so that the log shows the upstream's answer and not a closed connection. */
export const SHOWN = 256 * 1024;
/** How much is searched: a value that begins in the shown part and ends behind it is masked, too. */
export const SEARCHED = SHOWN + 8 * 1024;
const READ = 8 * 1024 * 1024;
/** An event stream may never end: what came until then is the answer. */
const LONGEST_BODY_MS = 15_000;

/** The answer as its bytes came. `cut`: there was more, or it broke off. */
export type Received = { status: number; rawHeaders: string[]; body: Buffer; bytes: number; cut: boolean };

/** Sends the test request to the control socket itself and reads the answer. Null when the connection broke before a head. */
export function send(socketPath: string, order: TrialOrder, own: readonly string[]): Promise<Received | null> {
  const body = Buffer.from(order.body, 'base64');
  const names = new Set(order.headers.map(({ name }) => name.toLowerCase()));
  const headers = [...own, 'Connection', 'close', 'X-Svc-Environment', order.environment ?? ''].flatMap((text, i, all) =>
    i % 2 === 0 && all[i + 1] !== '' ? [text, all[i + 1] as string] : [],
  );
  for (const { name, value } of order.headers) headers.push(name, value);
  // A body that came compressed could not be searched for secrets.
  if (!names.has('accept-encoding')) headers.push('Accept-Encoding', 'identity');
  if (!names.has('user-agent')) headers.push('User-Agent', 'Sallyport route tester');
  if (body.length > 0 || order.method === 'POST' || order.method === 'PUT' || order.method === 'PATCH')
    headers.push('Content-Length', String(body.length));
  return new Promise((resolve) => {
    const req = request({ socketPath, agent: false, method: order.method, path: `/${order.route_id}${order.target}`, headers }, (res) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const done = (cut: boolean) => {
        clearTimeout(late);
        const { statusCode = 0, rawHeaders } = res;
        resolve({ status: statusCode, rawHeaders, body: Buffer.concat(chunks), bytes, cut: cut || bytes > SEARCHED });
      };
      const stop = () => {
        done(true);
        req.destroy();
      };
      const late = setTimeout(stop, LONGEST_BODY_MS);
      res.on('data', (chunk: Buffer) => {
        if (bytes < SEARCHED) chunks.push(chunk.subarray(0, SEARCHED - bytes));
        bytes += chunk.length;
        if (bytes > READ) stop();
      });
      res.on('end', () => done(false));
      res.on('error', () => done(true));
      res.on('aborted', () => done(true));
    });
    req.on('error', () => resolve(null));
    req.end(body);
  });
}
