import type { Verdict } from './verify-in-parts.ts';

/** What each way to fail says, after "The chain is broken at entry 5". */
export const FAILURES: Record<NonNullable<Verdict['failure']>['kind'], string> = {
  hash_mismatch: 'Its content doesn’t match its hash, so it was altered.',
  prev_mismatch: 'It doesn’t link to the entry before it.',
  gap: 'At least one entry is missing.',
  mac_mismatch: 'It wasn’t written by this service, or was altered since.',
  history_mismatch: 'Entries before it changed since it sealed them.',
  head_missing: 'The sealed end of the chain was removed.',
  head_invalid: 'The chain doesn’t end as its sealed end says.',
  rolled_back: 'An older state of the chain was put back.',
  checkpoint_missing: 'A signed checkpoint was removed.',
  checkpoint_invalid: 'A checkpoint wasn’t signed by this service.',
  foreign_entry: 'An entry of another chain was put into this workspace.',
  keys_missing: 'The keys that verify the chain are unavailable.',
};
