import type { IncomingMessage, ServerResponse } from 'node:http';

/** Says that the dashboard isn't built yet: to a browser in a page that reloads itself, to others in JSON. */
export function sayBuilding(req: IncomingMessage, res: ServerResponse, seconds: number): void {
  const html = (req.headers.accept ?? '').includes('text/html');
  const body = html ? page(Math.round(seconds)) : JSON.stringify({ error: { type: 'dependency_unavailable', message: MESSAGE } });
  res.writeHead(503, {
    'content-type': html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'retry-after': String(RETRY_SECONDS),
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}

const RETRY_SECONDS = 3;
const MESSAGE = 'The dashboard is being built. The API and the gateway already respond.';

const page = (seconds: number) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="${RETRY_SECONDS}">
<meta name="viewport" content="width=device-width">
<title>Building the dashboard</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem }
</style>
<h1>Building the dashboard</h1>
<p>This takes a minute or two after an installation or an update, ${seconds} s so far. The page opens by itself when it is ready.</p>
<p>The API and the gateway already respond.</p>
</html>
`;
