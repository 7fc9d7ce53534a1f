import { digest } from '#server/crypto/tokens.ts';

// The dashboard's own colours (app/globals.css), light and dark.
const STYLE = `:root{color-scheme:light dark;--canvas:oklch(.984 .002 265);--surface:oklch(1 0 0);--line:oklch(.86 .008 265);--ink:oklch(.21 .018 265);--ink-2:oklch(.41 .018 265);--accent:oklch(.5 .195 266);--accent-ink:oklch(.46 .19 266);--bad:oklch(.48 .18 25)}
@media(prefers-color-scheme:dark){:root{--canvas:oklch(.158 .008 265);--surface:oklch(.188 .009 265);--line:oklch(.335 .013 265);--ink:oklch(.955 .004 265);--ink-2:oklch(.79 .009 265);--accent:oklch(.55 .19 266);--accent-ink:oklch(.77 .115 266);--bad:oklch(.78 .12 22)}}
*{box-sizing:border-box}body{margin:0;min-height:100vh;display:grid;place-items:center;padding:20px;background:var(--canvas);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:420px;padding:32px;background:var(--surface);border:1px solid var(--line);border-radius:12px}
.brand{display:flex;align-items:center;gap:8px;margin:0 0 24px;font-weight:600;letter-spacing:-.01em;color:var(--ink)}.brand svg{width:22px;color:var(--accent)}
h1{margin:0 0 6px;font-size:22px;line-height:1.25;letter-spacing:-.015em}p{margin:0 0 20px;color:var(--ink-2)}strong{color:var(--ink);overflow-wrap:anywhere}
label{display:block;margin:0 0 6px;font-size:14px;font-weight:500}input{width:100%;height:40px;padding:0 10px;margin:0 0 6px;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:6px}.hint{font-size:13px}.problem{color:var(--bad)}
button,.button{display:flex;justify-content:center;align-items:center;width:100%;height:40px;font:inherit;font-weight:500;color:#fff;background:var(--accent);border:0;border-radius:6px;cursor:pointer;text-decoration:none}
a{color:var(--accent-ink)}small{color:var(--ink-2);font-size:13px}code{font-size:12px;overflow-wrap:anywhere}:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`;
const MARK =
  '<svg aria-hidden="true" viewBox="0 0 24 24"><path fill="currentColor" fill-rule="evenodd" d="M3 4.5a1 1 0 0 1 1-1h2.6a1 1 0 0 1 1 1V6.4h2V4.5a1 1 0 0 1 1-1h2.8a1 1 0 0 1 1 1v1.9h2V4.5a1 1 0 0 1 1-1H20a1 1 0 0 1 1 1v15a1 1 0 0 1-1 1h-4.2v-6.1a3.8 3.8 0 1 0-7.6 0v6.1H4a1 1 0 0 1-1-1z"/></svg>';
/** `leads_to`: other origins that a form of the page may end at, since browsers apply form-action to redirects too. */
export type PageOptions = { status?: number; headers?: Record<string, string>; leads_to?: string };

/** A page of its own, in the dashboard's colours and without script. */
export const page = (title: string, body: string, { status = 200, headers = {}, leads_to }: PageOptions = {}) =>
  new Response(pageText(title, body), {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy(leads_to), ...headers },
  });

/** The page's document. `reloads`: after so many seconds the browser asks again. */
export const pageText = (title: string, body: string, reloads?: number): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">${reloads ? `<meta http-equiv="refresh" content="${reloads}">` : ''}<title>${title} · Sallyport</title><style>${STYLE}</style></head><body><main><p class="brand">${MARK}Sallyport</p>${body}</main></body></html>`;

/** The Content-Security-Policy that fits it. */
export const pagePolicy = (leadsTo?: string): string =>
  `default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'${leadsTo ? ` ${leadsTo}` : ''}; base-uri 'none'; frame-ancestors 'none'`;
const STYLE_HASH = `sha256-${digest(STYLE).toString('base64')}`;
