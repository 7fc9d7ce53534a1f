import type { Tx } from '#server/kernel/database.ts';

/** Says which events of a space somebody wants. The one implementation reads the table; a plane that raises thousands a second brings a cached one. */
export type SubscriptionSource = {
  typesWanted(tx: Tx, place: { tenant_id: string; sandbox: boolean }): Promise<ReadonlySet<string>>;
};

export const storedSubscriptions: SubscriptionSource = {
  async typesWanted(tx, place) {
    const rows = await tx.event_subscriptions.findMany({ where: { ...place, enabled: true }, select: { event_types: true } });
    return new Set(rows.flatMap(({ event_types }) => event_types));
  },
};
