import { escapeHtml } from '#server/domain/mail/templates.ts';
import { page } from '#server/platform/plain-page.ts';

/** A browser is sent on. The address was checked or is our own. */
export const sendTo = (location: string): Response => new Response(null, { status: 302, headers: { location } });

/** What a person reads when the browser can be sent nowhere (interface rule 21 §7). Says nothing about the request but what is wrong with it. */
export const errorPage = (title: string, text: string, status = 400, headers: Record<string, string> = {}): Response =>
  page(title, `<h1>${title}</h1><p>${escapeHtml(text)}</p>`, { status, headers });
