import GithubSlugger from 'github-slugger';

export type OutlineEntry = { id: string; text: string; level: 2 | 3 };

/** The second- and third-level headings of a Markdown text, with the anchors that the page gives them. Headings hold plain text only. */
export function outlineOf(markdown: string): OutlineEntry[] {
  const slugger = new GithubSlugger();
  const entries: OutlineEntry[] = [];
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const [, marks = '', text = ''] = (!fenced && /^(#{1,3}) (.+)$/.exec(line)) || [];
    if (!marks) continue;
    const id = slugger.slug(text.replaceAll('`', ''));
    if (marks.length > 1) entries.push({ id, text: text.replaceAll('`', ''), level: marks.length as 2 | 3 });
  }
  return entries;
}
