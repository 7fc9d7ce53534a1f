import { escapeHtml } from '#server/domain/mail/templates.ts';
import { answerOf } from '#server/domain/people/service.ts';
import { peekMagic, useMagicLink } from '#server/domain/signup/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { page } from '#server/platform/plain-page.ts';

/**
 * What a mailed link opens: one button, because mail scanners open links and only a person presses buttons (interface rule 20 §7.2). A page of its
 * own without script, so that it works in every mail program's browser.
 */
export async function magicPage(ctx: PersonCtx, token: string): Promise<Response> {
  const found = await peekMagic(ctx, token);
  if (!found) return dead();
  const field = `<input type="hidden" name="token" value="${escapeHtml(token)}">`;
  if (found.kind === 'sign_in')
    return page(
      'Sign in',
      `<h1>Sign in to Sallyport</h1><p>Sign in with this browser.</p><form method="post" action="/auth/magic">${field}<button autofocus>Sign in</button></form>`,
    );
  return page('Confirm your address', confirmSignUp(found.workspace, field, found.ask_password, null));
}

/** The button of the page above. @returns a redirect with the session's cookie, or a page that says what went wrong */
export async function useMagicForm(ctx: PersonCtx, form: URLSearchParams): Promise<Response> {
  const token = form.get('token') ?? '';
  try {
    const { redirect_to } = answerOf(await useMagicLink(ctx, { token, password: form.get('password') || undefined }));
    return new Response(null, { status: 303, headers: { location: redirect_to } });
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, ctx.request_id, 'an emailed link could not be used');
    ctx.cookies = {};
    const found = refusal.type === 'invalid_credentials' ? await peekMagic(ctx, token) : null;
    if (found?.kind === 'signup')
      return page(
        'Confirm your address',
        confirmSignUp(found.workspace, `<input type="hidden" name="token" value="${escapeHtml(token)}">`, true, refusal.message),
      );
    return refusal.type === 'mfa_code_invalid'
      ? dead()
      : page('Sign-in failed', `<h1>Sign-in failed</h1><p>${escapeHtml(refusal.message)}</p><p><a href="/signin">Back to sign-in</a></p>`);
  }
}

function confirmSignUp(workspace: string, field: string, askPassword: boolean, problem: string | null): string {
  const password = askPassword
    ? `<label for="password">Password you chose at sign-up</label><input id="password" name="password" type="password" autocomplete="current-password" aria-describedby="hint">\n<p id="hint" class="hint">You signed up in a different browser. Enter your password to keep it, or leave this empty and sign in by email until you set one.</p>`
    : '';
  const alert = problem ? `<p class="problem" role="alert">${escapeHtml(problem)}</p>` : '';
  return `<h1>Confirm your address</h1><p>This creates the workspace <strong>${escapeHtml(workspace)}</strong> with a demo route, a sample secret and a Test key.</p>\n<form method="post" action="/auth/magic">${field}${alert}${password}<button${askPassword ? '' : ' autofocus'}>Confirm and open the workspace</button></form>`;
}

export const dead = () =>
  page(
    'Link expired',
    `<h1>This link no longer works</h1><p>It has expired or was already used. Request a new one on the sign-in page.</p><p><a class="button" href="/signin">Go to sign-in</a></p>`,
  );
