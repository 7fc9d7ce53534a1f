import type { z } from 'zod';
import { postTeamMails } from '#server/domain/mail/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { sharedValueEdited } from './letters.ts';
import { inSharingWorkspace, type Link, requireActive } from './links.ts';
import type { PutValue } from './schema.ts';
import { lockedSecret } from './store.ts';
import { sealNewValue, writeValue } from './values.ts';

type Linked = { secret: { id: string; name: string }; link: Link };

/**
 * A new value of a linked secret is one of the secret it leads to: sealed under the owner's key, written there, audited in both workspaces, and its Owners are
 * mailed. @throws Refusal forbidden without the level manage or once the share ended, not_found, invalid_type, conflict, tenant_sealed
 */
export async function putSharedValue(
  ctx: Ctx,
  input: z.output<typeof PutValue>,
  { secret, link }: Linked,
  expected: number | '*' | undefined,
) {
  const { owner_tenant_id, environment, access_level } = requireActive(link, secret.name);
  requireManage(access_level, secret.name);
  if (input.environment !== undefined && input.environment !== environment) throw notFound();
  const sealed = await sealNewValue({ ...ctx, tenant_id: owner_tenant_id }, input.value);
  return mutate(ctx, async (tx) => {
    const version = await inSharingWorkspace(tx, ctx, link.share_id, async (there, shared) => {
      requireManage(shared.active ? shared.access_level : 'use', secret.name);
      // The value was sealed for this place; a share never moves, but a renamed environment would take it elsewhere.
      if (there.tenant_id !== owner_tenant_id || shared.environment !== environment)
        throw new Refusal('conflict', 'The share was changed at the same time. Try again.');
      const owned = await lockedSecret(tx, there, shared.secret_id, { for: 'change' });
      if (owned.secret_type !== 'string')
        throw new Refusal('invalid_type', `This secret is of type ${owned.secret_type}. This call only supports string secrets.`);
      const written = await writeValue(tx, there, { secret_id: owned.id, environment_name: environment }, sealed, expected);
      if (written === undefined)
        throw new Refusal(
          'conflict',
          `The value of ${secret.name} in ${environment} doesn't have the version in If-Match. Read the secret again and retry.`,
        );
      await tx.secrets.update({ where: { id: owned.id, ...own(there) }, data: { updated_at: ctx.now }, select: { id: true } });
      const workspace = await tx.tenants.findUniqueOrThrow({ where: { id: there.tenant_id }, select: { name: true, slug: true } });
      const url = `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/${spaceOf(ctx.sandbox)}/secrets/${owned.id}`;
      const letter = sharedValueEdited({ workspace: workspace.name, secret: owned.name, environment, by: there.actor.label }, url);
      await postTeamMails(tx, { tenant_id: there.tenant_id, kind: 'shared_value_edited', letter, now: ctx.now });
      return audited(
        written,
        rotated(owned, { environment, value_version: written, share_id: shared.share_id, shared_to_tenant: ctx.tenant_id }),
      );
    });
    return audited(
      { id: secret.id, name: secret.name, environment, value_version: version },
      rotated(secret, { environment, value_version: version, share_id: link.share_id, shared_from_tenant: owner_tenant_id }),
    );
  });
}

const rotated = ({ id, name }: { id: string; name: string }, details: Record<string, unknown>): AuditEntry => ({
  action: 'rotate',
  resource_type: 'secret',
  resource_id: id,
  name,
  details: { ...details, kind: 'value_set' },
});

function requireManage(level: string, name: string): void {
  if (level !== 'manage')
    throw new Refusal(
      'forbidden',
      `${name} is shared with this workspace without the right to change its value. Ask for the level "Can manage".`,
    );
}
