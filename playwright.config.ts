import { defineConfig } from '@playwright/test';

// Run by `npm test e2e`, which starts the whole system on free ports with a database of its own and says here where it is:
// E2E_ADMIN_URL, E2E_API_URL, E2E_SANDBOX_API_URL, E2E_PROXY_PORT, DATABASE_URL, and the browser to use as E2E_BROWSER.
const browser = JSON.parse(process.env.E2E_BROWSER ?? '{}') as { executablePath?: string; args?: string[]; env?: Record<string, string> };

/** The longest, and those that start a system of their own: what began last would run on alone. */
const LONGEST = /\b(alerts|chaos|kills|restart|configuration|first-call|pages|drafts|frame|collections|workflows|webhooks)\.spec\.ts$/;

export default defineConfig({
  testDir: 'e2e',
  testMatch: /.*\.(spec|test)\.ts$/,
  outputDir: 'test-results',
  // Three files at a time, which mostly wait for a browser. Each stands alone, so the order is one of time only.
  fullyParallel: false,
  workers: 3,
  projects: [
    { name: 'longest', testMatch: LONGEST },
    { name: 'journeys', testIgnore: LONGEST },
  ],
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  // Bounds for a machine with a lot of other work; what passes does not wait for them.
  timeout: 900_000,
  expect: { timeout: 120_000 },
  use: {
    baseURL: process.env.E2E_ADMIN_URL ?? 'http://localhost:4002',
    launchOptions: browser,
    actionTimeout: 120_000,
    navigationTimeout: 120_000,
    viewport: { width: 1280, height: 800 },
    // E2E_TRACE=1 films the pages, which costs as much as showing them.
    trace: process.env.E2E_TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
  },
});
