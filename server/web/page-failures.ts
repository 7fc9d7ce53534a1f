import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Instrumentation } from 'next';
import { type Outage, outageOf, PAGE_OUTAGE_HEADER } from '../kernel/outage.ts';
import { log } from '../platform/log.ts';

/** Pages that are being answered, by the gateway's request ID. */
const open = new Map<string, { outage?: Outage }>();

/** Has the answer say in a header which outage of the database made the page fail, if one did: the gateway shows a page of its own then. */
export function tellOutage(req: IncomingMessage, res: ServerResponse): void {
  const id = req.headers['x-sallyport-request-id'];
  if (typeof id !== 'string') return;
  const page: { outage?: Outage } = {};
  open.set(id, page);
  res.once('close', () => open.delete(id));
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = ((...args: unknown[]) => {
    if (page.outage) res.setHeader(PAGE_OUTAGE_HEADER, page.outage);
    return writeHead(...args);
  }) as typeof res.writeHead;
}

/** Called by Next (`instrumentation.ts`) with what a page, or the function that sets its headers, threw. */
export const onRequestError: Instrumentation.onRequestError = (error, { headers }, { routePath }) => {
  const id = headers['x-sallyport-request-id'];
  const outage = outageOf(error);
  const page = typeof id === 'string' ? open.get(id) : undefined;
  if (page && outage) page.outage ??= outage;
  log.error({ err: error, page: routePath, request_id: id }, 'a page of the dashboard failed');
};
