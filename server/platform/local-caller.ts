import type { PersonCtx } from '#server/kernel/person.ts';
import { env } from './env.ts';

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);
const LOOPBACK_ADDRESSES = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/**
 * Whether a person sits at the machine of a local installation. All must hold: the dashboard's address is this machine's, the call comes from it directly
 * (a tunnel or proxy on this machine is not the caller), and the browser asked for a loopback name, so a page of a foreign name that resolves here
 * does not count.
 */
export function isOnThisMachine(ctx: Pick<PersonCtx, 'host' | 'relayed' | 'ip'>): boolean {
  const name = URL.parse(`http://${ctx.host}`)?.hostname ?? '';
  return (
    LOOPBACK_NAMES.has(new URL(env.PUBLIC_ADMIN_URL).hostname) &&
    LOOPBACK_NAMES.has(name) &&
    !ctx.relayed &&
    ctx.ip !== null &&
    LOOPBACK_ADDRESSES.has(ctx.ip)
  );
}
