import assert from 'node:assert/strict';
import { acceptPassword, addMembership, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { browser } from './people.ts';
import { quickPasswords } from './quick-passwords.ts';
import { workspace } from './workspace.ts';

export type TestPerson = Awaited<ReturnType<typeof createTestPerson>>;
/** A valid input of an operation of a person; what it refers to is made first. */
export type PersonSample = (who: TestPerson) => Promise<Record<string, unknown>>;

export const PASSWORD = 'a quiet harbour at dusk';

/** The owner of a workspace, in a browser of their own. */
export async function createTestPerson({ signedIn }: { signedIn: boolean }) {
  quickPasswords();
  const w = await workspace();
  const email = `${newId()}@example.test`;
  const password_hash = await acceptPassword(PASSWORD, email, 'password');
  const id = await db().$transaction(async (tx) => {
    const now = new Date();
    const user = await createUser(tx, { email, full_name: 'P', password_hash, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'signup', now });
    return user.id;
  });
  const b = browser();
  const signIn = async (other = browser()) => {
    assert.equal((await other.post('/auth/login', { email, password: PASSWORD })).status, 200);
    await other.load();
  };
  if (signedIn) await signIn(b);
  /** Who confirms in this browser: the person and their session. */
  const who = async () => {
    const { user, session } = (await b.get('/auth/me')).body as unknown as Record<'user' | 'session', { id: string }>;
    return { user_id: user.id, session_id: session.id };
  };
  return { w, id, email, b, signIn, who };
}
