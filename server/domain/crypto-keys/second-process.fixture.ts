import { findKey } from '#server/custody/keys.ts';
import { material, materialHeld } from '#server/custody/material.ts';
import { watchKeys } from '#server/domain/keys/watch.ts';

// A process that uses keys, as a second gateway or web process would: told a key and a version it opens them, and says what came of it.

type Asked = { tenant_id: string; name: string; version: number };

// Connecting drops what was opened before, so nothing is asked earlier.
watchKeys({ onConnect: () => process.send?.('ready') });
process.on('message', async ({ tenant_id, name, version }: Asked) => {
  const outcome = await use({ tenant_id, name, version }).catch((error: { type?: string }) => error.type ?? String(error));
  process.send?.({ outcome, held: materialHeld() });
});

async function use({ tenant_id, name, version }: Asked): Promise<string> {
  const key = await findKey({ tenant_id, sandbox: false }, name);
  if (!key) return 'not_found';
  await material(key, version);
  return 'opened';
}
