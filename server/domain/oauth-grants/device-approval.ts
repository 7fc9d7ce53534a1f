import { hasDigest } from '#server/crypto/tokens.ts';
import { CLI_ALIAS } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { chosen, lockSignedIn, type WorkspaceRow, withinScope, workspacesOf } from '#server/domain/people/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { places } from '#server/platform/geoip.ts';
import { appOf, CLI_APP } from './authorize-requests.ts';
import { cliClientOf } from './cli-client.ts';
import { clientByRow } from './client.ts';
import { auditGrant, beyondRole } from './consent.ts';
import { proveConsent } from './consent-proof.ts';
import { appView, type PageQuery, placeView } from './consent-view.ts';
import { shownUserCode, userCodeOf } from './device-codes.ts';
import { handleDigest, isHandle } from './handles.ts';
import { tellOfGrant } from './notices.ts';
import { assertMayLogIn, type Offer, offerOf } from './offers.ts';
import type { DevicePageView } from './view.shared.ts';

export type DevicePage = { state: 'over' } | { state: 'ask'; view: DevicePageView };

type PendingDevice = NonNullable<Awaited<ReturnType<typeof pendingDevice>>>;

/** The device of a handle that waits for a decision; null when it is over, whatever ended it. */
async function pendingDevice(tx: Db | Tx, handle: string, now: Date) {
  if (!isHandle(handle)) return null;
  const row = await tx.oauth_device_codes.findUnique({ where: { handle_digest: handleDigest(handle) } });
  if (!row || row.state !== 'pending' || row.expires_at <= now || !row.handle_until || row.handle_until <= now) return null;
  if (row.client_row_id === null) return { ...row, app: CLI_APP };
  const client = await clientByRow(row.client_row_id, now);
  return client?.active ? { ...row, app: appOf(client) } : null;
}

/** What the approval page shows to the session that opened it first (interface rule 21 §6). */
export async function devicePage(
  ctx: SignedInCtx,
  handle: string,
  { workspace, confirmed, code }: PageQuery & { code: string | null },
): Promise<DevicePage> {
  const device = await pendingDevice(ctx.db, handle, ctx.now);
  if (!device || !(await tied(ctx, device))) return { state: 'over' };
  const place = await placeView(
    ctx,
    { ...device, client: device.app },
    {
      fixed: device.tenant_id,
      confirmed,
      of: () => placeOfDevice(ctx, device, workspace),
    },
  );
  const { ip, user_agent, created_at } = device;
  const { country, city } = (await places())?.of(ip) ?? { country: null, city: null };
  return {
    state: 'ask',
    view: {
      ...place,
      app: await appView(ctx, device.app),
      space: device.sandbox ? 'test' : 'live',
      account: { email: ctx.user.email, name: ctx.user.full_name },
      user_code: ownCode(device, code),
      device: { ip, country, city, user_agent, asked_at: created_at.toISOString() },
    },
  };
}

/** The code as it came with the person, only if it is the device's: it is stored as a digest. */
function ownCode({ user_code_digest }: PendingDevice, code: string | null): string | null {
  const letters = code === null ? null : userCodeOf(code);
  return letters !== null && hasDigest(letters, user_code_digest) ? shownUserCode(letters) : null;
}

export type DeviceDecision = { handle: string; decision: 'allow' | 'deny'; workspace: string | null };

/**
 * Approves or denies the login of a device, once (interface rule 21 §6).
 * @throws Refusal not_found when it is over, step_up_required, mfa_required, role_denied for scopes beyond the role, what entering the workspace takes
 */
export async function decideDevice(ctx: SignedInCtx, { handle, decision, workspace }: DeviceDecision): Promise<'approved' | 'denied'> {
  const device = await pendingDevice(ctx.db, handle, ctx.now);
  if (!device || device.session_id !== ctx.session.id) throw deviceOver();
  if (decision === 'deny') {
    const place = await placeOfDevice(ctx, device, workspace).catch(() => null);
    await deny(ctx, device, place, 'The person denied the request.');
    return 'denied';
  }
  const place = await placeOfDevice(ctx, device, workspace);
  const offer = offerOf({ ...device, client: device.app }, place);
  if (offer.denied) {
    await deny(ctx, device, place, beyondRole(offer));
    return 'denied';
  }
  await approve(ctx, device, place, offer);
  return 'approved';
}

/** The approval goes back to whoever enters the code next. @throws Refusal not_found */
export async function releaseDevice(ctx: SignedInCtx, handle: string): Promise<void> {
  const device = await pendingDevice(ctx.db, handle, ctx.now);
  if (!device || device.session_id !== ctx.session.id) throw deviceOver();
  await ctx.db.oauth_device_codes.updateMany({
    where: { id: device.id, session_id: ctx.session.id, state: 'pending' },
    data: { session_id: null },
  });
}

async function approve(ctx: SignedInCtx, device: PendingDevice, place: WorkspaceRow, offer: Offer): Promise<void> {
  const tell = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    const call = await proveConsent(tx, ctx, offer);
    const { sandbox } = device;
    const client_row_id = device.app.row?.id ?? (await cliClientOf(tx, { tenant_id: place.id, sandbox, now: ctx.now })).id;
    const family_id = newId();
    await close(tx, ctx, device, {
      state: 'approved',
      tenant_id: place.id,
      client_row_id,
      user_id: ctx.user.id,
      scopes: offer.scopes,
      family_id,
      step_up_at: call.step_up ? ctx.now : null,
    });
    const client = await tx.oauth_clients.findUniqueOrThrow({ where: { id: client_row_id }, select: { client_id: true, name: true } });
    await auditGrant(
      tx,
      call,
      { tenant_id: place.id, sandbox },
      {
        action: 'create',
        resource_id: family_id,
        name: client.name,
        details: { flow: 'device', client_id: client.client_id, scopes: offer.scopes, device_ip: device.ip },
      },
    );
    return tellOfGrant(tx, ctx, { client_row_id, user_id: ctx.user.id, family_id, client: client.name, workspace: place.name, sandbox });
  });
  tell();
}

const deny = (ctx: SignedInCtx, device: PendingDevice, place: WorkspaceRow | null, reason: string): Promise<void> =>
  ctx.db.$transaction(async (tx) => {
    await close(tx, ctx, device, { state: 'denied' });
    if (!place) return;
    await auditGrant(
      tx,
      ctx,
      { tenant_id: place.id, sandbox: device.sandbox },
      {
        action: 'dismiss',
        resource_id: null,
        name: device.app.name,
        reason,
        details: { flow: 'device', client_id: device.app.row?.client_id ?? CLI_ALIAS, scopes: device.scopes, device_ip: device.ip },
      },
    );
  });

type Decided =
  | { state: 'denied' }
  | {
      state: 'approved';
      tenant_id: string;
      client_row_id: string;
      user_id: string;
      scopes: string[];
      family_id: string;
      step_up_at: Date | null;
    };

/** One compare-and-set on the pending row: of two decisions at once, one counts. @throws Refusal not_found */
async function close(tx: Tx, ctx: SignedInCtx, device: PendingDevice, decided: Decided): Promise<void> {
  const { count } = await tx.oauth_device_codes.updateMany({
    where: { id: device.id, state: 'pending', expires_at: { gt: ctx.now } },
    data: { ...decided, decided_at: ctx.now, handle_digest: null, handle_until: null },
  });
  if (count !== 1) throw deviceOver();
}

async function tied(ctx: SignedInCtx, device: PendingDevice): Promise<boolean> {
  if (device.session_id !== null) return device.session_id === ctx.session.id;
  const { count } = await ctx.db.oauth_device_codes.updateMany({
    where: { id: device.id, session_id: null },
    data: { session_id: ctx.session.id },
  });
  if (count === 1) return true;
  const now = await ctx.db.oauth_device_codes.findUnique({ where: { id: device.id }, select: { session_id: true } });
  return now?.session_id === ctx.session.id;
}

async function placeOfDevice(ctx: SignedInCtx, device: PendingDevice, wanted: string | null): Promise<WorkspaceRow> {
  const workspaces = await workspacesOf(ctx.db, ctx.user.id);
  const fixed = device.tenant_id;
  const place = chosen(fixed === null ? withinScope(workspaces, ctx.session) : workspaces, fixed ?? wanted, ctx.session);
  await assertMayLogIn(ctx.db, ctx, place, device.app.is_cli);
  return place;
}

const deviceOver = () => new Refusal('not_found', 'This login has ended. Start it again on your device.');
