import type { z } from 'zod';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { NotConnected, readConnection, TokenUnavailable } from '#server/custody/connections/connection.ts';
import { accessToken } from '#server/custody/connections/connections.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { audited, unchanged } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import { keyring } from '#server/platform/keys.ts';
import { inSharingWorkspace, type Link, linkOf, requireActive, type Shared } from './links.ts';
import { escrowNeverReveals } from './pins.ts';
import type { RevealSecret } from './schema.ts';
import { secretById } from './store.ts';
import { openVersion } from './values.ts';

type Input = z.output<typeof RevealSecret>;

/** Row 1 of interface rule 32 §2. */
export const revealOfValue: Reveal<Input> = {
  class: 'A',
  scope: 'plaintext.reveal',
  policy: 'secret:reveal',
  subject: async (ctx, { id }) => {
    const { name } = await read(ctx, (tx) => secretById(tx, ctx, id));
    return { resource_type: 'secret', resource_id: id, name };
  },
  state: (ctx, { id, environment }) =>
    read(ctx, async (tx) => {
      const secret = await secretById(tx, ctx, id);
      if (secret.is_escrow && (await escrowNeverReveals(tx, ctx)))
        throw new Refusal(
          'reveal_policy_denied',
          `${secret.name} is in escrow, and this workspace never reveals wrap credentials. An Owner can change that in its settings.`,
        );
      const link = await linkOf(tx, ctx, secret);
      if (link) return sharedState(link, secret, environment);
      if (secret.secret_type === 'certificate')
        throw new Refusal('use_certificate_download', 'This secret is a certificate. Download it instead of revealing its value.');
      const wanted = environment ?? secret.base_environment;
      const held =
        wanted === null
          ? null
          : await tx.secret_environments.findFirst({
              where: { ...own(ctx), secret_id: id, environment_name: wanted, current_value_id: { not: null } },
              select: { environment_name: true, value_version: true },
            });
      if (!held)
        throw new Refusal('not_found', wanted === null ? `${secret.name} has no value yet.` : `${secret.name} has no value in ${wanted}.`);
      return { environment: held.environment_name, value_version: held.value_version };
    }),
  // A shared value is on record in both workspaces, or it isn't shown (interface rule 30 §14.5, rule 7).
  beside: async (tx, ctx, _input, { action, details = {} }) => {
    const { share_id, kind, class: of, scope, method, environment, value_version, outcome } = details;
    if (typeof share_id !== 'string') return;
    await inSharingWorkspace(tx, ctx, share_id, async (_there, shared) => {
      requireVisible(shared);
      return audited(undefined, {
        action,
        resource_type: 'secret',
        resource_id: shared.secret_id,
        name: shared.secret_name,
        details: { share_id, kind, class: of, scope, method, environment, value_version, outcome, shared_to_tenant: ctx.tenant_id },
      });
    });
  },
};

/** @throws Refusal forbidden, share_use_only, not_found, tenant_sealed when the owner's key can't be had */
async function sharedState(link: Link, { name, secret_type }: { name: string; secret_type: string }, environment: string | undefined) {
  const { owner_tenant_id, share_id, ...shared } = requireActive(link, name);
  requireVisible({ access_level: secret_type === 'string' ? shared.access_level : 'use', active: true });
  if (environment !== undefined && environment !== shared.environment)
    throw new Refusal('not_found', `${name} is only shared for the environment ${shared.environment}.`);
  if (shared.value_version === null) throw new Refusal('not_found', `${name} has no value in ${shared.environment}.`);
  await keyring()
    .activeTmk(owner_tenant_id)
    .catch((error: unknown) => {
      if (!(error instanceof TenantKeyUnavailable)) throw error;
      throw new Refusal(
        'tenant_sealed',
        `The encryption key of ${shared.owner_workspace} is unavailable. Nothing was shown. Try again later.`,
        {
          retryAfter: 30,
          cause: error,
        },
      );
    });
  return { environment: shared.environment, value_version: shared.value_version, share_id, shared_from_tenant: owner_tenant_id };
}

/** @throws Refusal share_use_only */
function requireVisible({ access_level, active }: Pick<Shared, 'access_level' | 'active'>): void {
  if (!active || access_level === 'use')
    throw new Refusal(
      'share_use_only',
      'This secret is shared for use in calls only. Ask the workspace that shares it for the level "Can view".',
    );
}

/** The value whose version the audit entry names, even if a new one was set a moment ago. */
export async function revealValue(ctx: Ctx, { id }: Input) {
  const { environment, value_version, share_id } = ctx.granted as { environment: string; value_version: number; share_id?: string };
  const connected = share_id === undefined ? await tokenOf(ctx, { secretId: id, environment }) : undefined;
  if (connected) return { id, environment, value_version, ...connected };
  const { name, plain } = await read(ctx, async (tx) => {
    const { name } = await secretById(tx, ctx, id);
    const open = (at: Ctx, secret_id: string) => openVersion(tx, at, { secret_id, environment_name: environment }, value_version);
    if (share_id === undefined) return { name, plain: await open(ctx, id) };
    return {
      name,
      plain: await inSharingWorkspace(tx, ctx, share_id, async (there, shared) => unchanged(await open(there, shared.secret_id))),
    };
  });
  try {
    return { id, name, environment, value_version, value: plain.toString('utf8') };
  } finally {
    plain.fill(0);
  }
}

/** The live access token of an oauth2 secret; undefined for other types. @throws Refusal conflict when there is none */
async function tokenOf(ctx: Ctx, ref: { secretId: string; environment: string }) {
  if (!(await readConnection(ctx, ref))) return undefined;
  try {
    const { access_token, connection } = await accessToken(ctx, ref);
    return { name: connection.name, value: access_token.reveal(), token_expires_at: connection.expires_at };
  } catch (error) {
    if (error instanceof NotConnected || error instanceof TokenUnavailable) throw new Refusal('conflict', error.message);
    throw error;
  }
}
