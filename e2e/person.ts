import fs from 'node:fs';
import { createRequire } from 'node:module';
import { type BrowserContext, expect, type Page } from '@playwright/test';

/** Signs the browser of a page in by what the form of that page sends, and waits for the workspace it lands in. The form itself has journeys of its own. */
export async function signIn(page: Page, person: { email: string; password: string }, slug: string): Promise<void> {
  const { email, password } = person;
  awaitHydration(page);
  const answer = await page.request.post('/auth/login', { data: { email, password } });
  expect(answer.status(), await answer.text()).toBe(200);
  await page.goto('/');
  await page.waitForURL(`**/${slug}/**`);
  await hydrated(page);
}

/** A click before React has hydrated its target is lost: from here on, opening and reloading a page, in every tab of the context, waits until all controls respond. */
export function awaitHydration(page: Page): void {
  const context = page.context();
  if (awaited.has(context)) return;
  awaited.add(context);
  context.pages().forEach(waitAfterLoading);
  context.on('page', waitAfterLoading);
}
const awaited = new WeakSet<BrowserContext>();

function waitAfterLoading(page: Page): void {
  const [open, reload] = [page.goto.bind(page), page.reload.bind(page)];
  page.goto = async (...to) => {
    const response = await open(...to);
    await hydrated(page);
    return response;
  };
  page.reload = async (...how) => {
    const response = await reload(...how);
    await hydrated(page);
    return response;
  };
}

/** A browser may stop drawing a tab that nobody looks at: what waits for a frame, as polling does unless told otherwise, would wait for ever. */
const UNDRAWN = { polling: 50 };

/** The root is hydrated before what is inside of its boundaries: React marks each element once it has props, and so listeners. Editors make their own controls. */
export async function hydrated(page: Page): Promise<void> {
  await page.waitForFunction(
    () => {
      if (!document.querySelector('script[src*="/_next/"]')) return true;
      const isMarked = (node: object, mark: string) => Object.keys(node).some((key) => key.startsWith(mark));
      const controls = [...document.querySelectorAll('button, input, select, textarea')].filter((one) => !one.closest('.cm-editor'));
      return isMarked(document, '__reactContainer$') && controls.every((one) => isMarked(one, '__reactProps$'));
    },
    undefined,
    UNDRAWN,
  );
  // The effects that listen for keys run after that, and before what is least urgent.
  await page.evaluate(() => scheduler.postTask(() => {}, { priority: 'background' }));
}

/** Fills in and sends the form that stands there. */
export async function fillIn(page: Page, person: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(person.email);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Password', { exact: true }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** That axe finds nothing on the page as it stands, with whatever fades or slides in at its end: in between a colour is none of ours. */
export async function accessible(page: Page, what?: string): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.getAnimations()) if (one.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY) one.finish();
  });
  // A page that is streamed gets its title after its first content.
  await page.waitForFunction(() => document.title !== '', undefined, UNDRAWN);
  for (const frame of page.frames()) if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(document, { resultTypes: ['violations'], preload: false });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ')}`);
  });
  expect(violations, what).toEqual([]);
}

type Axe = { run: (where: Document, options: object) => Promise<{ violations: { id: string; nodes: { target: string[] }[] }[] }> };
/** Its own package for Playwright sends it once a check instead of once a document, and describes what is right too, which costs several times as much. */
const AXE = fs.readFileSync(
  createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);
