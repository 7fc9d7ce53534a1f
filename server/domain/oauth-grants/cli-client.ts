import { mintClientId } from '#server/crypto/tokens.ts';
import { CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';

/**
 * The client that the alias service-cli stands for in a workspace and space, made at the first login there (interface rule 21 §3.3). In a transaction of
 * the authorization server; two first logins at once make one.
 */
export async function cliClientOf(
  tx: Tx,
  place: { tenant_id: string; sandbox: boolean; now: Date },
): Promise<{ id: string; created: boolean }> {
  const { tenant_id, sandbox, now } = place;
  const found = await tx.oauth_clients.findFirst({ where: { tenant_id, sandbox, system_role: 'cli' }, select: { id: true } });
  if (found) return { ...found, created: false };
  const { count } = await tx.oauth_clients.createMany({
    data: [
      {
        ...CLI_CLIENT,
        id: newId(),
        tenant_id,
        sandbox,
        client_id: mintClientId('cli'),
        system_role: 'cli',
        created_at: now,
        updated_at: now,
      },
    ],
    skipDuplicates: true,
  });
  const row = await tx.oauth_clients.findFirstOrThrow({ where: { tenant_id, sandbox, system_role: 'cli' }, select: { id: true } });
  return { ...row, created: count === 1 };
}
