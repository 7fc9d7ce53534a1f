import { frontDoorToken } from '#server/crypto/derive.ts';
import { addMembership, createSession, createUser } from '#server/domain/people/service.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { handleDashboard } from '#server/trpc/dashboard.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a stranger would see
type Answer = { status: number; headers: Headers; body: any; text: string };

/** A new person with a session, who joins workspaces and calls the dashboard plane over HTTP with a Bearer token. */
export async function dashboardPerson() {
  const now = new Date();
  const { user, session } = await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email: `${newId()}@example.test`, full_name: 'P', password_hash: null, email_verified: true, now });
    return {
      user,
      session: await createSession(tx, { user_id: user.id, methods: ['code'], keep: false, ip: null, user_agent: null, now }),
    };
  });
  const join = (tenant_id: string, role: MemberRole) =>
    db().$transaction((tx) => addMembership(tx, { tenant_id, user_id: user.id, role, source: 'invite', now: new Date() }));
  const call = async (
    http: `${string} /${string}`,
    body?: unknown,
    {
      workspace,
      ip = '127.0.0.1',
      space = 'live',
      handle = handleDashboard,
    }: { workspace?: string; ip?: string; space?: Space; handle?: (req: Request) => Promise<Response> } = {},
  ): Promise<Answer> => {
    const [method = 'GET', path = '/'] = http.split(' ');
    const headers = new Headers({
      'x-sallyport-front': frontDoorToken(rootKeys().current),
      'x-sallyport-ip': ip,
      authorization: `Bearer ${session.token}`,
      'x-svc-space': space,
      ...(workspace ? { 'x-tenant-id': workspace } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    });
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await handle(new Request(`http://admin.test${path}`, init));
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
  };
  return { user, session, join, call };
}
