import { expect, type Page, test } from '@playwright/test';
import { TOTP } from 'otpauth';
import { mailTo } from './authenticator.ts';
import { accessible, hydrated, signIn } from './person.ts';
import { createWorkspace, json, setting, unique, until } from './running-system.ts';

/** 22 §4 and 32 §3: a colleague comes, is trusted with values, and goes. */

const slug = unique('crew');
const owner = { email: `owner@${slug}.example`, password: 'longitude by lunar distance' };
const colleague = { name: 'Tycho Brahe', email: `tycho@${slug}.example`, password: 'a nose made out of brass' };

test.beforeAll(async () => {
  await createWorkspace(slug, owner);
});

test('P2: a colleague joins from the mail, reveals a secret only once the Owner allows it, and after removal their tab and their key stop', async ({
  page,
  browser,
}) => {
  await signIn(page, owner, slug);
  const { code: ownersCode } = await enroll(await poster(page));
  await page.goto(`/${slug}/settings/team`);
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  const invite = page.getByRole('dialog', { name: 'Invite to the workspace' });
  await invite.getByLabel('Email').fill(colleague.email);
  await invite.getByRole('radio', { name: /^Editor/ }).click();
  await expect(invite.getByRole('checkbox', { name: 'Can reveal secret values' })).not.toBeChecked();
  await accessible(page, 'inviting');
  await invite.getByRole('button', { name: 'Send invitation' }).click();
  await expect(page.getByRole('table', { name: 'Pending invitations' }).getByRole('row', { name: colleague.email })).toBeVisible();

  // In the browser of the Owner the link joins nobody.
  const link = await mailTo(page, colleague.email, /(https?:\/\/\S+\/invitation\?token=\S+)/);
  await page.goto(link);
  await expect(page.getByText(`You’re signed in as ${owner.email}`)).toBeVisible();
  await accessible(page, 'an invitation for somebody else');

  const theirs = await browser.newContext({ baseURL: setting('E2E_ADMIN_URL') });
  const tab = await theirs.newPage();
  await tab.goto(link);
  await hydrated(tab);
  await expect(tab.getByRole('heading', { name: /^Join / })).toBeVisible();
  await accessible(tab, 'an invitation');
  await tab.getByLabel('Your name').fill(colleague.name);
  await tab.getByRole('textbox', { name: /^Password/ }).fill(colleague.password);
  await tab.getByRole('button', { name: 'Create account and join' }).click();
  await tab.waitForURL(`**/${slug}/test`);

  // Without the setting: the page says why, and so does the server.
  await tab.goto(`/${slug}/test/secrets`);
  await tab.getByRole('table').getByRole('link').first().click();
  const reveal = tab.getByRole('button', { name: /^Reveal value of/ }).first();
  await expect(reveal).toHaveAccessibleDescription('Reveal secrets is off for you. Ask an Owner or Admin to turn it on.');
  const secret = tab.url();
  const refused = await tab.request.get(`/admin/secrets/${/[0-9a-f-]{36}/.exec(secret)?.[0]}/value`, { headers: there });
  expect([refused.status(), ((await refused.json()) as { code: string }).code]).toEqual([403, 'reveal_tick_required']);

  await page.goto(`/${slug}/settings/team`);
  await member(page)
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByRole('menuitem', { name: 'Change role…' }).click();
  const sheet = page.getByRole('dialog', { name: colleague.name });
  await sheet.getByRole('checkbox', { name: 'Can reveal secret values' }).click();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Authenticator code').fill(ownersCode());
  await expect(member(page).getByText('Reveals secrets', { exact: true })).toBeVisible();

  // A key of theirs that works. Their sign-in is recent, which is enough as long as they have no second factor.
  const post = await poster(tab);
  const made = await post('/admin/trpc/apiKeys.create', { name: 'Observatory', never_expires: true });
  const { code } = await enroll(post);
  await tab.goto(secret);
  await hydrated(tab);
  await reveal.click();
  await tab.getByLabel('Authenticator code').fill(code());
  await expect(tab.getByText(/^Hides in \d+ s/)).toBeVisible();

  // A tab that watches the calls.
  const key = (made.result as { data: { api_key: string } }).data.api_key;
  const call = () => json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}/echo/stars`, { headers: { 'x-svc-key': key } });
  const manage = () => json(`${setting('E2E_SANDBOX_API_URL')}/v1/routes`, { key });
  await until('their key is let in', async () => (await call()).status === 200 && (await manage()).status === 200);
  await tab.goto(`/${slug}/test/logs`);
  await hydrated(tab);
  await tab.getByRole('switch', { name: /^Live/ }).click();
  await expect(tab.getByText('connecting…')).toHaveCount(0);

  await member(page)
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  const removal = page.getByRole('dialog', { name: `Remove ${colleague.name}?` });
  await expect(removal.getByRole('checkbox', { name: 'Also revoke the 1 API key they created' })).toBeChecked();
  await removal.getByRole('textbox').fill(colleague.email);
  await accessible(page, 'removing a member');
  const removed = page.waitForResponse((response) => response.url().includes('team.delete'));
  await removal.getByRole('button', { name: 'Remove member' }).click();
  expect((await removed).status()).toBe(200);
  await Promise.all([
    until('their tab says so', () => tab.getByText('You’re no longer a member of this workspace.').isVisible()),
    until('their key is refused', async () => (await call()).status === 401 && (await manage()).status === 401),
  ]);
  await expect(member(page)).toHaveCount(0);
  await tab.getByRole('link', { name: 'Open another workspace' }).click();
  await tab.waitForURL((url) => !url.pathname.startsWith(`/${slug}`));
  await theirs.close();
});

const there = { 'x-tenant-id': slug, 'x-svc-space': 'test' };
const member = (page: Page) => page.getByRole('table', { name: 'Members' }).getByRole('row', { name: colleague.email });

type Post = (path: string, data: object) => Promise<Record<string, unknown>>;

/** Sends what the pages of whoever is signed in send. */
async function poster(page: Page): Promise<Post> {
  const { csrf_token } = (await (await page.request.get('/auth/me')).json()) as { csrf_token: string };
  const headers = { ...there, 'x-csrf-token': csrf_token, origin: setting('E2E_ADMIN_URL') };
  return async (path, data) => {
    const answer = await page.request.post(path, { data, headers });
    expect(answer.status(), await answer.text()).toBeLessThan(300);
    return (await answer.json()) as Record<string, unknown>;
  };
}

/** Gives whoever is signed in an authenticator app. */
async function enroll(post: Post): Promise<{ code: () => string }> {
  const { setup_token, secret_base32 } = await post('/auth/2fa/setup', {});
  const totp = new TOTP({ secret: String(secret_base32) });
  // A code is good once: that of the step before enrolls, that of this one confirms.
  await post('/auth/2fa/verify', { setup_token, code: totp.generate({ timestamp: Date.now() - 30_000 }) });
  return { code: () => totp.generate() };
}
