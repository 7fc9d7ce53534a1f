import type { ComponentProps, ReactElement, ReactNode } from 'react';
import { isValidElement } from 'react';
import Markdown, { type Components } from 'react-markdown';
import rehypeSlug from 'rehype-slug';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from '#components/ui/code-block.tsx';
import type { Language } from '#components/ui/highlight.ts';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { Scroll } from '#components/ui/scroll.tsx';

const languages: Record<string, Language> = {
  bash: 'bash',
  sh: 'bash',
  js: 'javascript',
  ts: 'javascript',
  python: 'python',
  json: 'json',
  http: 'http',
};

const made = new Map<string, ReactElement>();

/**
 * Markdown of our own as a page. HTML in the text is shown as text; images aren't supported. Anyone may ask for a page, and reading a long one takes a
 * quarter of a second: each text is read once per process.
 */
export function MarkdownText({ text }: { text: string }) {
  const element = made.get(text) ?? read(text);
  made.set(text, element);
  return element;
}

/** Called as the function it is: an element of it would be read again by each rendering. */
const read = (text: string): ReactElement =>
  Markdown({ remarkPlugins: [remarkGfm], rehypePlugins: [rehypeSlug], components: COMPONENTS, children: text });

const heading = 'scroll-mt-6 font-semibold [overflow-wrap:anywhere]';
const H1 = ({ children, id }: ComponentProps<'h1'>) => (
  <h1 id={id} className={`${heading} text-2xl`}>
    {children}
  </h1>
);
const H2 = ({ children, id }: ComponentProps<'h2'>) => (
  <h2 id={id} className={`${heading} mt-6 border-line border-t pt-6 text-xl`}>
    {children}
  </h2>
);
const H3 = ({ children, id }: ComponentProps<'h3'>) => (
  <h3 id={id} className={`${heading} mt-4 text-base`}>
    {children}
  </h3>
);
const P = ({ children }: ComponentProps<'p'>) => <p className="text-pretty text-ink-2 leading-6 [overflow-wrap:anywhere]">{children}</p>;
const Ul = ({ children }: ComponentProps<'ul'>) => (
  <ul className="flex list-disc flex-col gap-1.5 pl-5 text-ink-2 leading-6">{children}</ul>
);
const Ol = ({ children }: ComponentProps<'ol'>) => (
  <ol className="flex list-decimal flex-col gap-1.5 pl-5 text-ink-2 leading-6">{children}</ol>
);
const A = ({ children, href = '' }: ComponentProps<'a'>) =>
  href.startsWith('/docs') ? (
    <Link href={href} className={textLink}>
      {children}
    </Link>
  ) : (
    <a href={href} className={textLink}>
      {children}
    </a>
  );
const InlineCode = ({ children }: ComponentProps<'code'>) => (
  <code className="rounded-xs bg-subtle px-1 py-0.5 font-mono text-xs text-ink [overflow-wrap:anywhere]">{children}</code>
);
const Note = ({ children }: ComponentProps<'blockquote'>) => (
  <blockquote className="border-accent-line border-l-2 pl-4">{children}</blockquote>
);

/** A fenced block: Markdown makes it `<pre><code class="language-…">`. */
function Pre({ children }: ComponentProps<'pre'>) {
  const { className = '', children: code } = isValidElement<{ className?: string; children?: ReactNode }>(children) ? children.props : {};
  const name = className.replace('language-', '');
  return <CodeBlock snippets={[{ id: 'code', label: 'Copy', language: languages[name] ?? 'text', code: String(code ?? '').trimEnd() }]} />;
}

const Table = ({ children }: ComponentProps<'table'>) => (
  <Scroll className="overflow-x-auto rounded-lg border border-line-strong">
    <table className="w-full border-collapse text-left text-sm">{children}</table>
  </Scroll>
);
const Th = ({ children }: ComponentProps<'th'>) => (
  <th scope="col" className="border-line border-b bg-subtle px-3 py-2 font-medium text-ink-2 text-xs">
    {children}
  </th>
);
const Td = ({ children }: ComponentProps<'td'>) => (
  <td className="min-w-24 border-line border-t px-3 py-2 align-top text-ink-2 leading-5">{children}</td>
);

const COMPONENTS: Components = {
  h1: H1,
  h2: H2,
  h3: H3,
  p: P,
  ul: Ul,
  ol: Ol,
  a: A,
  code: InlineCode,
  pre: Pre,
  table: Table,
  th: Th,
  td: Td,
  blockquote: Note,
};
