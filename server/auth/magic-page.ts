import { digest } from '#server/crypto/tokens.ts';
import { escapeHtml } from '#server/domain/mail/templates.ts';
import { answerOf } from '#server/domain/people/service.ts';
import { peekMagic, useMagicLink } from '#server/domain/signup/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { log } from '#server/platform/log.ts';

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
    if (refusal.status >= 500)
      log.error({ err: refusal.cause ?? refusal, request_id: ctx.request_id }, 'an emailed link could not be used');
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

// The dashboard's own colours (app/globals.css), light and dark.
const STYLE = `:root{color-scheme:light dark;--canvas:oklch(.984 .002 265);--surface:oklch(1 0 0);--line:oklch(.86 .008 265);--ink:oklch(.21 .018 265);--ink-2:oklch(.41 .018 265);--accent:oklch(.5 .195 266);--accent-ink:oklch(.46 .19 266);--bad:oklch(.48 .18 25)}
@media(prefers-color-scheme:dark){:root{--canvas:oklch(.158 .008 265);--surface:oklch(.188 .009 265);--line:oklch(.335 .013 265);--ink:oklch(.955 .004 265);--ink-2:oklch(.79 .009 265);--accent:oklch(.55 .19 266);--accent-ink:oklch(.77 .115 266);--bad:oklch(.78 .12 22)}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:20px;background:var(--canvas);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:420px;padding:32px;background:var(--surface);border:1px solid var(--line);border-radius:12px}
.brand{display:flex;align-items:center;gap:8px;margin:0 0 24px;font-weight:600;letter-spacing:-.01em;color:var(--ink)}.brand svg{width:22px;color:var(--accent)}
h1{margin:0 0 6px;font-size:22px;line-height:1.25;letter-spacing:-.015em}p{margin:0 0 20px;color:var(--ink-2)}strong{color:var(--ink);overflow-wrap:anywhere}
label{display:block;margin:0 0 6px;font-size:14px;font-weight:500}input{width:100%;height:40px;padding:0 10px;margin:0 0 6px;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:6px}.hint{font-size:13px}.problem{color:var(--bad)}
button,.button{display:flex;justify-content:center;align-items:center;width:100%;height:40px;font:inherit;font-weight:500;color:#fff;background:var(--accent);border:0;border-radius:6px;cursor:pointer;text-decoration:none}
a{color:var(--accent-ink)}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`;
const MARK =
  '<svg aria-hidden="true" viewBox="0 0 24 24"><path fill="currentColor" fill-rule="evenodd" d="M3 4.5a1 1 0 0 1 1-1h2.6a1 1 0 0 1 1 1V6.4h2V4.5a1 1 0 0 1 1-1h2.8a1 1 0 0 1 1 1v1.9h2V4.5a1 1 0 0 1 1-1H20a1 1 0 0 1 1 1v15a1 1 0 0 1-1 1h-4.2v-6.1a3.8 3.8 0 1 0-7.6 0v6.1H4a1 1 0 0 1-1-1z"/></svg>';
const POLICY = `default-src 'none'; style-src 'sha256-${digest(STYLE).toString('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

/** A page of its own, in the dashboard's colours and without script. */
export const page = (title: string, body: string) =>
  new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title} · Sallyport</title><style>${STYLE}</style></head><body><main><p class="brand">${MARK}Sallyport</p>${body}</main></body></html>`,
    { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY } },
  );
