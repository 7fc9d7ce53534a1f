import { z } from 'zod';
import { type Channels, DEFAULT_CHANNELS, type Digest, lockedKinds, NOTIFICATION_KINDS, type NotificationKind } from './kinds.shared.ts';

/** A row of `notification_settings`, or what of it a query selects. */
export type SettingsRow = {
  channels: unknown;
  digest: string;
  quiet_from: string | null;
  quiet_until: string | null;
  timezone: string;
  resources: unknown;
};

export type ResourceMode = { resource_type: string; resource_id: string; mode: 'follow' | 'mute' };

export type Settings = {
  channels: Record<NotificationKind, Channels>;
  digest: Digest;
  quiet_hours: { from: string; until: string; timezone: string } | null;
  /** The zone of daily digests. */
  timezone: string;
  resources: ResourceMode[];
};

const StoredChannels = z.record(z.string(), z.object({ in_app: z.boolean(), email: z.boolean() })).catch({});
const StoredResources = z
  .array(z.object({ resource_type: z.string(), resource_id: z.string(), mode: z.enum(['follow', 'mute']) }))
  .catch([]);

/** What holds for a person: their own choices over the defaults. Kinds that their role can't turn off are on, whatever is stored. */
export function settingsOf(row: SettingsRow | null, role: string, timezone: string | null): Settings {
  const stored = StoredChannels.parse(row?.channels ?? {});
  const locked = new Set<string>(lockedKinds(role));
  const channels = Object.fromEntries(
    NOTIFICATION_KINDS.map((kind) => [kind, locked.has(kind) ? DEFAULT_CHANNELS[kind] : (stored[kind] ?? DEFAULT_CHANNELS[kind])]),
  ) as Settings['channels'];
  const quiet = row?.quiet_from && row.quiet_until ? { from: row.quiet_from, until: row.quiet_until, timezone: row.timezone } : null;
  return {
    channels,
    digest: (row?.digest ?? 'instant') as Digest,
    quiet_hours: quiet,
    timezone: quiet ? row!.timezone : (timezone ?? row?.timezone ?? 'UTC'),
    resources: StoredResources.parse(row?.resources ?? []),
  };
}
