import { digest } from '#server/crypto/tokens.ts';
import { escapeHtml } from '#server/domain/mail/templates.ts';
import { answerOf } from '#server/domain/people/service.ts';
import { peekMagic, useMagicLink } from '#server/domain/signup/service.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { PersonCtx } from '#server/kernel/person-operation.ts';
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
      `<h1>Sign in to Sallyport</h1><p>Press the button to sign in with this browser.</p><form method="post" action="/auth/magic">${field}<button autofocus>Sign in</button></form>`,
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
    if (refusal.status >= 500) log.error({ err: refusal.cause ?? refusal, request_id: ctx.request_id }, 'a mailed link could not be used');
    ctx.cookies = {};
    const found = refusal.type === 'invalid_credentials' ? await peekMagic(ctx, token) : null;
    if (found?.kind === 'signup')
      return page(
        'Confirm your address',
        confirmSignUp(found.workspace, `<input type="hidden" name="token" value="${escapeHtml(token)}">`, true, refusal.message),
      );
    return refusal.type === 'mfa_code_invalid'
      ? dead()
      : page('Not now', `<h1>That did not work</h1><p>${escapeHtml(refusal.message)}</p><p><a href="/signin">Back to sign-in</a></p>`);
  }
}

function confirmSignUp(workspace: string, field: string, askPassword: boolean, problem: string | null): string {
  const password = askPassword
    ? `<label for="password">Password you chose at sign-up</label><input id="password" name="password" type="password" autocomplete="current-password" aria-describedby="hint">
<p id="hint" class="hint">You opened this in another browser than you signed up with. Type the password to keep it, or leave it empty and sign in by mail until you set one.</p>`
    : '';
  const alert = problem ? `<p class="problem" role="alert">${escapeHtml(problem)}</p>` : '';
  return `<h1>Confirm your address</h1><p>This creates the workspace <strong>${escapeHtml(workspace)}</strong> with a demo route, a sample secret and a test key.</p>
<form method="post" action="/auth/magic">${field}${alert}${password}<button${askPassword ? '' : ' autofocus'}>Confirm and open the workspace</button></form>`;
}

const dead = () =>
  page(
    'Link expired',
    `<h1>This link no longer works</h1><p>It was used already, or it is too old. Ask for a new one on the sign-in page.</p><p><a class="button" href="/signin">Go to sign-in</a></p>`,
  );

const STYLE = `:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--line:#dfe2e8;--text:#16181d;--dim:#555b69;--accent:#3f3fd1;--on:#fff;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--bg:#0e1014;--card:#16191f;--line:#2b303a;--text:#eceef2;--dim:#a2a9b8;--accent:#a5a8ff;--on:#0e1014;--bad:#ff8a80}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:24px;background:var(--bg);color:var(--text);font:16px/1.55 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:420px;padding:32px;background:var(--card);border:1px solid var(--line);border-radius:14px}
.brand{margin:0 0 20px;font-weight:650;letter-spacing:-.01em;color:var(--dim)}h1{margin:0 0 8px;font-size:22px;line-height:1.25;letter-spacing:-.015em}p{margin:0 0 16px;color:var(--dim)}strong{color:var(--text);overflow-wrap:anywhere}
label{display:block;margin:0 0 6px;font-size:14px;font-weight:550}input{width:100%;height:44px;padding:0 12px;margin:0 0 8px;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:9px}.hint{font-size:13px}.problem{color:var(--bad)}
button,.button{display:inline-flex;justify-content:center;align-items:center;width:100%;height:44px;font:inherit;font-weight:600;color:var(--on);background:var(--accent);border:0;border-radius:9px;cursor:pointer;text-decoration:none}
a{color:var(--accent)}:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`;
const POLICY = `default-src 'none'; style-src 'sha256-${digest(STYLE).toString('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const page = (title: string, body: string) =>
  new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title} · Sallyport</title><style>${STYLE}</style></head><body><main><p class="brand">Sallyport</p>${body}</main></body></html>`,
    { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY } },
  );
