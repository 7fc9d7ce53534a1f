import { expect, type Locator, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, operator, setting, unique } from './running-system.ts';

/** The frame by keyboard and on a phone: skip link, palette, shortcuts, focus that comes back, and the page of roles (70 §3.3, §12). */
const slug = unique('framers');
const person = { email: `owner@${slug}.example`, password: 'oak around a small window' };

test('by keyboard alone: past the navigation, to a page by its name, to the sheet of keys, and back to where one was', async ({ page }) => {
  await createWorkspace(slug, person);
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/secrets`);
  await expect(page.getByRole('button', { name: 'New secret' }).first()).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('#content')).toBeFocused();

  const start = page.getByRole('button', { name: 'New secret' }).first();
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await start.focus();
  await page.keyboard.press('Control+k');
  await expect(palette).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(start).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(start).toBeFocused();
  // A form is a step that Back takes back, with what was typed in it.
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page).toHaveURL(new RegExp(`/${slug}/test/secrets$`));
  await expect(start).toBeFocused();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(start).toBeFocused();

  await page.keyboard.press('Control+k');
  await page.getByPlaceholder(/Search or jump/).fill('roles');
  await expect(palette.getByRole('option', { name: 'Roles', exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/${slug}/settings/roles`);
  await page.getByRole('button', { name: 'Viewer' }).click();
  await expect(page).toHaveURL(/role=viewer/);
  const permissions = page.getByRole('table', { name: 'Permissions of each member role' });
  const row = permissions.getByRole('row', { name: /^Delete/ }).first();
  await expect(row.getByRole('cell')).toHaveText(['Allowed', 'Allowed', 'Allowed', 'Not allowed', 'Not allowed']);
  // The exact operations stand behind each row, by keyboard too.
  await expect(permissions.getByText('Delete a route')).toBeHidden();
  await row.getByRole('button').press('Enter');
  await expect(permissions.getByText('Delete a route')).toBeVisible();
  await expect(permissions.getByText('route:delete · scope routes:write')).toBeVisible();
  await accessible(page);
});

test('the palette selects its first result, also when a better one arrives late, and keeps what the arrow keys chose', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/environments`);
  await page.evaluate(async (workspace) => {
    const me = (await (await fetch('/auth/me')).json()) as { csrf_token: string };
    const answer = await fetch('/admin/trpc/routes.create', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': me.csrf_token, 'x-svc-space': 'test', 'x-tenant-id': workspace },
      body: JSON.stringify({ name: 'Roles service', target_base_url: 'https://example.com' }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }, slug);
  let release = () => {};
  const hold = () => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    return page.route(/search\.query.*ro/, async (route) => {
      await held;
      await route.continue();
    });
  };
  const options = page.getByRole('dialog', { name: 'Command palette' }).getByRole('option');
  const field = page.getByRole('combobox', { name: 'Command palette' });
  const late = options.filter({ hasText: 'Roles service' });
  const selected = page.locator('[role="option"][aria-selected="true"]');
  await hold();
  await page.keyboard.press('Control+k');
  await field.fill('roles');
  await expect(options.first()).toHaveText(/^Roles/);
  await expect(late).toHaveCount(0);
  await expect(options.first()).toHaveAttribute('aria-selected', 'true');
  release();
  await expect(options.first()).toHaveText(/^Roles service/);
  await expect(options.first()).toHaveAttribute('aria-selected', 'true');
  await expect(selected).toHaveCount(1);
  await expect(field).toHaveAttribute('aria-activedescendant', (await options.first().getAttribute('id')) ?? 'none');
  await accessible(page);
  await page.keyboard.press('Escape');

  await page.unrouteAll();
  await page.reload();
  await hold();
  await page.keyboard.press('Control+k');
  // The letters match a page and an action; the arrow key moves off the first before the server answers.
  await field.fill('ro');
  await expect(options.nth(1)).toBeVisible();
  await page.keyboard.press('ArrowDown');
  const chosen = (await selected.innerText()).trim();
  release();
  await expect(late).toBeVisible();
  await expect(selected).toHaveText(chosen);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/test\/routes\//);
});

test('on a phone the pages are a drawer that takes and gives back the focus, and no page is wider than the screen', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await signIn(page, person, slug);
  for (const path of ['test', 'test/explorer', 'test/quickstart', 'settings/roles', 'test/api-keys?open=new']) {
    await page.goto(`/${slug}/${path}`);
    await expect(page.getByRole('heading').first()).toBeVisible();
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(wider, path).toBeLessThanOrEqual(0);
  }
  await page.goto(`/${slug}/test/explorer`);
  const opener = page.getByRole('button', { name: 'Pages' });
  await opener.click();
  const drawer = page.getByRole('dialog', { name: 'Pages' });
  await expect(drawer).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(drawer).toBeHidden();
  await expect(opener).toBeFocused();
  await opener.click();
  await drawer.getByRole('link', { name: 'Quickstart' }).click();
  await page.waitForURL('**/quickstart');
  await expect(drawer).toBeHidden();
});

test('on a phone the menu of a row is in view in every list, without scrolling the table sideways', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/clients`);
  await page.evaluate(async (workspace) => {
    const me = (await (await fetch('/auth/me')).json()) as { csrf_token: string };
    const send = (path: string, body: unknown) =>
      fetch(`/admin/trpc/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': me.csrf_token, 'x-svc-space': 'test', 'x-tenant-id': workspace },
        body: JSON.stringify(body),
      });
    await send('clients.create', {
      name: 'A build machine with a name of some length',
      type: 'server',
      ip_address: '2001:db8:1234:5678::/64',
    });
    await send('apiKeys.create', { name: 'A nightly job with a name of some length' });
  }, slug);
  for (const list of ['routes', 'clients', 'environments', 'api-keys']) {
    await page.goto(`/${slug}/test/${list}`);
    const menu = page.getByRole('button', { name: /^Actions for/ }).first();
    await expect(menu, list).toBeVisible();
    await expect(menu, list).toBeInViewport({ ratio: 1 });
    await menu.click();
    await expect(page.getByRole('menu'), list).toBeVisible();
  }
});

test('what a role may not open is locked with the roles that may, hidden from a Viewer, and asks the server for nothing', async ({
  browser,
}) => {
  const password = 'gates that say who may';
  for (const role of ['member', 'viewer']) {
    const email = `${role}@frames.example`;
    await operator(['set-member', '--slug', slug, '--email', email, '--role', role, '--name', role, '--password', password]);
    const page = await (await browser.newContext()).newPage();
    const refused: string[] = [];
    page.on('response', (response) => response.status() === 403 && refused.push(response.url()));
    await signIn(page, { email, password }, slug);
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await expect(pages.getByRole('link', { name: 'Home', exact: true })).toHaveAttribute('aria-current', 'page');
    const keys = pages.getByRole('link', { name: 'Tenant KMS' });
    if (role === 'viewer') await expect(keys).toHaveCount(0);
    else await expect(keys).toHaveAccessibleDescription('Locked: requires the Owner or Admin role');
    for (const path of ['settings/keys', role === 'viewer' ? 'test/import' : 'test/secrets']) {
      await page.goto(`/${slug}/${path}`);
      await expect(page.getByText('Your role can’t open this page')).toBeVisible();
      await expect(page.getByRole('main').getByText(/Owner(,| or) Admin/)).toBeVisible();
      await accessible(page);
    }
    expect(refused).toEqual([]);
    await page.context().close();
  }
});

test('in forced colours the page one is on, the choice one made and what is on are still told from the rest', async ({ browser }) => {
  const page = await browser.newPage({ forcedColors: 'active' });
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/routes/echo`);
  const background = (of: Locator) => of.evaluate((element) => getComputedStyle(element).backgroundColor);
  const pages = page.getByRole('navigation', { name: 'Pages' });
  const chosen = await background(pages.getByRole('link', { name: 'Routes' }));
  expect(chosen).not.toBe(await background(pages.getByRole('link', { name: 'Clients', exact: true })));
  expect(await background(page.getByRole('link', { name: 'Overview' }))).toBe(chosen);
  const on = page.getByRole('switch', { name: 'On', exact: true });
  const before = await background(on);
  await on.click();
  await expect(page.getByRole('switch', { name: 'Off', exact: true })).toBeVisible();
  await expect.poll(() => background(page.getByRole('switch', { name: 'Off', exact: true }))).not.toBe(before);
  await page.getByRole('switch', { name: 'Off', exact: true }).click();
  await expect(on).toBeVisible();
  await page.close();
});

test('no list is wider than its place at 1440 and 1280 px, and nothing moves between Test and Settings', async ({ page }) => {
  await signIn(page, person, slug);
  const { api_key: key = '' } = await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure']);
  const call = (path: string) =>
    fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}${path}`, { headers: { 'x-svc-key': key } });
  expect((await call('/echo/hello')).status).toBe(200);
  for (let i = 0; i < 3; i++) expect((await call('/no-such-route/v1/charges/of/a/customer')).status).toBe(404);
  const clipped = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('main table')].flatMap((table) => {
        const box = table.parentElement;
        return box && box.scrollWidth > box.clientWidth + 1 ? [`${table.querySelector('caption')?.textContent ?? 'a table'}`] : [];
      }),
    );
  const lists = ['', '/logs', '/routes', '/collections', '/clients', '/environments', '/secrets', '/api-keys', '/audit'];
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const list of lists) {
      await page.goto(`/${slug}/test${list}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
      if (list === '' || list === '/routes') await expect(page.locator('main table tbody tr').first()).toBeVisible();
      expect(await clipped(), `${list || 'Home'} at ${width}`).toEqual([]);
    }
  }
  const places = async (path: string) => {
    await page.goto(`/${slug}/${path}`);
    const title = page.getByRole('heading', { level: 1 }).first();
    const search = page.getByRole('button', { name: /^Search/ }).first();
    return [(await title.boundingBox())?.y, (await search.boundingBox())?.y];
  };
  expect(await places('settings/workspace')).toEqual(await places('test/environments'));
});
