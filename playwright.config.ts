import { defineConfig } from '@playwright/test';

// Run by `npm test e2e`, which starts the whole system on free ports with a database of its own and says here where it is:
// E2E_ADMIN_URL, E2E_API_URL, E2E_SANDBOX_API_URL, E2E_PROXY_PORT, DATABASE_URL, and the browser to use as E2E_BROWSER.
const browser = JSON.parse(process.env.E2E_BROWSER ?? '{}') as { executablePath?: string; args?: string[]; env?: Record<string, string> };

export default defineConfig({
  testDir: 'e2e',
  testMatch: /.*\.(spec|test)\.ts$/,
  outputDir: 'test-results',
  // Three files at a time, which mostly wait for a browser, once the first person of the installation has signed up.
  fullyParallel: false,
  workers: 3,
  projects: [
    { name: 'first call', testMatch: /01-.*\.spec\.ts$/ },
    { name: 'journeys', testIgnore: /01-.*\.spec\.ts$/, dependencies: ['first call'] },
  ],
  forbidOnly: Boolean(process.env.CI),
  timeout: 60_000,
  expect: { timeout: 10_000 },
  use: {
    baseURL: process.env.E2E_ADMIN_URL ?? 'http://localhost:4002',
    launchOptions: browser,
    viewport: { width: 1280, height: 800 },
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
  },
});
