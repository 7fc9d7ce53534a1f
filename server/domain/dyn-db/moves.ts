import { confirmMove } from '#server/domain/reveals/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { canonicalName, changedFields } from '#server/kernel/moves.ts';
import { DEFAULT_PORTS } from './engines.shared.ts';
import { type ConnectionOptions, SSL_MODES } from './schema.ts';
import type { ConnectionRow } from './store.ts';

/** Fields of an update that say where the admin's password is sent, and to whom it is shown there. */
export const PLACES = [
  'host',
  'port',
  'agent_id',
  'connect_options.sslmode',
  'connect_options.tls',
  'connect_options.ca_cert_pem',
  'connect_options.srv',
] as const;

/** The places of a connection that an update changes. A stricter check of the server's certificate moves nothing. */
export function movedPlaces(before: ConnectionRow, after: ConnectionRow): string[] {
  const [from, to] = [placeOf(before), placeOf(after)];
  const { trust: _, ...named } = from;
  const weaker = to.trust < from.trust ? [before.engine === 'mongo' ? 'connect_options.tls' : 'connect_options.sslmode'] : [];
  // Without a check of certificates, whose CA they must be from says nothing yet.
  const pin = from.trust > CHECKS_NOTHING && from.ca !== to.ca ? ['connect_options.ca_cert_pem'] : [];
  const places = changedFields({
    host: [named.host, to.host],
    port: [named.port, to.port],
    agent_id: [named.agent_id, to.agent_id],
    'connect_options.srv': [named.srv, to.srv],
  });
  return [...places, ...weaker, ...pin];
}

const placeOf = ({ engine, host, port, agent_id, connect_options: options }: ConnectionRow) => ({
  host: canonicalName(host),
  port: port ?? DEFAULT_PORTS[engine],
  agent_id,
  srv: options.srv ?? false,
  trust: trustOf(engine, options),
  ca: options.ca_cert_pem?.trim() ?? null,
});

/** How much of the server's certificate is checked, as server/platform/databases/tls.ts does. */
const trustOf = (engine: ConnectionRow['engine'], { sslmode = 'require', tls = true }: ConnectionOptions): number =>
  SSL_MODES.indexOf(engine === 'mongo' ? (tls ? 'verify-full' : 'disable') : sslmode);
const CHECKS_NOTHING = SSL_MODES.indexOf('require');

/** The admin's password stays with a connection whose place changes only as `confirmMove` allows. `given`: this request sets it anew. */
export async function confirmPlaces(
  tx: Tx,
  ctx: Ctx,
  { id, name }: ConnectionRow,
  { moved, given, again, route }: { moved: readonly string[]; given: boolean; again: readonly string[]; route: string },
) {
  if (moved.length === 0 || given) return {};
  const stored = await tx.dyn_db_passwords.count({ where: { ...own(ctx), connection_id: id } });
  const kept = stored > 0 ? ['admin_password'] : [];
  return confirmMove(tx, ctx, { moved, kept, again, reveal: { class: 'B', policy: 'dyn_db_cred:mint' }, about: [{ id, name }], route });
}
