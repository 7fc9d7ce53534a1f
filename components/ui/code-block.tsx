'use client';

import { type ReactNode, useState } from 'react';
import { cn } from './cn.ts';
import { CopyButton } from './copy.tsx';
import { highlight, type Language, type Token } from './highlight.ts';
import { Scroll } from './scroll.tsx';

const inks: Record<Token['kind'], string | undefined> = {
  plain: undefined,
  key: 'text-(--code-key)',
  string: 'text-(--code-string)',
  number: 'text-(--code-number)',
  word: 'text-(--code-word)',
  comment: 'text-(--code-comment)',
};

/** Code in colour, without a frame. */
export function Code({ code, language }: { code: string; language: Language }) {
  return (
    <code className="font-mono text-xs leading-5">
      {highlight(code, language).map((token, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no identity but their place.
        <span key={index} className={inks[token.kind]}>
          {token.text}
        </span>
      ))}
    </code>
  );
}

export type Snippet = { id: string; label: string; language: Language; code: string };

export type CodeBlockProps = {
  /** One snippet, or several that say the same in different languages. */
  snippets: readonly [Snippet, ...Snippet[]];
  title?: ReactNode;
  wrap?: boolean;
  onCopied?: (id: string) => void;
  /** Why the code can't be copied yet, for code that still holds a placeholder. */
  copyDisabledReason?: string | undefined;
  className?: string;
};

/** Code with its copy button; several languages stand as tabs. */
export function CodeBlock({ snippets, title, wrap, onCopied, copyDisabledReason, className }: CodeBlockProps) {
  const [chosen, setChosen] = useState<string>(snippets[0].id);
  const snippet = snippets.find((one) => one.id === chosen) ?? snippets[0];
  const bar = Boolean(title) || snippets.length > 1;
  return (
    <figure className={cn('relative min-w-0 overflow-hidden rounded-lg border border-line-strong bg-surface', className)}>
      <figcaption
        className={
          bar ? 'flex h-9 items-center gap-1 border-line border-b bg-subtle pr-1 pl-1' : 'absolute top-1 right-1 rounded-sm bg-surface'
        }
      >
        {title && <span className="truncate px-2 text-ink-2 text-xs">{title}</span>}
        {snippets.length > 1 && (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring form semantics into a figure.
          <div role="group" aria-label="Language" className="flex gap-0.5 overflow-x-auto [scrollbar-width:none]">
            {snippets.map((one) => (
              <button
                key={one.id}
                type="button"
                aria-pressed={one.id === snippet.id}
                onClick={() => setChosen(one.id)}
                className={cn(
                  'h-7 shrink-0 rounded-sm px-2 text-xs focus-visible:-outline-offset-2',
                  one.id === snippet.id ? 'bg-surface font-medium text-ink shadow-xs' : 'text-ink-2 hoverable:text-ink',
                )}
              >
                {one.label}
              </button>
            ))}
          </div>
        )}
        <CopyButton
          value={snippet.code}
          label={`${snippet.label} code`}
          disabledReason={copyDisabledReason}
          onCopied={() => onCopied?.(snippet.id)}
          className="ml-auto"
        />
      </figcaption>
      <Scroll as="pre" className={cn('max-h-120 overflow-auto px-3 py-2.5', !bar && 'pr-10', wrap && 'whitespace-pre-wrap break-words')}>
        <Code code={snippet.code} language={snippet.language} />
      </Scroll>
    </figure>
  );
}
