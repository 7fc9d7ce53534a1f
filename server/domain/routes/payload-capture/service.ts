import type { z } from 'zod';
import { mintMailToken } from '#server/crypto/tokens.ts';
import { proxyUrl } from '#server/domain/tenants/addresses.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { configEntry } from '../audit.ts';
import { applyPatch, checkDraft, configPatch, draftOf } from '../config/draft.ts';
import { storeSettings } from '../saving.ts';
import { lockRoute, routeByRef } from '../store.ts';
import type { CaptureRef, CaptureStatus, StartCapture } from './schema.ts';
import { assertCaptured, captureByToken, type FoundCapture, NO_PAYLOAD } from './store.ts';
import { LINK_MS } from './stored.shared.ts';

/** Makes a link of five minutes; a live one of the same environment ends (interface rule 10 §15.3). @throws Refusal not_found */
export function startCapture(ctx: Ctx, { id, environment }: z.output<typeof StartCapture>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const config = route.configs.find((c) => (environment === undefined ? c.is_base : c.environment_name === environment));
    if (!config) throw notFound();
    const place = { ...own(ctx), route_id: route.id, environment_id: config.environment_id };
    await tx.payload_captures.updateMany({
      where: { ...place, state: { in: ['waiting', 'captured'] } },
      data: { state: 'expired', ...NO_PAYLOAD },
    });
    const { token, digest } = mintMailToken();
    const expires_at = new Date(ctx.now.getTime() + LINK_MS);
    await tx.payload_captures.create({
      data: { ...place, id: newId(), token_hash: new Uint8Array(digest), expires_at, created_at: ctx.now },
      select: { id: true },
    });
    const { slug } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } });
    const capture_url = `${proxyUrl(slug, spaceOf(ctx.sandbox))}/_capture/${token}`;
    return audited({ token, capture_url, expires_at }, entry(route, 'payload_capture.start', config.environment_name));
  });
}

/** The shape of what was sent, never a value. @throws Refusal not_found */
export const captureStatus = (ctx: Ctx, ref: z.output<typeof CaptureRef>) =>
  read(ctx, async (tx) => {
    const { state, environment, expires_at, content_type, bytes, structure } = await captureByToken(tx, ctx, ref);
    return { state, environment, expires_at, content_type, bytes, structure } as z.input<typeof CaptureStatus>;
  });

/**
 * Saves the shape as `payload_structure` of the environment and deletes the request.
 * @throws Refusal not_found, capture_expired, conflict while nothing was sent, validation_error for what has no fields
 */
export function applyCapture(ctx: Ctx, ref: z.output<typeof CaptureRef>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, ref.id);
    const capture = await captureByToken(tx, ctx, ref);
    if (capture.state === 'waiting') throw new Refusal('conflict', 'Nothing was sent to this link yet.');
    assertCaptured(capture);
    const { environment, structure } = capture;
    if (environment === null) throw notFound();
    if (typeof structure !== 'object' || structure === null || Array.isArray(structure))
      throw invalid('token', 'leads to a body without named fields; send a JSON object or a form');
    const { count } = await tx.payload_captures.updateMany({
      where: { ...own(ctx), id: capture.id, state: 'captured' },
      data: { state: 'consumed', ...NO_PAYLOAD },
    });
    if (count === 0) assertCaptured({ state: 'consumed' });
    const [before, draft] = [draftOf(route.configs), draftOf(route.configs)];
    applyPatch(draft, environment, configPatch({ payload_structure: structure }));
    checkDraft(draft);
    await storeSettings(tx, ctx, route, before, draft, new Map([[environment, capture.environment_id]]));
    await tx.routes.update({
      where: { id: route.id, ...own(ctx) },
      data: { config_version: { increment: 1 }, updated_at: ctx.now },
      select: { id: true },
    });
    const after = await routeByRef(tx, ctx, route.id);
    const status = { ...capture, state: 'consumed' } as FoundCapture & { state: 'consumed' };
    return audited(shown(status), configEntry('update', after, environment, route));
  });
}

const shown = ({ state, environment, expires_at, content_type, bytes, structure }: FoundCapture) =>
  ({ state, environment, expires_at, content_type, bytes, structure }) as z.input<typeof CaptureStatus>;

const entry = ({ id, name }: { id: string; name: string }, change: string, environment: string): AuditEntry => ({
  action: 'update',
  resource_type: 'route',
  resource_id: id,
  name,
  details: { change, environment },
});
