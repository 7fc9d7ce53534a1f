import { type EndedLogins, signedOut } from './signed-out.ts';
import type { Letter } from './templates.ts';

/** To a person whose password is another one (interface rule 22 §2). */
export const passwordChanged = (ended: EndedLogins, forgotUrl: string): Letter => ({
  subject: 'Your password was changed',
  paragraphs: [
    `Your Sallyport password was changed. ${signedOut(ended)}`,
    "If this wasn't you, choose a new password now. We'll email a reset link to this address.",
  ],
  button: { label: 'Choose a new password', url: forgotUrl },
});
