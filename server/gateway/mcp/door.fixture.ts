import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import type { Running } from '../gateway.fixture.ts';

/** Node resolves no workspace hosts: a local address that stands for one. `added` joins the headers of every request. */
export async function doorTo(running: Running, label: string, added: Record<string, string> = {}): Promise<string> {
  const door = createServer((req, res) => {
    const headers = { ...req.headers, ...added, host: `${label}.localhost:${running.port}` };
    const through = request({ host: '127.0.0.1', port: running.port, method: req.method, path: req.url, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(res);
    });
    through.on('error', () => res.destroy());
    res.on('close', () => through.destroy());
    req.pipe(through);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  after(() => {
    door.closeAllConnections();
    door.close();
  });
  return `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
}
