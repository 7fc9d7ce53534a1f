import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { makeSecret } from './gateway.fixture.ts';

/** A secret of one workspace, shared with another, which has it as ALIAS. Without more it is shared for use only, for any host. */
export async function shareSecret(
  values: Record<string, string>,
  more: Record<string, unknown> = {},
  linkMore: Record<string, unknown> = {},
) {
  const [owner, recipient] = [await workspace(), await workspace()];
  const secret = await makeSecret(owner, 'CANONICAL', values);
  // The link is written last: a picture of the recipient that is loaded in between would show it as revoked.
  const linkedId = newId();
  const share = await db().secret_shares.create({
    data: {
      ...{ id: newId(), tenant_id: owner.tenant.id, sandbox: false, secret_id: secret.id },
      ...{ secret_name: 'CANONICAL', environment_name: 'production', recipient_email: 'p@partner.example' },
      ...{ access_level: 'use', unrestricted: true, status: 'active' },
      ...{ token_expires_at: new Date(), created_by: newId(), inviter_label: 'o@owner.example' },
      ...{ recipient_tenant_id: recipient.tenant.id, recipient_tenant_name: 'R', linked_secret_id: linkedId, ...more },
    } as never,
  });
  const linked = await linkTo(recipient, share.id, { id: linkedId, ...linkMore });
  return { owner, recipient, secret, share, linked };
}

export const linkTo = (w: Workspace, linked_share_id: string, more: Record<string, unknown> = {}) =>
  makeSecret(w, 'ALIAS', {}, { linked_share_id, ...more });
