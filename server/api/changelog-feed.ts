import { CHANGELOG, type ChangelogEntry } from '#server/domain/changelog/entries.shared.ts';
import { env } from '#server/platform/env.ts';

/** The changelog as RSS 2.0, for anybody (interface rule 64 §9). */
export function changelogFeed(): Response {
  const newest = CHANGELOG[0];
  return new Response(feedOf(CHANGELOG, env.PUBLIC_ADMIN_URL), {
    headers: {
      'content-type': 'application/rss+xml; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
      ...(newest && { 'last-modified': new Date(newest.date).toUTCString() }),
    },
  });
}

/** An item's guid is its address, which never changes. */
export function feedOf(entries: readonly ChangelogEntry[], origin: string): string {
  const items = entries.map((entry) => {
    const address = xml(`${origin}/changelog#${entry.id}`);
    return [
      '<item>',
      `<title>${xml(entry.title)}</title>`,
      `<link>${address}</link>`,
      `<guid isPermaLink="true">${address}</guid>`,
      `<pubDate>${new Date(entry.date).toUTCString()}</pubDate>`,
      ...entry.areas.map((area) => `<category>${xml(area)}</category>`),
      `<description>${xml([entry.text, entry.act ?? 'No action required.'].join(' '))}</description>`,
      '</item>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">',
    '<channel>',
    '<title>Sallyport changelog</title>',
    `<link>${xml(`${origin}/changelog`)}</link>`,
    `<atom:link href="${xml(`${origin}/changelog.xml`)}" rel="self" type="application/rss+xml"/>`,
    '<description>What changed, and what you need to do.</description>',
    '<language>en</language>',
    ...items,
    '</channel>',
    '</rss>',
    '',
  ].join('\n');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const xml = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);
