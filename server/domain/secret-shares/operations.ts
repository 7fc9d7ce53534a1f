import { Deleted } from '#server/kernel/fields.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { gateOfCreation, gateOfEdit } from './gates.ts';
import * as incoming from './incoming.ts';
import * as schema from './schema.ts';
import * as shares from './service.ts';

export const list = operation({
  id: 'secret_shares.list',
  summary: 'List the shares of a secret',
  http: 'GET /admin/secrets/{id}/shares',
  kind: 'read',
  needs: ['secret:read'],
  refuses: ['not_found'],
  input: schema.SharesOf,
  output: schema.SecretShares,
  run: (ctx, input) => shares.listShares(ctx, input),
});

const creation = {
  id: 'secret_shares.create',
  summary: 'Share a secret with another workspace',
  http: 'POST /admin/secrets/{id}/shares',
  feature: 'secret_sharing',
  refuses: ['not_found', 'conflict', 'forbidden', 'invalid_type', 'rate_limited', 'tenant_sealed', 'role_denied'],
  input: schema.CreateShare,
  output: schema.SecretShare,
  success: 201,
} as const;
const plainCreation = operation({
  ...creation,
  kind: 'change',
  needs: ['secret:update'],
  run: (ctx, input) => shares.createShare(ctx, input, { disclosing: false }),
});
/** A share to use on named hosts is an ordinary change; any other passes the gate of reveals. */
export const create = operation({
  ...creation,
  kind: 'reveal',
  needs: ['secret:share'],
  reveal: gateOfCreation(plainCreation as AnyOperation),
  run: (ctx, input) => shares.createShare(ctx, input, { disclosing: true }),
});

const edit = {
  id: 'secret_shares.update',
  summary: 'Change a share',
  http: 'PATCH /admin/secrets/{id}/shares/{shareId}',
  refuses: ['not_found', 'conflict', 'forbidden', 'invalid_type', 'plan_feature', 'tenant_sealed', 'role_denied'],
  input: schema.UpdateShare,
  output: schema.SecretShare,
} as const;
const plainEdit = operation({
  ...edit,
  kind: 'change',
  needs: ['secret:update'],
  run: (ctx, input) => shares.updateShare(ctx, input, { raising: false }),
});
/** Raising the level passes the gate of reveals. */
export const update = operation({
  ...edit,
  kind: 'reveal',
  needs: ['secret:share'],
  reveal: gateOfEdit(plainEdit as AnyOperation),
  run: (ctx, input) => shares.updateShare(ctx, input, { raising: true }),
});

export const revoke = operation({
  id: 'secret_shares.revoke',
  summary: 'Revoke a share',
  http: 'DELETE /admin/secrets/{id}/shares/{shareId}',
  kind: 'change',
  needs: ['secret:update'],
  while_inactive: true,
  refuses: ['not_found'],
  input: schema.ShareRef,
  output: schema.SecretShare,
  run: (ctx, input) => shares.revokeShare(ctx, input),
});

export const resend = operation({
  id: 'secret_shares.resend',
  summary: 'Mail the offer of a share again',
  http: 'POST /admin/secrets/{id}/shares/{shareId}/resend',
  kind: 'change',
  needs: ['secret:update'],
  feature: 'secret_sharing',
  refuses: ['not_found', 'conflict', 'rate_limited', 'role_denied'],
  input: schema.ShareRef,
  output: schema.SecretShare,
  run: (ctx, input) => shares.resendShare(ctx, input),
});

export const listIncoming = operation({
  id: 'secret_shares.incoming',
  summary: 'List what other workspaces share with this one',
  http: 'GET /admin/secret-shares/incoming',
  kind: 'read',
  needs: ['secret:read'],
  refuses: [],
  input: schema.NoInput,
  output: schema.IncomingShares,
  run: (ctx) => incoming.incomingShares(ctx),
});

export const claim = operation({
  id: 'secret_shares.claim',
  summary: 'Accept a share into this workspace',
  http: 'POST /admin/secret-shares/claim',
  kind: 'change',
  needs: ['secret:create'],
  refuses: ['share_not_found', 'plan_limit', 'conflict', 'forbidden', 'role_denied', 'rate_limited'],
  input: schema.ClaimShare,
  output: schema.ClaimedShare,
  success: 201,
  run: (ctx, input) => incoming.claimShare(ctx, input),
});

export const decline = operation({
  id: 'secret_shares.decline',
  summary: 'Decline a share',
  http: 'POST /admin/secret-shares/incoming/{shareId}/decline',
  kind: 'change',
  needs: ['secret:create'],
  refuses: ['not_found', 'forbidden', 'role_denied'],
  input: schema.IncomingRef,
  output: schema.DeclinedShare,
  run: (ctx, input) => incoming.declineShare(ctx, input),
});

export const leave = operation({
  id: 'secret_shares.leave',
  summary: 'Give up a share',
  http: 'DELETE /admin/secret-shares/incoming/{shareId}',
  kind: 'change',
  needs: ['secret:delete'],
  while_inactive: true,
  refuses: ['not_found', 'in_use', 'forbidden'],
  input: schema.IncomingRef,
  output: Deleted,
  run: (ctx, input) => incoming.leaveShare(ctx, input),
});
