import { defineConfig } from '@playwright/test';

// Run by `npm test e2e`, which starts the whole system on free ports with a database of its own and says here where it is:
// E2E_ADMIN_URL, E2E_API_URL, E2E_SANDBOX_API_URL, E2E_PROXY_PORT, DATABASE_URL, and the browser to use as E2E_BROWSER.
const browser = JSON.parse(process.env.E2E_BROWSER ?? '{}') as { executablePath?: string; args?: string[]; env?: Record<string, string> };

const FIRST = /01-.*\.spec\.ts$/;
const OWN = /(restart|configuration|chaos)\.spec\.ts$/;
const LONGEST = /(pages|drafts|frame|collections)\.spec\.ts$/;

export default defineConfig({
  testDir: 'e2e',
  testMatch: /.*\.(spec|test)\.ts$/,
  outputDir: 'test-results',
  // Three files at a time, which mostly wait for a browser. What looks at the installation that all share waits until its first person has signed
  // up; of that the longest files come first, since one that began last would run on alone.
  fullyParallel: false,
  workers: 3,
  projects: [
    { name: 'first call', testMatch: FIRST },
    { name: 'a system of its own', testMatch: OWN },
    { name: 'walks', testMatch: LONGEST, dependencies: ['first call'] },
    { name: 'journeys', testIgnore: [FIRST, OWN, LONGEST], dependencies: ['first call'] },
  ],
  forbidOnly: Boolean(process.env.CI),
  // A second try of what failed is a run of its own, on a fresh system (scripts/journeys.ts).
  retries: 0,
  timeout: 180_000,
  // Bounds for a machine three times slower than ours; what passes does not wait for them.
  expect: { timeout: 30_000 },
  use: {
    baseURL: process.env.E2E_ADMIN_URL ?? 'http://localhost:4002',
    launchOptions: browser,
    viewport: { width: 1280, height: 800 },
    // E2E_TRACE=1 films the pages, which costs as much as showing them.
    trace: process.env.E2E_TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
  },
});
