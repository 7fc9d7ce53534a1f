import fs from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { logConsole } from '../platform/console-lines.ts';
import { staticFiles } from '../platform/static-files.ts';
import { sayBuilding } from './building-page.ts';
import { tellOutage } from './page-failures.ts';

/** Written when `next build` is complete, and removed before it begins. */
const BUILT = '.next/.made-from';

type Next = {
  serve: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
  close: () => Promise<void>;
};
export type Pages = Next & {
  /** Resolves once every page is served by Next; rejects when Next can't be started. */
  ready: Promise<void>;
};

/** The dashboard's pages. Until the first build is there, a page says that it is being built; a build that exists is waited for. */
export function startPages(dev: boolean): Pages {
  const isBuilt = () => dev || fs.existsSync(BUILT);
  const began = performance.now();
  let next: Next | undefined;
  const loading = (async () => {
    while (!isBuilt()) await sleep(POLL_MS, undefined, { ref: false });
    next = await startNext(dev);
    return next;
  })();
  const ready = loading.then(() => undefined);
  ready.catch(() => {}); // whoever awaits it is told
  return {
    ready,
    async serve(req, res) {
      if (next || isBuilt()) return (await loading).serve(req, res);
      sayBuilding(req, res, (performance.now() - began) / 1000);
    },
    upgrade: async (...handshake) => (await loading).upgrade(...handshake),
    close: async () => next?.close(),
  };
}

const POLL_MS = 200;

async function startNext(dev: boolean): Promise<Next> {
  if (!dev) logConsole();
  const { default: next } = await import('next');
  const app = next({ dev, hostname: 'localhost', quiet: !dev }); // failures of pages are logged by page-failures.ts
  await app.prepare();
  const handle = app.getRequestHandler();
  const servedBuilt = dev ? () => false : staticFiles('.next/static', '/_next/static/');
  return {
    serve: async (req, res) => {
      if (dev) res.setHeader('x-sallyport-development', '1'); // the gateway leaves its pages of faults as they are
      if (servedBuilt(req, res)) return;
      tellOutage(req, res);
      await handle(req, res);
    },
    upgrade: app.getUpgradeHandler(),
    close: () => app.close(),
  };
}
