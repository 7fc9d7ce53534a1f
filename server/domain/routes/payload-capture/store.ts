import { digest } from '#server/crypto/tokens.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { routeByRef } from '../store.ts';

/** What takes a payload away with the state that ends it. */
export const NO_PAYLOAD = { value_ct: null, cek_wrapped: null, tmk_version: null } as const;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A link of a route by its token; another route's, space's or workspace's is none. @throws Refusal not_found */
export async function captureByToken(tx: Tx, ctx: Ctx, { id, token }: { id: string; token: string }) {
  const route = await routeByRef(tx, ctx, id);
  const capture = TOKEN.test(token)
    ? await tx.payload_captures.findFirst({ where: { ...own(ctx), route_id: route.id, token_hash: new Uint8Array(digest(token)) } })
    : null;
  if (!capture) throw notFound();
  const environment = route.configs.find(({ environment_id }) => environment_id === capture.environment_id)?.environment_name ?? null;
  const expired = capture.state !== 'consumed' && capture.expires_at <= ctx.now;
  return { route, environment, ...capture, state: expired ? 'expired' : capture.state };
}
export type FoundCapture = Awaited<ReturnType<typeof captureByToken>>;

/** @throws Refusal capture_expired unless the request is there */
export function assertCaptured({ state }: Pick<FoundCapture, 'state'>): void {
  if (state === 'captured') return;
  throw new Refusal(
    'capture_expired',
    state === 'consumed'
      ? 'The structure of this request was saved and the request deleted. Start a new capture to see another one.'
      : 'This capture has expired: a link and what was sent to it are kept for 5 minutes. Start a new one.',
  );
}
