import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { adds, type Looser, loosened, turnedOff, turnedOn } from '#server/kernel/loosening.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { confirmChange } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { isClientUrl } from './client-url.shared.ts';
import type { GrantType } from './grants.shared.ts';
import type { ClientType } from './redirect-uris.shared.ts';
import { assertConsistent, grantable, registrable, sorted } from './rules.ts';
import type { UpdateOAuthClient } from './schema.ts';
import { detailOf } from './shape.ts';
import { assertEditable, type ClientRow, lockedClient } from './store.ts';
import { endTokens } from './tokens.ts';

/**
 * Changes a client; live tokens follow at once, because their scopes are cut to those of the client at each use. Turning it off ends its tokens. A change that
 * lets the client do more takes the caller's own grants, and a person's confirmation.
 * @throws Refusal validation_error, privilege_escalation, system_client_protected, not_found, conflict for a revoked client
 */
export function updateClient(ctx: Ctx, { id, ...input }: z.output<typeof UpdateOAuthClient>) {
  return mutate(ctx, async (tx) => {
    const before = await lockedClient(tx, ctx, id);
    assertEditable(before);
    assertImmutable(before, input);
    assertOwnSettings(before, input);
    const data = changedSettings(before, input);
    const after = { ...before, ...data };
    assertConsistent(settingsOf(after));
    const looser = loosens(before, after);
    if (input.allowed_scopes || looser) await grantable(ctx, after.allowed_scopes);
    if (looser) await confirmChange(tx, ctx, env.PUBLIC_ADMIN_URL);
    const ended = before.active && !after.active ? await endTokens(tx, ctx, before.id, 'client_disabled') : {};
    const row = await tx.oauth_clients.update({ where: { id: before.id, ...own(ctx) }, data: { ...data, updated_at: ctx.now } });
    const [first, ...more] = entriesOf(before, row, Object.keys(data), ended);
    return audited(await detailOf(tx, ctx, row), first, ...more);
  });
}

type Changes = Omit<z.output<typeof UpdateOAuthClient>, 'id'>;

function assertImmutable(row: ClientRow, { type, grant_types }: Changes): void {
  if (type !== undefined && type !== row.type) throw invalid('type', "can't be changed. Create a client of the other type.");
  if (grant_types !== undefined && sorted(grant_types).join() !== sorted(row.grant_types).join())
    throw invalid('grant_types', "can't be changed. Create a client with the grants you need.");
}

/** The document at the client's address says what it is; the workspace only says whether it is taken. */
function assertOwnSettings({ client_id }: ClientRow, { active: _, type: __, grant_types: ___, ...settings }: Changes): void {
  const [field] = isClientUrl(client_id) ? Object.keys(settings) : [];
  if (field)
    throw invalid(field, "can't be changed: the client describes itself by the document at its address. Set active, or revoke it.");
}

/** The columns to write. Narrowing allowed_scopes narrows step_up_scopes too, unless they are asked for. */
function changedSettings(row: ClientRow, input: Changes): Partial<Omit<ClientRow, 'created_by'>> {
  const { name, active, require_dpop, consent_html_template, allowed_scopes, step_up_scopes, redirect_uris } = input;
  const stepUp =
    step_up_scopes ?? (allowed_scopes && row.step_up_scopes.filter((scope) => allowed_scopes.some((allowed) => allowed === scope)));
  return {
    ...(name === undefined ? {} : { name }),
    ...(active === undefined ? {} : { active }),
    ...(require_dpop === undefined ? {} : { require_dpop }),
    ...(consent_html_template === undefined ? {} : { consent_html_template }),
    ...(allowed_scopes === undefined ? {} : { allowed_scopes: sorted(allowed_scopes) }),
    ...(stepUp === undefined ? {} : { step_up_scopes: sorted(stepUp) }),
    ...(redirect_uris === undefined ? {} : { redirect_uris: registrable(redirect_uris, row.type as ClientType) }),
  };
}

const settingsOf = (row: ClientRow) => ({ ...row, type: row.type as ClientType, grant_types: row.grant_types as GrantType[] });

/** What a client can do without its person confirming it. */
const unconfirmed = ({ allowed_scopes, step_up_scopes }: ClientRow) => allowed_scopes.filter((scope) => !step_up_scopes.includes(scope));
const judgedSettings = (row: ClientRow) => ({ ...row, unconfirmed_scopes: unconfirmed(row) });

type Judged = Pick<
  ReturnType<typeof judgedSettings>,
  | 'name'
  | 'active'
  | 'require_dpop'
  | 'consent_html_template'
  | 'allowed_scopes'
  | 'step_up_scopes'
  | 'unconfirmed_scopes'
  | 'redirect_uris'
>;

/** Which changes let the client do something that it couldn't before, or with one check less. */
export const CLIENT_PROTECTIONS: Looser<Judged> = {
  name: 'harmless',
  active: turnedOn,
  require_dpop: turnedOff,
  consent_html_template: (before, after) => after !== null && after !== before,
  allowed_scopes: adds,
  // Judged with the scopes that the client is allowed.
  step_up_scopes: 'harmless',
  unconfirmed_scopes: adds,
  redirect_uris: adds,
};

const loosens = (before: ClientRow, after: ClientRow): boolean =>
  loosened<Judged>(judgedSettings(before), judgedSettings(after), CLIENT_PROTECTIONS).length > 0;

/** Turning a client on or off is an entry of its own. */
function entriesOf(before: ClientRow, after: ClientRow, fields: readonly string[], ended: object): [AuditEntry, ...AuditEntry[]] {
  const about = { resource_type: 'oauth_client', resource_id: after.id, name: after.name };
  const changes = changesOf(
    before,
    after,
    fields.filter((field) => field !== 'active'),
  );
  const added = after.allowed_scopes.filter((scope) => !before.allowed_scopes.includes(scope));
  const removed = before.allowed_scopes.filter((scope) => !after.allowed_scopes.includes(scope));
  const scopes = { ...(added.length > 0 ? { scopes_added: added } : {}), ...(removed.length > 0 ? { scopes_removed: removed } : {}) };
  const { client_id } = after;
  const switched: AuditEntry[] =
    before.active === after.active ? [] : [{ ...about, action: after.active ? 'enable' : 'disable', details: { client_id, ...ended } }];
  const updated: AuditEntry = { ...about, action: 'update', changes, details: { client_id, ...scopes } };
  const [first] = switched;
  return first && changes.length === 0 ? [first] : [updated, ...switched];
}
