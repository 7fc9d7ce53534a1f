import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { startGateway } from '../gateway.fixture.ts';
import { startWeb } from '../v1/web.fixture.ts';

/**
 * A gateway and web process whose API host is an address that programs can dial. The address is known before they start, because it is the issuer of
 * tokens: a door at it passes requests on.
 */
export async function startApi() {
  let apiPort = 0;
  const door = createServer((req, res) => {
    const through = request({ host: '127.0.0.1', port: apiPort, method: req.method, path: req.url, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(res);
    });
    through.on('error', () => res.destroy());
    res.on('close', () => through.destroy());
    req.pipe(through);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  onFileEnd(() => {
    door.closeAllConnections();
    door.close();
  });
  const api = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
  await testDatabase({ SVC_GATEWAYS: '1', PUBLIC_API_URL: api });
  await startWeb();
  const running = await startGateway();
  apiPort = (await running.gateway.listen('api', 0, '127.0.0.1')).port;
  return { api, running };
}
