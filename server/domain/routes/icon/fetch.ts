import type { OutboundHttp } from '#server/platform/connect/http.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import { type IconImage, iconImage } from './image.ts';

/** Where the icon of a host stands, in the order of asking. */
const PATHS = ['/favicon.ico', '/favicon.png'] as const;
const MOST_BYTES = 32 * 1024;
const MOST_REDIRECTS = 3;
const HEADERS = { accept: 'image/png, image/x-icon', 'user-agent': 'Sallyport-Icons' };
/** For everything that one host is asked. */
const WITHIN_MS = 6_000;

export type Asked = {
  /** What the host shows. `none`: it answered, and shows no picture we take. `silent`: it did not answer, or must not be asked. */
  outcome: 'found' | 'none' | 'silent';
  /** The address that was asked, before redirects; with `found` only. */
  url?: string;
  image?: IconImage;
};

/**
 * Asks an upstream host for its icon. Every address, that of each redirect included, is judged by the guard of the proxy at the moment of connecting
 * (interface rules 10 §2.2, 12 §9); at most 32 KiB are read, nothing is unpacked, and what the answer calls itself does not matter. Rejects with faults of our own only.
 */
export async function askForIcon(
  send: OutboundHttp['request'],
  origin: string,
  who: { tenant: string; space: string },
  withinMs = WITHIN_MS,
): Promise<Asked> {
  const signal = AbortSignal.timeout(withinMs);
  for (const path of PATHS) {
    const url = origin + path;
    try {
      const limits = { redirects: MOST_REDIRECTS, maxBytes: MOST_BYTES, timeoutMs: withinMs, signal };
      const image = taken(await send({ url, ...who, headers: HEADERS, ...limits }));
      if (image) return { outcome: 'found', url, image };
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error;
      // A longer answer, or a broken one, is an answer; what stands at the next path may be better.
      if (error.type !== 'upstream_response_too_large' && error.type !== 'upstream_protocol_error') return { outcome: 'silent' };
    }
  }
  return { outcome: 'none' };
}

function taken({ status, headers, body }: OutboundResponse): IconImage | null {
  const encoding = headers['content-encoding'];
  return status === 200 && (encoding === undefined || encoding === 'identity') ? iconImage(body) : null;
}
