import type { z } from 'zod';
import { mintStandardSecret } from '#server/crypto/transit/standard-secret.ts';
import { whenSealed } from '#server/domain/secrets/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { RotateInboundSecret } from './schema.ts';
import { sealSecret } from './sealing.ts';
import { entryOf, standingBehind } from './service.ts';
import { inboundById, lockedInbound } from './store.ts';

/**
 * Ends the secret before at once (interface rule 60 §9). Whoever has the new one can call the route of the receiver.
 * @throws Refusal not_found, tenant_sealed, forbidden or role_denied to call the route
 */
export async function rotateInboundSecret(ctx: Ctx, { id, secret }: z.output<typeof RotateInboundSecret>) {
  const known = await read(ctx, (tx) => inboundById(tx, ctx, id));
  const secret_key = secret ?? mintStandardSecret();
  // Sealed before the transaction opens, so that no lock waits for a key.
  const sealed = await sealSecret(ctx, known.id, secret_key).catch(whenSealed);
  return mutate(ctx, async (tx) => {
    const row = await lockedInbound(tx, ctx, known.id);
    const authority = await standingBehind(ctx, row.forward_route_id);
    await tx.inbound_webhooks.update({
      where: { id: row.id },
      data: { ...sealed, authority, secret_changed_at: ctx.now, updated_at: ctx.now },
    });
    const answer = { id: row.id, secret_key: secret === undefined ? secret_key : null, secret_changed_at: ctx.now };
    return audited(answer, { ...entryOf('rotate', row), details: { field: 'secret' } });
  });
}
