import type { RefusalCode } from './refusal.ts';

// Who is let in (interface rule 12 §5.4), as data: the tests walk the same table.

export type Presented = 'valid' | 'none' | 'bad' | 'wrong_space';
export type AdmissionRow = {
  requires_clients: boolean | 'any';
  credential: Presented;
  client: boolean | 'any';
  /** The tenant setting proxy_require_credential. */
  strict: boolean | 'any';
  result: 'admitted' | Extract<RefusalCode, 'authentication_required' | 'invalid_api_key' | 'wrong_key_type' | 'client_not_authorized'>;
};

export const ADMISSION: readonly AdmissionRow[] = [
  { requires_clients: 'any', credential: 'bad', client: 'any', strict: 'any', result: 'invalid_api_key' },
  { requires_clients: 'any', credential: 'wrong_space', client: 'any', strict: 'any', result: 'wrong_key_type' },
  { requires_clients: false, credential: 'valid', client: 'any', strict: 'any', result: 'admitted' },
  { requires_clients: false, credential: 'none', client: 'any', strict: 'any', result: 'authentication_required' },
  { requires_clients: true, credential: 'valid', client: true, strict: 'any', result: 'admitted' },
  { requires_clients: true, credential: 'valid', client: false, strict: 'any', result: 'client_not_authorized' },
  { requires_clients: true, credential: 'none', client: true, strict: false, result: 'admitted' },
  { requires_clients: true, credential: 'none', client: true, strict: true, result: 'authentication_required' },
  { requires_clients: true, credential: 'none', client: false, strict: 'any', result: 'authentication_required' },
];

/** The first row that fits. Every combination has one. */
export function admission(requiresClients: boolean, credential: Presented, client: boolean, strict: boolean): AdmissionRow['result'] {
  for (const row of ADMISSION) {
    if (row.credential !== credential) continue;
    if (row.requires_clients !== 'any' && row.requires_clients !== requiresClients) continue;
    if (row.client !== 'any' && row.client !== client) continue;
    if (row.strict !== 'any' && row.strict !== strict) continue;
    return row.result;
  }
  return 'authentication_required';
}
