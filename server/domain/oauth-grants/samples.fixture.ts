import { CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import type { PersonSample, TestPerson } from '#server/testing/test-person.ts';
import { cliClientOf } from './cli-client.ts';

export const samples = {};

export const personSamples: Record<string, PersonSample> = {
  'connected-apps.list': async () => ({}),
  'connected-apps.delete': async (who) => ({ id: await connectedApp(who) }),
};

/** A login of service-cli in the person's name. @returns its id */
export async function connectedApp({ id: user_id, w }: Pick<TestPerson, 'id' | 'w'>): Promise<string> {
  const now = new Date();
  const own = { tenant_id: w.tenant.id, sandbox: false };
  const id = newId();
  await db().$transaction(async (tx) => {
    const client = await cliClientOf(tx, { ...own, now });
    const expires_at = new Date(now.getTime() + 86_400_000);
    await tx.oauth_families.create({
      data: { ...own, id, client_row_id: client.id, user_id, scopes: CLI_CLIENT.allowed_scopes.slice(0, 2), flow: 'code', expires_at },
    });
  });
  return id;
}
