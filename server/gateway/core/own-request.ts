import { request } from 'node:http';

/** How much of a body is shown. More is read, so that the log shows the upstream's answer and not a closed connection. */
export const SHOWN = 256 * 1024;
/** How much is searched: a value that begins in the shown part and ends behind it is masked, too. */
const SEARCHED = SHOWN + 8 * 1024;
const READ = 8 * 1024 * 1024;
/** An event stream may never end: what came until then is the answer. */
const LONGEST_BODY_MS = 15_000;

/** The answer as its bytes came. `cut`: there was more, or it broke off. */
export type Received = { status: number; rawHeaders: string[]; body: Buffer; bytes: number; cut: boolean };

/** A request of the gateway to itself, over its control socket. Null when the connection broke before a head. */
export function ownRequest(
  socketPath: string,
  { method, path, headers, body }: { method: string; path: string; headers: readonly string[]; body: Buffer },
): Promise<Received | null> {
  return new Promise((resolve) => {
    const req = request({ socketPath, agent: false, method, path, headers }, (res) => {
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
