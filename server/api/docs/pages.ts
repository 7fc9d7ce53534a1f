import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { elementFile } from '#server/platform/element-files.ts';
import { env } from '#server/platform/env.ts';
import { referenceOf } from './reference.ts';

/** The groups of the documentation's navigation, in order. */
export const SECTIONS = ['Get started', 'Gateway', 'Secrets', 'Observe', 'AI', 'Workspace', 'Reference', 'Operate'] as const;

const FrontMatter = z.strictObject({
  title: z.string(),
  summary: z.string(),
  section: z.enum(SECTIONS),
  /** Position within the section. */
  order: z.number(),
  /** The OpenAPI tag whose operations follow the text. */
  tag: z.string().optional(),
});

/** One page: front matter, and its whole text as Markdown with the generated reference. `slug` is the file's name; `index` is /docs itself. */
export type DocsPage = z.output<typeof FrontMatter> & { slug: string; markdown: string };

let pages: readonly DocsPage[] | undefined;

/** The folders with pages, below `docs`. A page's address doesn't name its folder. */
const FOLDERS = ['', 'security'];

/** Every page of `docs/`, in the order of the navigation. Read once per process. */
export function docsPages(): readonly DocsPage[] {
  pages ??= FOLDERS.flatMap((folder) => readPages(path.join(process.cwd(), 'docs', folder))).sort(
    (a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section) || a.order - b.order,
  );
  return pages;
}

/** The page with this slug, or undefined. */
export const docsPage = (slug: string): DocsPage | undefined => docsPages().find((page) => page.slug === slug);

/** The address of a page on the dashboard's host. */
export const docsPath = ({ slug }: { slug: string }): string => (slug === 'index' ? '/docs' : `/docs/${slug}`);

/** What stands in the first line of a list that `npm run check` reads, and no customer. */
const FOR_MAINTAINERS = '# Limits, for maintainers\n';

function readPages(folder: string): DocsPage[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => [file.slice(0, -'.md'.length), readFileSync(path.join(folder, file), 'utf8')] as const)
    .filter(([, source]) => !source.startsWith(FOR_MAINTAINERS))
    .map(([slug, source]) => readPage(slug, source));
}

/** @throws Error when the front matter is missing or has other fields than it should */
function readPage(slug: string, source: string): DocsPage {
  const [, head, text] = /^---\n(.*?)\n---\n(.*)$/s.exec(source) ?? [];
  if (head === undefined || text === undefined) throw new Error(`docs/${slug}.md has no front matter.`);
  const front = FrontMatter.parse(parse(head));
  const markdown = [`# ${front.title}`, front.summary, filledIn(text.trim()), ...(front.tag ? [referenceOf(front.tag)] : [])].join('\n\n');
  return { ...front, slug, markdown: `${markdown}\n` };
}

/** What differs from installation to installation, or with the bytes that it serves. */
const FACTS: Readonly<Record<string, () => string>> = {
  LIBRARY_URL: () => `${env.PUBLIC_API_URL}/elements/v1/seal.js`,
  LIBRARY_INTEGRITY: () => elementFile('seal.js').integrity,
};

const filledIn = (text: string): string => text.replace(/%([A-Z_]{1,40})%/g, (given, name: string) => FACTS[name]?.() ?? given);
