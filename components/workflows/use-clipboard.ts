'use client';

import { useEffect, useRef } from 'react';
import { type Document, type Fragment, fragmentOf, withFragment } from './document.ts';

const MARK = 'sallyport-workflow-steps';

/** Copies chosen steps as text, which another workflow takes as well; what is typed into a field stays with that field. */
export function useClipboard(
  doc: Document,
  chosen: ReadonlySet<string>,
  readOnly: boolean,
  edit: (change: (doc: Document) => Document) => void,
  select: (ids: readonly string[]) => void,
) {
  const put = (fragment: Fragment) => {
    const { doc: next, ids } = withFragment(doc, fragment);
    if (ids.length === 0) return;
    edit(() => next);
    select(ids);
  };
  const latest = useRef({ doc, chosen, put });
  latest.current = { doc, chosen, put };
  useEffect(() => {
    const copy = (event: ClipboardEvent) => {
      const { doc: now, chosen: ids } = latest.current;
      if (isElsewhere(event) || ids.size === 0) return;
      const fragment = fragmentOf(now, [...ids]);
      if (fragment.nodes.length === 0) return;
      event.clipboardData?.setData('text/plain', JSON.stringify({ [MARK]: fragment }));
      event.preventDefault();
    };
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (isElsewhere(event) || !text.includes(MARK)) return;
      event.preventDefault();
      void read(text).then((fragment) => fragment && latest.current.put(fragment));
    };
    document.addEventListener('copy', copy);
    if (!readOnly) document.addEventListener('paste', paste);
    return () => {
      document.removeEventListener('copy', copy);
      document.removeEventListener('paste', paste);
    };
  }, [readOnly]);
  return { duplicate: () => put(fragmentOf(doc, [...chosen])) };
}

/** In a field, in a dialog, or with text marked on the page. */
function isElsewhere({ target }: ClipboardEvent): boolean {
  const at = target instanceof HTMLElement ? target : undefined;
  return Boolean(at?.closest('input, textarea, [contenteditable], [role="dialog"]')) || !document.getSelection()?.isCollapsed;
}

async function read(text: string): Promise<Fragment | undefined> {
  try {
    const { parseExact } = await import('#server/kernel/lossless-json.ts');
    const fragment = (parseExact(text) as Record<string, Partial<Fragment> | undefined>)[MARK];
    const { nodes, edges } = fragment ?? {};
    const whole =
      Array.isArray(nodes) && Array.isArray(edges) && nodes.every((step) => typeof step?.id === 'string' && typeof step.type === 'string');
    return whole ? { nodes, edges } : undefined;
  } catch {
    return undefined;
  }
}
