import { randomOf } from '#server/crypto/random.ts';
import { classifyCredential, digest, mintToken } from '#server/crypto/tokens.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { OAuthClient } from './client.ts';
import { handleDigest, newHandle } from './handles.ts';

export const DEVICE_SECONDS = 900;
const INTERVAL_SECONDS = 5;
const HANDLE_MS = 10 * 60_000;

/** Without vowels, so that no word comes out, and without what is mistaken for another letter. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;

export type DeviceStart = {
  /** Null for the alias service-cli: the workspace is chosen when the person approves. */
  client: Pick<OAuthClient, 'id' | 'tenant_id' | 'sandbox'> | null;
  sandbox: boolean;
  scopes: string[];
  scope_named: boolean;
  /** Whether the client asks for a login that is confirmed with a second factor. */
  confirm: boolean;
  resource: string | null;
  ip: string | null;
  user_agent: string | null;
  now: Date;
};

/** A pending device authorization (RFC 8628 §3.2). Both codes are stored as digests. */
export async function startDevice(db: Db, { client, now, ...asked }: DeviceStart) {
  for (;;) {
    const { token, digest: codeDigest } = mintToken('device_code');
    const letters = randomOf(LETTERS, 8);
    // Another device may wait with the same eight letters: once in a few billion.
    const { count } = await db.oauth_device_codes.createMany({
      data: [
        {
          ...asked,
          id: newId(),
          digest: new Uint8Array(codeDigest),
          user_code_digest: new Uint8Array(digest(letters)),
          client_row_id: client?.id ?? null,
          tenant_id: client?.tenant_id ?? null,
          sandbox: client?.sandbox ?? asked.sandbox,
          user_agent: asked.user_agent?.slice(0, 256) ?? null,
          interval_sec: INTERVAL_SECONDS,
          created_at: now,
          expires_at: new Date(now.getTime() + DEVICE_SECONDS * 1000),
        },
      ],
      skipDuplicates: true,
    });
    if (count === 1)
      return { device_code: token, user_code: shownUserCode(letters), expires_in: DEVICE_SECONDS, interval: INTERVAL_SECONDS };
  }
}

/** `WDJB-MJHT`. */
export const shownUserCode = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** The eight letters of what somebody typed; null when it is no user code. Case, spaces and dashes don't matter. */
export function userCodeOf(typed: string): string | null {
  const letters = typed
    .slice(0, 40)
    .toUpperCase()
    .replace(/[\s\-‐-―−]/g, '');
  return USER_CODE.test(letters) ? letters : null;
}

/**
 * A handle for the approval page of the device that waits with this code; null when none does. Entering the code again gives a new handle, and the earlier
 * one ends with it.
 */
export async function claimDevice(db: Db, letters: string, now: Date): Promise<string | null> {
  const handle = newHandle();
  const { count } = await db.oauth_device_codes.updateMany({
    where: { user_code_digest: new Uint8Array(digest(letters)), state: 'pending', expires_at: { gt: now } },
    data: { handle_digest: handleDigest(handle), handle_until: new Date(now.getTime() + HANDLE_MS), session_id: null },
  });
  return count === 1 ? handle : null;
}

/** What a poll finds (interface rule 21 §6). `approved` is answered once: the row is redeemed then. */
export type Poll = { state: 'pending' | 'too_early' | 'expired' | 'denied' | 'unknown' } | { state: 'approved'; row: Redeemed };

export type Redeemed = {
  id: string;
  tenant_id: string;
  client_row_id: string;
  user_id: string;
  scopes: string[];
  resource: string | null;
  family_id: string;
  step_up_at: Date | null;
};

/**
 * Looks at the device code for a poll and moves it on, under its lock, in the transaction that issues the tokens. `asks` says whether the code belongs to
 * the client that polls; `held` is the person whom the transaction holds. Approved by somebody else a moment ago, the code is redeemed by the next poll.
 */
export async function pollDevice(
  tx: Tx,
  code: string,
  { asks, held, now }: { asks: (row: { client_row_id: string | null }) => Promise<boolean>; held: string | null; now: Date },
): Promise<Poll> {
  if (classifyCredential(code).kind !== 'device_code') return { state: 'unknown' };
  const found = await tx.$queryRaw<
    { id: string }[]
  >`select id::text from oauth_device_codes where digest = ${new Uint8Array(digest(code))} for update`;
  const row = found[0] && (await tx.oauth_device_codes.findUnique({ where: { id: found[0].id } }));
  if (!row || row.state === 'redeemed' || !(await asks(row))) return { state: 'unknown' };
  if (row.state === 'denied') return { state: 'denied' };
  if (row.expires_at <= now) return { state: 'expired' };
  if (row.state === 'pending' || row.user_id !== held) {
    const early = row.last_polled_at !== null && now.getTime() - row.last_polled_at.getTime() < row.interval_sec * 1000;
    await tx.oauth_device_codes.update({
      where: { id: row.id },
      data: { last_polled_at: now, ...(early ? { interval_sec: row.interval_sec + INTERVAL_SECONDS } : {}) },
    });
    return { state: early ? 'too_early' : 'pending' };
  }
  await tx.oauth_device_codes.update({ where: { id: row.id }, data: { state: 'redeemed' } });
  const { tenant_id, client_row_id, user_id, family_id } = row;
  if (!tenant_id || !client_row_id || !user_id || !family_id) throw new Error('an approved device lacks what it was approved for');
  const { id, scopes, resource, step_up_at } = row;
  return { state: 'approved', row: { id, tenant_id, client_row_id, user_id, family_id, scopes, resource, step_up_at } };
}
