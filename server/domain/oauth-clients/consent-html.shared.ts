/** The most that a client may show of its own on the consent page. */
export const MAX_CONSENT_HTML = 10_000;

const PLAIN = ['p', 'ul', 'ol', 'li', 'strong', 'em'];
/** Elements that are dropped with everything in them. */
const DROPPED = [
  'script',
  'style',
  'template',
  'title',
  'textarea',
  'iframe',
  'noscript',
  'noembed',
  'noframes',
  'xmp',
  'plaintext',
  'svg',
  'math',
  'select',
  'object',
];

/**
 * A client's own words for the consent page, as HTML of nothing but p, ul, ol, li, strong, em, br and links to https (interface rule 21 §7). Every tag of the
 * answer is written here and every other character is escaped, so nothing of the text is left for a browser to read as markup.
 */
export function sanitizedConsentHtml(html: string): string {
  const out: string[] = [];
  const open: string[] = [];
  let at = 0;
  while (at < html.length) {
    const mark = html.indexOf('<', at);
    if (mark === -1) break;
    out.push(escaped(html.slice(at, mark)));
    const tag = tagAt(html, mark);
    if (!tag) {
      out.push('&lt;');
      at = mark + 1;
      continue;
    }
    at = tag.end;
    if (!tag.closes && DROPPED.includes(tag.name)) at = endOf(html, tag);
    else if (tag.closes) close(out, open, tag.name);
    else if (tag.name === 'br') out.push('<br>');
    else if (PLAIN.includes(tag.name)) {
      out.push(`<${tag.name}>`);
      open.push(tag.name);
    } else if (tag.name === 'a') {
      close(out, open, 'a'); // links don't nest
      const href = httpsAddress(tag.attributes);
      if (href === null) continue;
      out.push(`<a href="${escaped(href)}" target="_blank" rel="noopener noreferrer nofollow">`);
      open.push('a');
    }
  }
  out.push(escaped(html.slice(at)));
  for (const name of open.reverse()) out.push(`</${name}>`);
  return out.join('');
}

type Tag = { name: string; closes: boolean; attributes: string; end: number };

/** The tag, comment or declaration that begins here; a comment has no name. Null for a mark that begins none. */
function tagAt(html: string, mark: number): Tag | null {
  if (html.startsWith('<!--', mark)) {
    const end = html.indexOf('-->', mark + 4);
    return { name: '', closes: false, attributes: '', end: end === -1 ? html.length : end + 3 };
  }
  const closes = html[mark + 1] === '/';
  const start = mark + (closes ? 2 : 1);
  const first = html.charCodeAt(start) | 0x20;
  const declares = html[start] === '!' || html[start] === '?';
  if (!declares && !(first >= 0x61 && first <= 0x7a)) return null;
  let quote = '';
  let end = start;
  for (; end < html.length; end++) {
    const character = html[end] as string;
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') break;
  }
  const text = html.slice(start, end);
  const space = text.search(/[\s/]/);
  const name = declares ? '' : (space === -1 ? text : text.slice(0, space)).toLowerCase();
  return { name, closes, attributes: space === -1 ? '' : text.slice(space), end: Math.min(end + 1, html.length) };
}

/** Behind the end tag of an element that is dropped whole; without one, behind everything. */
function endOf(html: string, { name, end }: Tag): number {
  const closing = html.toLowerCase().indexOf(`</${name}`, end);
  if (closing === -1) return html.length;
  const mark = html.indexOf('>', closing);
  return mark === -1 ? html.length : mark + 1;
}

/** Ends the element and what was left open within it. */
function close(out: string[], open: string[], name: string): void {
  const at = open.lastIndexOf(name);
  if (at === -1) return;
  for (const inner of open.splice(at).reverse()) out.push(`</${inner}>`);
}

/** The address of a link: absolute, https, without credentials. */
function httpsAddress(attributes: string): string | null {
  const found = /[\s/"']href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes);
  const text = found && unescaped(found[1] ?? found[2] ?? found[3] ?? '').trim();
  const url = text && text.length <= 2000 ? URL.parse(text) : null;
  return url?.protocol === 'https:' && !url.username && !url.password ? url.href : null;
}

/** The entities that addresses are written with; the others stay as they are and make no address. */
const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#38;', '&');

/** Text keeps the entities that somebody wrote on purpose: `&amp;` shows as `&`, and none of them is markup. */
const escaped = (text: string) =>
  text
    .replace(/&(?!(?:amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|rsquo|lsquo|ldquo|rdquo);)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
