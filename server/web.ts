import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { writeCounts } from './custody/counts.ts';
import { measureCustody } from './custody/meters.ts';
import { flushUses } from './custody/uses.ts';
import { startWithRootKey } from './domain/keys/root-check.ts';
import { watchKeys } from './domain/keys/watch.ts';
import { flushStandings } from './platform/counters/kept.ts';
import { elementFile } from './platform/element-files.ts';
import { enterWebMode, env } from './platform/env.ts';
import { places } from './platform/geoip.ts';
import { log } from './platform/log.ts';
import { ownedFolder } from './platform/private-folder.ts';
import { endStart } from './platform/startup.ts';
import { startTelemetry } from './platform/telemetry/start.ts';
import { answerBy } from './web/fetch.ts';
import { startPages } from './web/pages.ts';
import { loadRoutes } from './web/routes.ts';

// The web process, on a private unix socket: the API planes by the route handlers of `app/`, and the dashboard's pages by Next. The gateway owns every public
// port and forwards here what is not a data plane.

const failStart = (error: unknown) => endStart('web', error);
process.on('uncaughtException', failStart);
const dev = process.argv.includes('--dev');
const socket = env.WEB_SOCKET;
enterWebMode(dev); // before Next and next-auth are loaded, which decide by NODE_ENV at import
const routeOf = await loadRoutes('app');
elementFile('seal.js'); // now, so that its hash is told of the bytes that the gateway of this release serves
// The gateway has judged how much a caller may send, and adds a few headers of its own: here nothing may be refused by size, in words that are not ours.
const server = http.createServer({ maxHeaderSize: 96 * 1024 }, (req, res) => {
  if (req.url === '/__alive') return void res.end('alive');
  if (req.url === '/__ready') return void res.writeHead(hasPages ? 200 : 503).end();
  const route = routeOf(req.url?.split('?', 1)[0] ?? '');
  void (route ? answerBy(route, req, res) : pages.serve(req, res)).catch((error: unknown) => broken(res, error));
});
server.on('upgrade', (...handshake) => void pages.upgrade(...handshake));
server.requestTimeout = 300_000;
server.keepAliveTimeout = 75_000; // longer than the gateway's pool keeps a connection, so that this side never closes first

await claimSocket();
const telemetry = await startTelemetry('web');
measureCustody();
await refuseWrongRootKey();
watchKeys();
const pages = startPages(dev);
let hasPages = false;
void places(); // so that the log says at the start, and not at the first page, when the database of countries cannot be used
const umask = process.umask(0o077); // only this account may talk to the web process directly
server.listen(socket, () => {
  process.off('uncaughtException', failStart);
  process.umask(umask);
  log.info({ socket }, 'web started');
});
pages.ready.then(() => {
  hasPages = true;
  process.send?.('ready');
}, refuseBrokenBuild);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);

/** A process with another key would seal what the right key cannot open. While the database is away nothing can be sealed either. */
async function refuseWrongRootKey(): Promise<void> {
  await startWithRootKey(failStart).catch(failStart);
}

function refuseBrokenBuild(error: unknown): void {
  log.fatal(error, 'the dashboard could not be loaded');
  process.exit(1);
}

/** A request whose handler failed: the answer says nothing, the log says why. An answer that has begun breaks off. */
function broken(res: http.ServerResponse, error: unknown): void {
  log.error(error, 'a request failed outside of its handler');
  if (res.headersSent) res.destroy();
  else res.writeHead(500).end();
}

/** Removes the socket of a process that is gone; a living one keeps it and this start ends. */
async function claimSocket(): Promise<void> {
  ownedFolder('WEB_SOCKET', path.dirname(socket));
  const taken = await new Promise<boolean>((resolve) => {
    const probe = net.connect(socket, () => resolve(true)).on('error', () => resolve(false));
    probe.on('connect', () => probe.destroy());
  });
  if (taken) {
    log.fatal(`another web process is already listening on ${socket} (WEB_SOCKET)`);
    process.exit(1);
  }
  fs.rmSync(socket, { force: true });
}

/** Open requests get 15 s; then the process ends whatever they do. In development a page's socket to Next never closes, and a change shouldn't wait for it. */
function stop(): void {
  setTimeout(() => process.exit(0), dev ? 500 : 15_000).unref();
  server.close(
    () =>
      void Promise.allSettled([pages.close(), flushUses(), writeCounts(), flushStandings(), telemetry.close()]).finally(() =>
        process.exit(0),
      ),
  );
  server.closeIdleConnections();
}
