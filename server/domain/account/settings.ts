import type { z } from 'zod';
import { useLogo } from '#server/domain/pictures/service.ts';
import { settingsOf, type TenantSettings } from '#server/domain/tenants/schema.ts';
import { canonicalAddress, compileRanges, rangesCover } from '#server/kernel/address.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { allowsMoreAddresses, type Looser, loosened, raised, turnedOff, turnedOn, weaker } from '#server/kernel/loosening.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { hasFactor, mfaRequired } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import { OWNER_SETTINGS, SETTINGS, type Setting, type UpdateWorkspaceSettings } from './schema.ts';

type Row = { name: string; logo: string | null; settings: unknown };

/** What the dashboard alone shows of the workspace. @throws Refusal not_found */
export const getSettings = (ctx: Ctx) => read(ctx, async (tx) => viewOf(await rowOf(tx, ctx)));

/** Changes what is named. @throws Refusal role_denied for what an Owner alone may change, validation_error, not_found */
export function updateSettings(ctx: Ctx, input: z.output<typeof UpdateWorkspaceSettings>) {
  return mutate(ctx, async (tx) => {
    await tx.$queryRaw`select 1 from tenants where id = ${ctx.tenant_id}::uuid for no key update`;
    const row = await rowOf(tx, ctx);
    const given = SETTINGS.filter((name) => input[name] !== undefined);
    assertMaySet(ctx, given);
    const before = settingsOf(row.settings);
    const after = { ...before, ...Object.fromEntries(given.map((name) => [name, input[name]])) };
    if (given.includes('dashboard_ip_allowlist')) after.dashboard_ip_allowlist = reachableRanges(ctx, after.dashboard_ip_allowlist);
    if (input.require_mfa && !before.require_mfa) await assertOwnFactor(tx, ctx);
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened<Settings>(before, after, WORKSPACE_PROTECTIONS));
    const name = input.name ?? row.name;
    const pictured = input.logo_upload_id !== undefined && (await useLogo(tx, ctx, input.logo_upload_id));
    const changed = changesOf({ name: row.name, ...before }, { name, ...after }, ['name', ...given]);
    const changes = [...changed, ...(pictured ? [{ field: 'logo', changed: true as const }] : [])];
    if (changes.length === 0) return unchanged(viewOf(row));
    if (changed.length > 0)
      await tx.tenants.update({
        where: { id: ctx.tenant_id },
        data: { name, settings: storedFrom(row.settings, after, given), updated_at: ctx.now },
        select: { id: true },
      });
    return audited(viewOf(await rowOf(tx, ctx)), {
      action: 'update',
      resource_type: 'tenant',
      resource_id: ctx.tenant_id,
      name,
      changes,
      workspace_level: true,
    });
  });
}

type Settings = Pick<TenantSettings, Setting>;

/** Which changes take a protection from the whole workspace. */
export const WORKSPACE_PROTECTIONS: Looser<Settings> = {
  session_idle_minutes: raised,
  session_max_hours: raised,
  log_payloads_default: weaker('off', 'errors', 'all'),
  dashboard_ip_allowlist: allowsMoreAddresses,
  require_reveal_reason: turnedOff,
  escrow_never_reveal: turnedOff,
  details_withheld: turnedOff,
  require_mfa: turnedOff,
  legacy_key_auth: weaker('disabled', 'enabled'),
  dpop_nonce_required: turnedOff,
  cli_login_enabled: turnedOn,
  allow_client_id_documents: turnedOn,
  // Between these a stolen capability token moves without a word.
  trusted_egress_cidrs: (before, after) => after.length > 0 && !rangesCover(before, after),
  revoke_on_offboarding: turnedOff,
};

const viewOf = ({ name, logo, settings }: Row) => ({ name, logo, ...settingsOf(settings) });

async function rowOf(tx: Tx, ctx: Ctx): Promise<Row> {
  const row = await tx.tenants.findUnique({ where: { id: ctx.tenant_id }, select: { name: true, logo: true, settings: true } });
  if (!row) throw notFound();
  return row;
}

function assertMaySet({ actor }: Ctx, given: readonly Setting[]): void {
  const owners = given.find((name) => OWNER_SETTINGS.has(name));
  if (owners && !(actor.type === 'member' && actor.role === 'owner'))
    throw new Refusal('role_denied', `Only an Owner can change ${owners}. Nothing was saved.`);
}

/** Nobody demands of others what would shut themselves out. @throws Refusal mfa_required */
async function assertOwnFactor(tx: Tx, { actor }: Ctx): Promise<void> {
  if (actor.type === 'member' && !(await hasFactor(tx, actor.id))) throw mfaRequired(env.PUBLIC_ADMIN_URL);
}

/** What differs from the defaults; stored settings that this release doesn't know stay as they are. */
function storedFrom(stored: unknown, after: TenantSettings, given: readonly Setting[]) {
  const defaults = settingsOf({});
  const next: Record<string, unknown> = { ...(stored as Record<string, unknown> | null) };
  for (const name of given)
    if (JSON.stringify(after[name]) === JSON.stringify(defaults[name])) delete next[name];
    else next[name] = after[name];
  return next as Record<string, never>;
}

/** In the stored spelling, each once. @throws Refusal validation_error for a list that would shut out the member who saves it */
function reachableRanges(ctx: Ctx, list: readonly string[]): string[] {
  const ranges = list.flatMap((entry) => {
    const address = canonicalAddress(entry);
    if (address.ok && address.warning) ctx.warnings.push(address.warning);
    return address.ok ? [address.value] : [];
  });
  if (ranges.length > 0 && !(ctx.ip && compileRanges(ranges)(ctx.ip)))
    throw invalid(
      'dashboard_ip_allowlist',
      `must include your own address${ctx.ip ? ` (${ctx.ip})` : ', which is unknown'}, or you would lose access to the dashboard`,
    );
  return [...new Set(ranges)];
}
