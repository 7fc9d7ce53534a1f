import { signedOut } from '#server/domain/mail/signed-out.ts';
import { escapeHtml } from '#server/domain/mail/templates.ts';
import { confirmEmailChange, peekEmailLink, undoEmailChange } from '#server/domain/people/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { page } from '#server/platform/plain-page.ts';
import { dead } from './magic-page.ts';

/** What the links about a new email address open: one button, as those of sign-in have (interface rule 22 §2). */
export async function emailPage(ctx: PersonCtx, token: string): Promise<Response> {
  const purpose = await peekEmailLink(ctx, token);
  if (!purpose) return dead();
  const [title, text, button] = TEXTS[purpose];
  return page(
    title,
    `<h1>${title}</h1><p>${text}</p><form method="post" action="/auth/email"><input type="hidden" name="token" value="${escapeHtml(token)}"><button autofocus>${button}</button></form>`,
  );
}

const TEXTS = {
  email_change: ['Confirm your new address', 'From now on you sign in to Sallyport with this address.', 'Confirm this address'],
  email_undo: [
    'Undo the new address',
    'This makes the earlier address that of the account again. Sessions, logins of connected apps, the password, and passkeys and authenticator apps added since end.',
    'Undo the change',
  ],
} as const;

/** The button of the page above. */
export async function useEmailForm(ctx: PersonCtx, form: URLSearchParams): Promise<Response> {
  const token = form.get('token') ?? '';
  try {
    const purpose = await peekEmailLink(ctx, token);
    if (!purpose) return dead();
    if (purpose === 'email_change') return done(`You sign in with ${(await confirmEmailChange(ctx, { token })).email} now.`);
    const { email, ended } = await undoEmailChange(ctx, { token });
    return done(`You sign in with ${email} again. ${signedOut(ended)} Set a new password with "Forgot password".`);
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, ctx.request_id, 'an emailed link could not be used');
    return refusal.type === 'mfa_code_invalid'
      ? dead()
      : page('Nothing changed', `<h1>Nothing changed</h1><p>${escapeHtml(refusal.message)}</p>`);
  }
}

const done = (text: string) =>
  page('Address changed', `<h1>Address changed</h1><p>${escapeHtml(text)}</p><p><a class="button" href="/signin">Go to sign-in</a></p>`);
