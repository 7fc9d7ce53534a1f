import { keyring } from '#server/platform/keys.ts';
import { observe } from '#server/platform/telemetry/meters.ts';
import { usesWaiting } from './uses.ts';

/** Has the state of custody in this process read when somebody asks: keys in memory, and audit entries that aren't durable yet. Returns what ends it. */
export function measureCustody(): () => void {
  const removals = [
    observe('gauge', { name: 'sallyport_custody_keys_open', help: 'Keys of workspaces that custody has in memory' }, () => keyring().size),
    observe(
      'gauge',
      { name: 'sallyport_audit_entries_waiting', help: 'Audit entries of uses that are not durable yet' },
      () => usesWaiting().count,
    ),
    observe(
      'gauge',
      { name: 'sallyport_audit_wait_seconds', help: 'How long the oldest of them has waited; after 30 s uses are refused', unit: 's' },
      () => usesWaiting().oldestMs / 1_000,
    ),
  ];
  return () => {
    for (const remove of removals) remove();
  };
}
