import type { z } from 'zod';
import { requireFeature } from '#server/domain/plans/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { createCertificate } from './certificates/certificates.ts';
import type { CreateCertificate } from './certificates/schema.ts';
import { createConnection } from './connections/create.ts';
import type { CreateConnection } from './connections/schema.ts';
import type { CreatedSecret, CreateSecret } from './create.schema.ts';
import { createSecret } from './service.ts';

/**
 * One call for every type: the type decides which verb makes it, by the same rules as the call of that type alone.
 * @throws Refusal validation_error, plan_feature, plan_limit, conflict, tenant_sealed
 */
export async function createAnySecret(
  ctx: Ctx,
  { secret_type, ...input }: z.output<typeof CreateSecret>,
): Promise<z.input<typeof CreatedSecret>> {
  switch (secret_type) {
    case 'oauth2':
      requireFeature(ctx, 'oauth2_secrets');
      // The schema required what this type needs.
      return createConnection(ctx, { ...input, grant_type: input.grant_type ?? 'authorization_code' } as z.output<typeof CreateConnection>);
    case 'certificate':
      return createCertificate(ctx, { ...input, certificate_type: input.certificate_type ?? 'pem' } as z.output<typeof CreateCertificate>);
    case 'string':
      // A machine has no later moment at which it would fill the value in.
      if (input.value === undefined && ctx.actor.type !== 'member') throw invalid('value', 'is required');
      return createSecret(ctx, input);
  }
}
