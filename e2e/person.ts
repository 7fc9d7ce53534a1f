import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** Signs the browser of a page in by what the form of that page sends, and waits for the workspace it lands in. The form itself has journeys of its own. */
export async function signIn(page: Page, person: { email: string; password: string }, slug: string): Promise<void> {
  const { email, password } = person;
  awaitHydration(page);
  const answer = await page.request.post('/auth/login', { data: { email, password } });
  expect(answer.status(), await answer.text()).toBe(200);
  await page.goto('/');
  await page.waitForURL(`**/${slug}/**`);
}

/** A press before React listens is lost, and a slow machine is slow to listen: from here on every page is waited for. */
export function awaitHydration(page: Page): void {
  const open = page.goto.bind(page);
  page.goto = async (...to) => {
    const response = await open(...to);
    await page.waitForFunction(
      () => !document.querySelector('script[src*="/_next/"]') || Object.keys(document).some((key) => key.startsWith('__reactContainer$')),
    );
    return response;
  };
}

/** Fills in and sends the form that stands there. */
export async function fillIn(page: Page, person: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(person.email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** That axe finds nothing on the page as it stands, once whatever fades or slides in is there: in between a colour is none of ours. */
export async function accessible(page: Page, what?: string): Promise<void> {
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter((one) => one.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map((one) => one.finished),
    ),
  );
  // In the page itself and for what is wrong alone: there are no frames of others, and describing all that is right costs several times as much.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode(true)
    .options({ resultTypes: ['violations'] })
    .analyze();
  expect(
    violations.map((v) => `${v.id}: ${v.nodes[0]?.target.join(' ')}`),
    what,
  ).toEqual([]);
}
