import { randomBase64url } from '#server/crypto/random.ts';
import { digest } from '#server/crypto/tokens.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import type { Places } from '#server/platform/geoip.ts';
import { network, take } from '#server/platform/throttle.ts';

const day = 24 * 3_600_000;
/** As long as browsers keep any cookie. */
const lifetime = 400 * day;
/** Ended sessions, and with them what we know of devices, are forgotten after this time. */
const remembered = 30 * day;

/** The browser of this call by its device cookie, which it gets here when it has none. Only the digest is stored. */
export function deviceOf(ctx: PersonCtx): Uint8Array<ArrayBuffer> {
  const token = ctx.device !== null && /^[A-Za-z0-9_-]{43}$/.test(ctx.device) ? ctx.device : randomBase64url(32);
  ctx.cookies.device = { token, expires_at: new Date(ctx.now.getTime() + lifetime) };
  return new Uint8Array(digest(token));
}

/**
 * Whose tries a sign-in counts among: those of everybody for the address, or of this browser alone once the account was used from it. Strangers who guess
 * cannot lock a person out of their own browser then, and whoever has its cookie has as many tries as anybody.
 */
export async function countedWith(db: Db, ctx: Pick<PersonCtx, 'device'>, email: string): Promise<string> {
  return (await isKnownDevice(db, ctx, email)) ? `${email} ${ctx.device}` : email;
}

/** Whether the account signed in from this browser before. */
export async function isKnownDevice(db: Db, { device }: Pick<PersonCtx, 'device'>, email: string): Promise<boolean> {
  if (device === null) return false;
  const where = { user: { email }, device_digest: new Uint8Array(digest(device)) };
  return (await db.sessions.findFirst({ where, select: { id: true } })) !== null;
}

/**
 * Whether another mail may go to the address: three in 15 minutes for a browser the account knows, whatever anyone else asks for. Other callers have
 * three per network and six together, so that they can neither flood the mailbox nor stop its owner.
 */
export async function mayMail(
  db: Db,
  ctx: Pick<PersonCtx, 'device' | 'ip' | 'now'>,
  what: 'magic' | 'forgot',
  email: string,
): Promise<boolean> {
  const rule = (name: string, subject: string, limit: number) => ({ what: name, subject, limit, window_sec: 900 });
  if (await isKnownDevice(db, ctx, email)) return (await take(rule(what, `${email} ${ctx.device}`, 3), ctx.now)).allowed;
  const own = await take(rule(what, `${email} ${network(ctx.ip)}`, 3), ctx.now);
  if (!own.allowed) return false;
  const together = await take(rule(`${what}-strangers`, email, 6), ctx.now);
  if (!together.allowed) await own.give_back();
  return together.allowed;
}

/**
 * Whether somebody should hear of this sign-in (interface rule 22 §4, New device): the account was used before, and never by this browser. A browser
 * is known by its cookie; a program without one by its name and network together, since a name alone is what an attacker copies first.
 */
export async function isNewDevice(
  tx: Tx,
  ctx: PersonCtx,
  user: { id: string; created_at: Date },
  device: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const earlier = await tx.sessions.findMany({
    where: { user_id: user.id, OR: [{ device_digest: device }, { user_agent: ctx.user_agent?.slice(0, 256) ?? null }] },
    select: { device_digest: true, ip: true },
    orderBy: { created_at: 'desc' },
    take: 500,
  });
  const here = network(ctx.ip);
  if (earlier.some((s) => (s.device_digest && Buffer.compare(s.device_digest, device) === 0) || network(s.ip) === here)) return false;
  if (ctx.now.getTime() - user.created_at.getTime() > remembered) return true;
  return (await tx.sessions.findFirst({ where: { user_id: user.id }, select: { id: true } })) !== null;
}

/**
 * Whether the account is used from a country that none of its remembered sessions was in (interface rule 22 §4, New device or country), also by a browser
 * that is known. Never where a country is not known: that of this call, or that of every session before.
 */
export async function isNewCountry(tx: Tx, ctx: PersonCtx, user: { id: string }, known: Places | null): Promise<boolean> {
  const here = known?.of(ctx.ip).country;
  if (!known || !here) return false;
  const earlier = await tx.sessions.findMany({
    where: { user_id: user.id, ip: { not: null } },
    select: { ip: true },
    orderBy: { created_at: 'desc' },
    take: 500,
  });
  const countries = earlier.flatMap(({ ip }) => known.of(ip).country ?? []);
  return countries.length > 0 && !countries.includes(here);
}
