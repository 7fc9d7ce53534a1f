import { operation } from '#server/kernel/operation.ts';
import { bundle, decrypt, encrypt, inspect, rewrap } from './hot.ts';
import { revealData, revealOfData } from './reveal.ts';
import { RevealDecrypt, RevealedData } from './schema.ts';

export { bundle, decrypt, encrypt, inspect, rewrap };

/** Row 22 of interface rule 32 §2. */
export const reveal = operation({
  id: 'encryption.reveal',
  summary: 'Decrypt sealed values',
  http: 'POST /admin/encrypt/decrypt',
  kind: 'reveal',
  needs: ['transit:decrypt'],
  body: { source: ['data'] },
  refuses: ['decrypt_failed', 'key_version_disabled', 'key_version_destroyed', 'not_found', 'vault_disabled', 'token_expired'],
  input: RevealDecrypt,
  output: RevealedData,
  reveal: revealOfData,
  run: (ctx, input) => revealData(ctx, input),
});
