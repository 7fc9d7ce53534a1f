import { expect, type Page } from '@playwright/test';

/** A device with a screen lock, as Chromium plays it: it makes passkeys and signs with them when told to. */
export async function virtualAuthenticator(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: false,
    },
  });
  return {
    /** Its person looks at it while `work` runs: only then does it answer, so that an offer nobody took stays one. */
    presentFor: async (work: () => Promise<unknown>) => {
      await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true });
      await work();
      await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
    },
    count: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
  };
}

/** What the newest mail to an address says, once it has one that matches. */
export async function mailTo(page: Page, recipient: string, pattern: RegExp): Promise<string> {
  let found: string | undefined;
  await expect(async () => {
    const { mails } = (await (await page.request.get('/auth/mailbox')).json()) as { mails: { recipient: string; text: string }[] };
    found = mails.filter((mail) => mail.recipient === recipient).flatMap(({ text }) => pattern.exec(text)?.[1] ?? [])[0];
    expect(found).toBeDefined();
  }).toPass();
  return found as string;
}

/** Registers the device as a passkey of whoever is signed in. */
export async function addPasskey(page: Page, device: Awaited<ReturnType<typeof virtualAuthenticator>>, email: string): Promise<void> {
  await page.goto('/me/security');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const code = await mailTo(page, email, /\b(\d{6})\b/);
  await device.presentFor(async () => {
    await page.getByLabel('Code from the email').fill(code);
    await page.getByRole('button', { name: 'Save passkey' }).click();
    await expect(page.getByRole('heading', { name: 'Save your recovery codes' })).toBeVisible();
  });
  await page.getByLabel(/^I saved the/).check();
  await page.getByRole('button', { name: 'Done' }).click();
}
